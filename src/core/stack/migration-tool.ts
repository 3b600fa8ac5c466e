// What a detector of a migration tool is given and what it answers. Detectors look for the folder, the configuration
// or the command of a tool; a dependency alone is never one.
import { type Dependency, findDependencies, findDependency } from './dependencies.ts'
import { type Evidence, evidenceAt, type FactFile, findLine, folderOf, type RepoFacts } from './facts.ts'
import type { ServiceKind } from './images.ts'
import { type Ecosystem, makePackageManagerLookup } from './package-manager.ts'
import { findRepoCommands, type RepoCommand } from './repo-commands.ts'

export type MigrationTool =
  | 'prisma'
  | 'drizzle'
  | 'knex'
  | 'typeorm'
  | 'sequelize'
  | 'mikro-orm'
  | 'kysely'
  | 'rails'
  | 'django'
  | 'alembic'
  | 'flask-migrate'
  | 'laravel'
  | 'doctrine'
  | 'golang-migrate'
  | 'goose'
  | 'atlas'
  | 'flyway'
  | 'liquibase'
  | 'ecto'
  | 'sqlx'
  | 'diesel'
  | 'sea-orm'
  | 'ef-core'
  | 'dbmate'
  | 'migrate-mongo'
  /** A command that is called after migrations and that no tool is seen in. */
  | 'unknown'

/** A tool that was found, before the repository's own commands are considered. */
export interface FoundTool {
  readonly tool: MigrationTool
  readonly ecosystem: Ecosystem
  /** Where its commands are called, "" for the root. */
  readonly folder: string
  readonly directory: string | undefined
  readonly config: string | undefined
  /**
   * The tool's own way to apply all migrations, without asking and without dropping. `"$url"` in it stands for the
   * connection URL of the slice, and goes by the environment where the tool reads one: arguments can be seen. Undefined where the tool cannot be called without knowing more.
   */
  readonly command: string | undefined
  /** What is not known and a person has to say. */
  readonly question?: string
  /** The application applies them itself when it starts, so nothing has to be called. */
  readonly isAppliedByApp?: boolean
  readonly seed?: string | undefined
  /** Recognises what a command does by its text. */
  readonly applies: RegExp
  /** Files beside the folder that shape the schema. */
  readonly schema?: readonly string[]
  readonly database?: ServiceKind | undefined
  readonly evidence: readonly Evidence[]
}

/** What drivers, dialects and providers call the servers. */
export const DRIVER_KIND: Readonly<Record<string, ServiceKind>> = {
  postgresql: 'postgres',
  postgres: 'postgres',
  pg: 'postgres',
  mysql: 'mysql',
  mysql2: 'mysql',
  mariadb: 'mysql',
  sqlite: 'sqlite',
  sqlite3: 'sqlite',
  'better-sqlite3': 'sqlite',
  mongodb: 'mongodb',
}

export interface MigrationContext {
  readonly facts: RepoFacts
  /** Paths that can have to do with migrations, without tests, examples and documents. */
  readonly paths: readonly string[]
  /** The files that were read, without tests, examples and documents. */
  readonly files: readonly FactFile[]
  readonly filePaths: readonly string[]
  readonly dependencies: readonly Dependency[]
  readonly commands: readonly RepoCommand[]
  /** What goes before a tool of that ecosystem in a folder: `npx `, `poetry run `. */
  exec(ecosystem: Ecosystem, folder: string): string
  lockFile(ecosystem: Ecosystem, folder: string): string | undefined
  /** A dependency that holds in a folder. */
  dependency(ecosystem: Ecosystem, name: RegExp, folder?: string): Dependency | undefined
  /** The nearest folder at or above a path that has such a manifest. */
  projectOf(path: string, manifest: RegExp): string
  at(file: string, needle: string | RegExp): Evidence
  text(file: string): string
}

export const ASIDE =
  /(^|\/)(tests?|specs?|__tests__|__mocks__|fixtures?|testdata|examples?|samples?|demos?|templates?|docs?|website|e2e|benchmarks?|node_modules|vendor)\//i
