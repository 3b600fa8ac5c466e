// Finds the migration tools of Node projects: Knex, TypeORM, Sequelize, MikroORM, Kysely, with Prisma, Drizzle and migrate-mongo.
// Each by its schema, configuration or folder; see core/migration-tool.ts for what a finding holds.
import { folderOf, resolveFrom } from './facts.ts'
import {
  DRIVER_KIND,
  type FoundTool,
  foldersWith,
  inFolder,
  type MigrationContext,
  relativeTo,
  shellWord,
} from './migration-tool.ts'
import { findMigrateMongo } from './migrations-mongo.ts'
import { findDrizzle, findPrisma } from './migrations-schema-first.ts'

const MANIFEST = /(^|\/)package\.json$/

export function findNodeTools(context: MigrationContext): FoundTool[] {
  return [
    ...findPrisma(context),
    ...findDrizzle(context),
    ...findKnex(context),
    ...findTypeorm(context),
    ...findSequelize(context),
    ...findMikroOrm(context),
    ...findKysely(context),
    ...findMigrateMongo(context),
  ]
}

function findKnex(context: MigrationContext): FoundTool[] {
  return context.filePaths
    .filter(path => /(^|\/)knexfile\.[cm]?[jt]s$/.test(path))
    .map(config => {
      const folder = context.projectOf(config, MANIFEST)
      const text = context.text(config)
      const written =
        /migrations:\s*\{[^}]*directory:\s*(?:\[\s*)?(?:path\.(?:join|resolve)\([^)"'`]*)?["'`]([^"'`]+)/.exec(
          text,
        )?.[1]
      const seeds =
        /seeds:\s*\{[^}]*directory:\s*(?:path\.(?:join|resolve)\([^)"'`]*)?["'`]([^"'`]+)/.exec(text)?.[1] ??
        'seeds'
      const near = (path: string) => inFolder(folderOf(config), path)
      const directory = near(written ?? 'migrations')
      const isStandard = folderOf(config) === folder
      const flag = isStandard ? '' : ` --knexfile ${shellWord(relativeTo(folder, config))}`
      const exec = context.exec('node', folder)
      return {
        tool: 'knex',
        ecosystem: 'node',
        folder,
        directory: context.paths.some(path => path.startsWith(`${directory}/`)) ? directory : undefined,
        config,
        command: `${exec}knex migrate:latest${flag}`,
        seed: context.paths.some(path => path.startsWith(`${near(seeds)}/`))
          ? `${exec}knex seed:run${flag}`
          : undefined,
        applies: /\bknex\b[^\n;&|]*\bmigrate:(latest|up)\b|\bmigrate\.latest\(/,
        database: DRIVER_KIND[/client:\s*["'`]([\w-]+)/.exec(text)?.[1] ?? ''],
        evidence: [context.at(config, /migrations\s*:|client\s*:/)],
      }
    })
}

function findTypeorm(context: MigrationContext): FoundTool[] {
  if (context.dependency('node', /^typeorm$/) === undefined) return []
  const sources = context.files.filter(
    file =>
      /\.[cm]?[jt]s$|ormconfig\.json$/.test(file.path) &&
      /new DataSource\(|"?type"?\s*:\s*["'](postgres|mysql|mariadb|sqlite|better-sqlite3|mssql|mongodb)/.test(
        file.text,
      ) &&
      /\bmigrations\b/.test(file.text),
  )
  const seen = new Set<string>()
  return sources.flatMap(({ path, text }) => {
    const folder = context.projectOf(path, MANIFEST)
    if (seen.has(folder) || context.dependency('node', /^typeorm$/, folder) === undefined) return []
    const folders = foldersWith(context, /\/\d{10,}[-_]?\w*\.[cm]?[jt]s$/)
    const directory = [...folders.keys()].find(one => folder === '' || one.startsWith(`${folder}/`))
    if (directory === undefined) return []
    seen.add(folder)
    const hasSource = /new DataSource\(/.test(text)
    const tool = /\.ts$/.test(path)
      ? /"type"\s*:\s*"module"/.test(context.text(inFolder(folder, 'package.json')))
        ? 'typeorm-ts-node-esm'
        : 'typeorm-ts-node-commonjs'
      : 'typeorm'
    return [
      {
        tool: 'typeorm',
        ecosystem: 'node',
        folder,
        directory,
        config: path,
        command: hasSource
          ? `${context.exec('node', folder)}${tool} migration:run -d ${shellWord(relativeTo(folder, path))}`
          : undefined,
        applies: /\bmigration:run\b|\.runMigrations\(/,
        database: DRIVER_KIND[/\btype"?\s*:\s*["'](\w[\w-]*)/.exec(text)?.[1] ?? ''],
        isAppliedByApp: /migrationsRun["']?\s*:\s*true/.test(text),
        evidence: [context.at(path, /\bmigrations\b/)],
      },
    ]
  })
}

function findSequelize(context: MigrationContext): FoundTool[] {
  const marks = context.filePaths.filter(path => /(^|\/)\.sequelizerc$/.test(path))
  const bare = context.dependencies
    .filter(one => one.ecosystem === 'node' && one.name === 'sequelize-cli')
    .map(one => one.file)
  const seen = new Set<string>()
  return [...marks, ...bare].flatMap(mark => {
    const folder = folderOf(mark)
    if (seen.has(folder)) return []
    const text = context.text(mark)
    const written = /migrations-path["']?\s*:\s*[^"'`\n]*["'`]([^"'`]+(?:["'`]\s*,\s*["'`][^"'`]+)*)/.exec(
      text,
    )?.[1]
    const directory = inFolder(folder, written?.split(/["'`]\s*,\s*["'`]/).join('/') ?? 'migrations')
    if (!context.paths.some(path => path.startsWith(`${directory}/`))) return []
    seen.add(folder)
    const exec = context.exec('node', folder)
    const seeders = context.paths.some(path =>
      path.startsWith(`${folderOf(directory) === '' ? '' : `${folderOf(directory)}/`}seed`),
    )
    return [
      {
        tool: 'sequelize',
        ecosystem: 'node',
        folder,
        directory,
        // What names the database, rather than the file that says where it is.
        config:
          ['config/config.json', 'config/config.js', 'config/database.js', 'config/database.json']
            .map(one => inFolder(folder, one))
            .find(one => context.facts.paths.includes(one)) ??
          (mark.endsWith('.sequelizerc') ? mark : undefined),
        command: `${exec}sequelize-cli db:migrate`,
        seed: seeders ? `${exec}sequelize-cli db:seed:all` : undefined,
        applies: /\bsequelize(-cli)?\b[^\n;&|]*\bdb:migrate(?!:)/,
        evidence: [context.at(mark, /migrations-path|sequelize-cli/)],
      },
    ]
  })
}

function findMikroOrm(context: MigrationContext): FoundTool[] {
  return context.filePaths
    .filter(path => /(^|\/)mikro-orm[\w.-]*\.config\.[cm]?[jt]s$|(^|\/)mikro-orm\.[cm]?[jt]s$/.test(path))
    .flatMap(config => {
      const folder = context.projectOf(config, MANIFEST)
      const folders = foldersWith(context, /\/Migration\d{8,}\w*\.[cm]?[jt]s$/)
      const directory = [...folders.keys()].find(one => folder === '' || one.startsWith(`${folder}/`))
      const isConfigured = /migrations\s*:/.test(context.text(config))
      if (directory === undefined && !isConfigured) return []
      const exec = context.exec('node', folder)
      const hasSeeder = context.paths.some(path => /\/\w*Seeder\.[cm]?[jt]s$/.test(path))
      return [
        {
          tool: 'mikro-orm',
          ecosystem: 'node',
          folder,
          directory,
          config,
          command: `${exec}mikro-orm migration:up`,
          seed: hasSeeder ? `${exec}mikro-orm seeder:run` : undefined,
          applies: /\bmikro-orm\b[^\n;&|]*\bmigration:up\b|\.getMigrator\(\)\.up\(/,
          evidence: [context.at(config, /migrations\s*:/)],
        },
      ]
    })
}

function findKysely(context: MigrationContext): FoundTool[] {
  const configs = context.filePaths.filter(path => /(^|\/)kysely\.config\.[cm]?[jt]s$/.test(path))
  // Without its command line tool, Kysely's Migrator is called by a program of the repository.
  const programs = context.files
    .filter(file => /\bFileMigrationProvider\b|new Migrator\(/.test(file.text) && /kysely/.test(file.text))
    .map(file => file.path)
  const seen = new Set<string>()
  return [...configs, ...programs].flatMap(path => {
    const folder = context.projectOf(path, MANIFEST)
    if (seen.has(folder)) return []
    seen.add(folder)
    const isTool = configs.includes(path)
    const written = /migrationFolder:\s*(?:path\.(?:join|resolve)\([^)"'`]*)?["'`]([^"'`]+)/.exec(
      context.text(path),
    )?.[1]
    const directory = [
      written === undefined ? undefined : resolveFrom(path, written),
      written === undefined ? undefined : inFolder(folder, written),
      inFolder(folder, 'migrations'),
      inFolder(folderOf(path), 'migrations'),
    ].find(one => one !== undefined && context.paths.some(file => file.startsWith(`${one}/`)))
    return [
      {
        tool: 'kysely',
        ecosystem: 'node',
        folder,
        directory,
        config: isTool ? path : undefined,
        command: isTool ? `${context.exec('node', folder)}kysely migrate:latest` : undefined,
        applies: /\bkysely migrate:(latest|up)\b|\bkysely migrate latest\b|\.migrateToLatest\(/,
        evidence: [context.at(path, /migrat/i)],
      },
    ]
  })
}
