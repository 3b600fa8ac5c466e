// Finds Flyway and Liquibase. Inside Spring, Quarkus and Micronaut the application applies them when it starts; else a
// plugin or the tool itself does. See core/migration-tool.ts for what a finding holds.
import { folderOf, nameOf } from './facts.ts'
import { type FoundTool, findMention, foldersWith, type MigrationContext } from './migration-tool.ts'

export function findJvmTools(context: MigrationContext): FoundTool[] {
  return [...findFlyway(context), ...findLiquibase(context)]
}

function findFlyway(context: MigrationContext): FoundTool[] {
  const library = context.dependency(
    'jvm',
    /^flyway-(core|database-[\w-]+|mysql|maven-plugin|gradle-plugin)$|^org\.flywaydb\.flyway$/,
  )
  const config = context.filePaths.find(path => /(^|\/)flyway\.(conf|toml)$/.test(path))
  const directory = [...foldersWith(context, /(^|\/)[VR]\d*[\d._]*__[\w.-]+\.(sql|java|kt)$/).keys()][0]
  if (
    directory === undefined ||
    (library === undefined && config === undefined && findMention(context, /\bflyway\b/) === undefined)
  )
    return []
  const manifest = library === undefined ? '' : context.text(library.file)
  const hasPlugin = /flyway-maven-plugin|org\.flywaydb\.flyway["']/.test(manifest)
  const isSpring = /spring-boot|org\.springframework|quarkus|micronaut/.test(manifest)
  const runner = /pom\.xml$/.test(library?.file ?? '') ? 'flyway:migrate' : 'flywayMigrate'
  return [
    {
      tool: 'flyway',
      ecosystem: 'jvm',
      folder: library?.folder ?? (config === undefined ? '' : folderOf(config)),
      directory,
      config,
      command: isSpring
        ? undefined
        : hasPlugin
          ? `${context.exec('jvm', library?.folder ?? '')}${runner}`
          : config === undefined
            ? undefined
            : `flyway${folderOf(config) === '' ? '' : ` -configFiles=${nameOf(config)}`} migrate`,
      ...(isSpring || /\$\{/.test(context.text(config ?? library?.file ?? ''))
        ? {}
        : { question: byJdbc('Flyway') }),
      isAppliedByApp: isSpring,
      applies: /\bflyway(:|\s[^\n;&|]*)migrate\b|\bflywayMigrate\b/,
      evidence: [
        library === undefined
          ? context.at(config ?? directory, /url|locations/)
          : context.at(library.file, library.name),
      ],
    },
  ]
}

function findLiquibase(context: MigrationContext): FoundTool[] {
  const library = context.dependency(
    'jvm',
    /^liquibase-(core|maven-plugin|gradle-plugin)$|^org\.liquibase\.gradle$/,
  )
  const config = context.filePaths.find(path => /(^|\/)liquibase\.properties$/.test(path))
  const changelog = context.paths.find(path =>
    /(^|\/)([\w.-]*changelog[\w.-]*|liquibase\/(?:master|main|root)[\w.-]*)\.(xml|ya?ml|json|sql)$/i.test(
      path,
    ),
  )
  if (
    changelog === undefined ||
    (library === undefined && config === undefined && findMention(context, /\bliquibase\b/) === undefined)
  )
    return []
  const manifest = library === undefined ? '' : context.text(library.file)
  const isSpring = /spring-boot|org\.springframework|quarkus|micronaut/.test(manifest)
  const folder = config === undefined ? (library?.folder ?? '') : folderOf(config)
  return [
    {
      tool: 'liquibase',
      ecosystem: 'jvm',
      folder,
      directory: folderOf(changelog),
      config: config ?? changelog,
      command: isSpring
        ? undefined
        : /liquibase-maven-plugin/.test(manifest)
          ? `${context.exec('jvm', folder)}liquibase:update`
          : config === undefined
            ? undefined
            : 'liquibase update',
      ...(isSpring || /\$\{/.test(context.text(config ?? library?.file ?? ''))
        ? {}
        : { question: byJdbc('Liquibase') }),
      isAppliedByApp: isSpring,
      applies: /\bliquibase(:|\s[^\n;&|]*)update\b/,
      schema: [changelog],
      evidence: [context.at(changelog, /databaseChangeLog|changeset/i)],
    },
  ]
}

/** Their configuration has a URL of its own, in JDBC's form. */
function byJdbc(tool: string): string {
  return `how is ${tool} given the URL of another database here`
}
