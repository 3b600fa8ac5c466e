// Finds the migration tools that run SQL files whatever the language: golang-migrate, goose, dbmate, Atlas. Their folders look alike, so each needs its own mark: a module, a command, a file that only it writes.
import { folderOf, nameOf } from './facts.ts'
import {
  type FoundTool,
  findMention,
  foldersWith,
  type MigrationContext,
  relativeTo,
  shellWord,
} from './migration-tool.ts'

export function findSqlTools(context: MigrationContext): FoundTool[] {
  const atlas = findAtlas(context)
  const taken = new Set(atlas.flatMap(one => one.directory ?? []))
  return [...atlas, ...findNumbered(context, taken), ...findDbmate(context)]
}

interface GoTool {
  tool: 'golang-migrate' | 'goose'
  module: RegExp
  said: RegExp
  files: RegExp
  applies: RegExp
  embedded: RegExp
}

const GO_TOOLS: readonly GoTool[] = [
  {
    tool: 'golang-migrate',
    module: /^github\.com\/golang-migrate\/migrate(\/|$)/,
    said: /\bmigrate\b[^\n]*(-path|-source|-database)\b|\bmigrate\/migrate\b|golang-migrate/,
    files: /(^|\/)\d+_[\w.-]+\.up\.(sql|json|cql)$/,
    applies:
      /\bmigrate\b[^\n;&|]*-(path|source|database)\b[^\n;&|]*\bup\b|\bmigrate\b[^\n;&|]*\bup\b[^\n;&|]*-(path|database)\b/,
    embedded: /\bmigrate\.(New|NewWithDatabaseInstance|NewWithSourceInstance|NewWithInstance)\(/,
  },
  {
    tool: 'goose',
    module: /^github\.com\/pressly\/goose(\/|$)/,
    said: /\bgoose\b[^\n]*\b(up|status|create|down)\b|pressly\/goose/,
    files: /(^|\/)\d+_[\w-]+\.(sql|go)$/,
    applies: /\bgoose\b[^\n;&|]*\bup\b/,
    embedded: /\bgoose\.(Up|UpContext|NewProvider|RunContext|Run)\(/,
  },
]

function findNumbered(context: MigrationContext, taken: ReadonlySet<string>): FoundTool[] {
  return GO_TOOLS.flatMap(({ tool, module, said, files, applies, embedded }) => {
    const dependency = context.dependencies.find(one => one.ecosystem === 'go' && module.test(one.name))
    const candidates = [...foldersWith(context, files).keys()].filter(
      one => /migrat|(^|\/)(sql\/)?schema$/i.test(one) && !taken.has(one),
    )
    const mention = candidates.length === 0 ? undefined : findMention(context, said)
    if (dependency === undefined && mention === undefined) return []
    const named = candidates.filter(one =>
      context.commands.some(command => command.body.includes(nameOf(one)) && applies.test(command.body)),
    )
    const directory = named[0] ?? candidates[0]
    if (directory === undefined) return []
    const program = context.files.find(file => file.path.endsWith('.go') && embedded.test(file.text))
    const folder = dependency?.folder ?? ''
    const path = shellWord(relativeTo(folder, directory))
    const database = databaseOfGo(context)
    const call = callOf(tool, dependency?.name, dependency?.version, database)
    const driver = database === 'sqlite' ? 'sqlite3' : database
    const command =
      tool === 'goose'
        ? driver === undefined
          ? undefined
          : `GOOSE_DRIVER=${driver} GOOSE_DBSTRING="$url" ${call} -dir ${path} up`
        : `${withoutCertificate(database)}${call} -path ${path} -database "$url" up`
    return [
      {
        tool,
        ecosystem: 'go',
        folder,
        directory,
        config: undefined,
        command,
        isAppliedByApp: program !== undefined,
        applies,
        database,
        evidence: [
          dependency === undefined ? undefined : context.at(dependency.file, dependency.name),
          mention,
          program && context.at(program.path, embedded),
        ].filter(one => one !== undefined),
      },
    ]
  })
}

/** lib/pq insists on TLS unless it is told otherwise, and a developer's server has no certificate. */
function withoutCertificate(database: FoundTool['database']): string {
  return database === 'postgres' ? 'PGSSLMODE="${PGSSLMODE:-disable}" ' : ''
}

/** The module's own command at the version that go.mod asks for, which needs no install; else the tool on PATH. */
function callOf(
  tool: string,
  module: string | undefined,
  version: string | undefined,
  database: FoundTool['database'],
): string {
  const plain = tool === 'goose' ? 'goose' : 'migrate'
  if (module === undefined || version === undefined) return plain
  const root = module.replace(/^(github\.com\/[^/]+\/[^/]+(?:\/v\d+)?).*$/, '$1')
  const tags =
    tool === 'goose' || database === undefined ? '' : `-tags ${database === 'sqlite' ? 'sqlite3' : database} `
  return `go run ${tags}${root}/cmd/${plain}@${version}`
}

function databaseOfGo(context: MigrationContext): FoundTool['database'] {
  const has = (pattern: RegExp) =>
    context.dependencies.some(one => one.ecosystem === 'go' && pattern.test(one.name))
  if (has(/\/(lib\/pq|jackc\/pgx|pgdriver|driver\/postgres)(\/|$)/)) return 'postgres'
  if (has(/\/(go-sql-driver\/mysql|driver\/mysql)(\/|$)/)) return 'mysql'
  return has(/sqlite/) ? 'sqlite' : undefined
}

function findDbmate(context: MigrationContext): FoundTool[] {
  const npm = context.dependency('node', /^(dbmate|@dbmate\/.*)$/)
  const folders = [...foldersWith(context, /\/\d+_[\w-]+\.sql$/).keys()]
  const directory =
    folders.find(one => /(^|\/)db\/migrations$/.test(one)) ?? folders.find(one => /migrations$/.test(one))
  if (directory === undefined) return []
  const mention = findMention(context, /\bdbmate\b(?![\w-]*\.)/)
  if (npm === undefined && mention === undefined) return []
  const folder = npm?.folder ?? directory.replace(/\/?(db\/)?migrations$/, '')
  const isStandard = relativeTo(folder, directory) === 'db/migrations'
  const flag = isStandard ? '' : `--migrations-dir ${shellWord(relativeTo(folder, directory))} `
  const exec = npm === undefined ? '' : context.exec('node', folder)
  return [
    {
      tool: 'dbmate',
      ecosystem: npm === undefined ? 'go' : 'node',
      folder,
      directory,
      config: undefined,
      // Without --no-dump-schema it rewrites db/schema.sql, which is tracked.
      command: `${withoutCertificate('postgres')}DATABASE_URL="$url" ${exec}dbmate ${flag}--no-dump-schema migrate`,
      applies: /\bdbmate\b[^\n;&|]*\b(up|migrate)\b/,
      evidence: [npm === undefined ? undefined : context.at(npm.file, npm.name), mention].filter(
        one => one !== undefined,
      ),
    },
  ]
}

function findAtlas(context: MigrationContext): FoundTool[] {
  const configs = context.filePaths.filter(path => nameOf(path) === 'atlas.hcl')
  const sums = [...foldersWith(context, /(^|\/)atlas\.sum$/).keys()]
  return sums.map(directory => {
    const config = configs.find(path => folderOf(path) === '' || directory.startsWith(`${folderOf(path)}/`))
    const folder = config === undefined ? '' : folderOf(config)
    const path = relativeTo(folder, directory)
    return {
      tool: 'atlas',
      ecosystem: 'go',
      folder,
      directory,
      config,
      command: `atlas migrate apply --url "$url" --dir ${shellWord(`file://${path}`)}`,
      applies: /\batlas migrate apply\b/,
      evidence: [
        context.at(`${directory}/atlas.sum`, 'h1:'),
        ...(config === undefined ? [] : [context.at(config, /migration|env/)]),
      ],
    }
  })
}