const RELEVANT =
  /migrat|prisma|drizzle|_journal\.json$|knexfile|seed|alembic|changelog|liquibase|flyway|atlas|schema|structure\.sql|artisan$|manage\.py$|(^|\/)mix\.exs$|priv\/|(^|\/)bin\/(rails|console)$|\.csproj$|diesel|(^|\/)\.sqlx\//i

export function makeMigrationContext(
  facts: RepoFacts,
  commands: readonly RepoCommand[] = findRepoCommands(facts),
): MigrationContext {
  const managerOf = makePackageManagerLookup(facts)
  const dependencies = findDependencies(facts).filter(one => !ASIDE.test(one.file))
  const files = [...facts.files.values()].filter(file => !ASIDE.test(file.path))
  return {
    facts,
    files,
    filePaths: files.map(file => file.path),
    paths: facts.paths.filter(path => RELEVANT.test(path) && !ASIDE.test(path)),
    dependencies,
    commands,
    exec: (ecosystem, folder) => managerOf(ecosystem, folder)?.exec ?? '',
    lockFile: (ecosystem, folder) => managerOf(ecosystem, folder)?.lockFile,
    dependency: (ecosystem, name, folder) => findDependency(dependencies, ecosystem, name, folder),
    projectOf: makeProjectOf(facts),
    at: (file, needle) => evidenceAt(facts, file, findLine(facts.files.get(file), needle) ?? 1),
    text: file => facts.files.get(file)?.text ?? '',
  }
}

/** The folders with a file of that name directly in them, each with the first such file. */
export function foldersWith(context: MigrationContext, pattern: RegExp): Map<string, string> {
  const folders = new Map<string, string>()
  for (const path of context.paths) {
    const folder = folderOf(path)
    if (pattern.test(path) && !folders.has(folder)) folders.set(folder, path)
  }
  return folders
}

/** The nearest folder at or above a path that has a manifest of that name; "" where none has. */
function makeProjectOf(facts: RepoFacts): MigrationContext['projectOf'] {
  const known = new Map<string, Set<string>>()
  return (path, manifest) => {
    let folders = known.get(manifest.source)
    if (folders === undefined) {
      folders = new Set(facts.paths.filter(one => manifest.test(one)).map(folderOf))
      known.set(manifest.source, folders)
    }
    for (let folder = folderOf(path); folder !== ''; folder = folderOf(folder))
      if (folders.has(folder)) return folder
    return ''
  }
}

/** Where a text that people run names a tool: commands, Dockerfiles, workflows, instructions. */
export function findMention(context: MigrationContext, pattern: RegExp): Evidence | undefined {
  for (const file of context.files)
    if (
      /(^|\/)((GNU)?makefile|justfile|taskfile[\w.]*|procfile[\w.]*|dockerfile[\w.-]*|package\.json|readme[\w.]*|contributing[\w.]*|development[\w.]*|\.tool-versions|\.?mise\.toml|\.air\.toml|devbox\.json)$|\.(sh|bash|mk|ya?ml)$|(^|\/)(bin|scripts?)\//i.test(
        file.path,
      ) &&
      pattern.test(file.text)
    )
      return context.at(file.path, pattern)
  return undefined
}

/** What to ask where a configuration names the database itself. */
export function pinnedQuestion(tool: string, file: string, line: number): string {
  return `${file}:${line} names the database itself: which variable gives ${tool} another one`
}

/** A path as it is written inside a folder's commands. */
export function relativeTo(folder: string, path: string): string {
  if (folder === '' || path === folder) return folder === '' ? path : '.'
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
}

/** A path written in a folder's configuration, from the root. */
export function inFolder(folder: string, path: string): string {
  const plain = path.replace(/^(\.\/)+/, '').replace(/\/+$/, '')
  return folder === '' ? plain : `${folder}/${plain}`
}

/** A word of a command: quoted only where the shell needs it. */
export function shellWord(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Whether a seed file does anything: generators leave one that only holds comments. */
export function hasCode(text: string): boolean {
  return text
    .replace(/^=begin[\s\S]*?^=end/gm, '')
    .split('\n')
    .some(line => /\S/.test(line) && !/^\s*(#|\/\/|--|\*|\/\*)/.test(line))
}
