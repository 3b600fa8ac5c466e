// Finds the migrations of Rust and .NET: sqlx, Diesel, SeaORM, EF Core. They are often built into the program, which
// then applies them itself. See core/migration-tool.ts for what a finding holds.
import { folderOf, nameOf } from './facts.ts'
import {
  type FoundTool,
  foldersWith,
  inFolder,
  type MigrationContext,
  relativeTo,
  shellWord,
} from './migration-tool.ts'

export function findCompiledTools(context: MigrationContext): FoundTool[] {
  return [...findSqlx(context), ...findDiesel(context), ...findSeaOrm(context), ...findEfCore(context)]
}

function findSqlx(context: MigrationContext): FoundTool[] {
  const crates = context.dependencies.filter(one => one.ecosystem === 'rust' && one.name === 'sqlx')
  const folders = foldersWith(context, /(^|\/)migrations\/(\d+_[\w-]+\/)?\d+_[\w.-]+\.sql$/)
  const program = context.files.find(
    file =>
      /\bsqlx::migrate!|^\s*migrate!\(|sqlx::migrate::Migrator/m.test(file.text) && file.path.endsWith('.rs'),
  )
  const uses = context.commands.find(command => /\bsqlx (migrate|database)\b/.test(command.body))
  return [...folders].flatMap(([directory, first]) => {
    const crate = crates.find(one => one.folder === '' || directory.startsWith(`${one.folder}/`)) ?? crates[0]
    if (crate === undefined || !/(^|\/)migrations$/.test(directory)) return []
    const folder = folderOf(directory)
    return [
      {
        tool: 'sqlx',
        ecosystem: 'rust',
        folder,
        directory,
        config: undefined,
        // The command line tool is a separate install; a program that migrates itself does not need it.
        command:
          program !== undefined && uses === undefined ? undefined : 'DATABASE_URL="$url" sqlx migrate run',
        isAppliedByApp: program !== undefined,
        applies: /\bsqlx migrate run\b|\bsqlx database setup\b/,
        schema: [],
        database: databaseOf(
          context
            .text(crate.file)
            .split(/^\s*(?:\[[\w.-]*)?sqlx\b/m)[1]
            ?.slice(0, 300) ?? '',
        ),
        evidence: [
          context.at(first, /create|alter/i),
          ...(program === undefined ? [] : [context.at(program.path, /migrate!/)]),
        ],
      } satisfies FoundTool,
    ].filter(() => context.dependency('rust', /^(diesel|sea-orm-migration)$/, folder) === undefined)
  })
}

function databaseOf(words: string): FoundTool['database'] {
  if (/postgres/.test(words)) return 'postgres'
  if (/mysql|mariadb/.test(words)) return 'mysql'
  return /sqlite/.test(words) ? 'sqlite' : undefined
}

function findDiesel(context: MigrationContext): FoundTool[] {
  const ups = [...foldersWith(context, /\/[\w-]+\/up\.sql$/).keys()]
  const directories = [...new Set(ups.map(folderOf))].filter(
    one => context.dependency('rust', /^diesel$/, one) !== undefined,
  )
  return directories.map(directory => {
    const config = context.filePaths.find(
      path =>
        nameOf(path) === 'diesel.toml' &&
        (folderOf(path) === '' || directory.startsWith(`${folderOf(path)}/`)),
    )
    const folder = config === undefined ? folderOf(directory) : folderOf(config)
    const crate = context.dependency('rust', /^diesel$/, directory)
    const program = context.files.find(
      file => /run_pending_migrations/.test(file.text) && file.path.endsWith('.rs'),
    )
    return {
      tool: 'diesel',
      ecosystem: 'rust',
      folder,
      directory,
      config,
      command: 'DATABASE_URL="$url" diesel migration run',
      isAppliedByApp: program !== undefined,
      applies: /\bdiesel (migration run|database setup|setup)\b/,
      database: databaseOf(
        /diesel\s*=[^\n]*features\s*=\s*\[([^\]]*)/.exec(context.text(crate?.file ?? ''))?.[1] ?? '',
      ),
      evidence: [
        context.at(
          config ?? ups.find(one => one.startsWith(directory)) ?? directory,
          /migrations_directory|dir\s*=/,
        ),
      ],
    }
  })
}

function findSeaOrm(context: MigrationContext): FoundTool[] {
  return context.dependencies
    .filter(one => one.ecosystem === 'rust' && one.name === 'sea-orm-migration')
    .flatMap(crate => {
      const directory = [...foldersWith(context, /\/m\d{8}_\w+\.rs$/).keys()].find(
        one => crate.folder === '' || one.startsWith(`${crate.folder}/`),
      )
      if (directory === undefined) return []
      const folder = folderOf(crate.folder)
      const isTool =
        context.facts.paths.includes(inFolder(crate.folder, 'src/main.rs')) && crate.folder !== ''
      return [
        {
          tool: 'sea-orm',
          ecosystem: 'rust',
          folder,
          directory,
          config: crate.file,
          command: isTool
            ? `cargo run --quiet --manifest-path ${shellWord(relativeTo(folder, crate.file))} -- up`
            : undefined,
          applies: /\bsea-orm-cli migrate( up)?\s*($|[-"'\n&|;])|cargo run[^\n]*migration[^\n]*-- up\b/m,
          isAppliedByApp: context.files.some(
            file => /Migrator::up\(/.test(file.text) && !file.path.startsWith(`${crate.folder}/`),
          ),
          evidence: [context.at(crate.file, 'sea-orm-migration')],
        },
      ]
    })
}

function findEfCore(context: MigrationContext): FoundTool[] {
  const projects = context.facts.paths.filter(path => /\.[cf]sproj$/.test(path))
  return [...foldersWith(context, /(^|\/)\w*ModelSnapshot\.cs$/)].flatMap(([directory, snapshot]) => {
    const project = projects
      .filter(path => folderOf(path) === '' || directory.startsWith(`${folderOf(path)}/`))
      .sort((a, b) => b.length - a.length)[0]
    if (project === undefined) return []
    const isWeb = (path: string) => /Microsoft\.NET\.Sdk\.Web/.test(context.text(path))
    const startup = isWeb(project) ? project : projects.find(isWeb)
    const place = (path: string) => shellWord(folderOf(path) === '' ? path : folderOf(path))
    const flags = `--project ${place(project)}${startup === undefined || startup === project ? '' : ` --startup-project ${place(startup)}`}`
    return [
      {
        tool: 'ef-core',
        ecosystem: 'dotnet',
        folder: '',
        directory,
        config: project,
        command: `dotnet ef database update ${flags}`,
        isAppliedByApp: context.files.some(file => /\.Database\.Migrate(Async)?\(/.test(file.text)),
        applies: /\bdotnet ef database update\b/,
        evidence: [context.at(snapshot, 'ModelSnapshot')],
      },
    ]
  })
}
