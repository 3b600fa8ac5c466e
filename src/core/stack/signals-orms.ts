// Signals of the configuration of ORMs and data tools, each of which names the kind of database it speaks to:
// Prisma, Drizzle, Knex, TypeORM, Sequelize, MikroORM, Payload, Keystone, Strapi, sqlc, Doctrine, Supabase, .NET.
import { type FactFile, filesMatching, findLine, lineAt, type RepoFacts, valueAt } from './facts.ts'
import type { Signal } from './signals.ts'
import { isOwnFile, wordSignal } from './signals-frameworks.ts'
import { DATABASES, serviceKey, storeByWord } from './store-names.ts'

interface Rule {
  readonly files: RegExp
  /** Only files that also match this are meant. */
  readonly needs?: RegExp
  /** The first group is the word that names the database. */
  readonly word: RegExp
  readonly why: string
  /** Several in one file are branches of a condition; elsewhere the first one is the default run's. */
  readonly isChoice?: true
}

const RULES: readonly Rule[] = [
  {
    files: /\.prisma$/,
    word: /^\s*datasource\s+\w+\s*\{[^}]*?\bprovider\s*=\s*"(\w+)"/m,
    why: 'the Prisma datasource uses it',
  },
  {
    files: /(^|\/)drizzle[\w.-]*\.config\.[cm]?[jt]s$|(^|\/)drizzle\.config[\w.-]*\.[cm]?[jt]s$/,
    word: /^(?!\s*\/\/)\s*(?:dialect|driver)\s*:\s*["'`]([\w-]+)["'`]/m,
    why: 'the Drizzle configuration uses it',
  },
  {
    files: /(^|\/)drizzle\.config\.json$/,
    word: /"dialect"\s*:\s*"([\w-]+)"/,
    why: 'the Drizzle configuration uses it',
  },
  {
    files: /(^|\/)knexfile[\w.-]*\.[cm]?[jt]s$/,
    word: /^(?!\s*\/\/)\s*client\s*:\s*["'`]([\w-]+)["'`]/m,
    why: 'the Knex configuration uses it',
  },
  {
    files: /(^|\/)[\w.-]+\.[cm]?[jt]s$/,
    needs:
      /\bnew DataSource\(|TypeOrmModule\.forRoot|ConnectionOptions|TypeOrmModuleOptions|DataSourceOptions/,
    word: /^(?!\s*\/\/)[^\n]*?\btype\s*:\s*["'`](postgres|mysql|mariadb|sqlite|better-sqlite3|mongodb|mssql|cockroachdb|oracle)["'`]/m,
    why: 'the TypeORM data source uses it',
  },
  {
    files: /(^|\/)ormconfig\.json$/,
    word: /"type"\s*:\s*"([\w-]+)"/,
    why: 'the TypeORM configuration uses it',
  },
  {
    files: /(^|\/)[\w.-]+\.[cm]?[jt]s$/,
    needs: /\bSequelize\b|sequelize/,
    word: /^(?!\s*\/\/)[^\n]*?\bdialect\s*:\s*["'`](\w+)["'`]/m,
    why: 'Sequelize uses it',
  },
  {
    files: /(^|\/)mikro-orm[\w.-]*\.[cm]?[jt]s$/,
    word: /@mikro-orm\/(postgresql|mysql|mariadb|sqlite|better-sqlite|libsql|mongodb|mssql)/,
    why: 'the MikroORM configuration uses it',
  },
  {
    files: /(^|\/)payload\.config\.[cm]?[jt]s$/,
    word: /@payloadcms\/db-(postgres|mongodb|sqlite)/,
    why: 'the Payload configuration uses it',
  },
  {
    files: /(^|\/)keystone\.[cm]?[jt]s$/,
    word: /\bprovider\s*:\s*["'`](\w+)["'`]/,
    why: 'the Keystone configuration uses it',
  },
  {
    files: /(^|\/)config\/(env\/development\/)?database\.[jt]s$/,
    word: /DATABASE_CLIENT["'`]\s*,\s*["'`]([\w-]+)["'`]/,
    why: 'the default client',
  },
  {
    files: /(^|\/)(config\/packages\/)?doctrine\.ya?ml$/,
    word: /^(?!\s*#)\s*driver:\s*["']?(pdo_\w+|mysqli)/m,
    why: 'the Doctrine configuration uses it',
  },
  {
    files: /(^|\/)parameters\.ya?ml(\.dist)?$/,
    word: /^(?!\s*#)\s*database_driver:\s*["']?(pdo_\w+|mysqli)/m,
    why: 'the Symfony parameters use it',
  },
  {
    files: /(^|\/)medusa-config\.[jt]s$/,
    needs: /projectConfig/,
    word: /(postgres)/i,
    why: 'the Medusa configuration uses it',
  },
  {
    files: /\.cs$/,
    word: /\.Use(Npgsql|SqlServer|Sqlite|MySql|MySQL|Oracle|MongoDB|CosmosDb)\(/,
    why: 'the DbContext uses it',
    isChoice: true,
  },
  {
    files: /\.(kt|java|scala|conf|clj)$/,
    // A comparison with the scheme names what the program can use.
    word: /^(?![^\n]*(?:startsWith|contains|matches|indexOf|equals|==|\bcase\b))[^\n]*\bjdbc:(postgresql|mysql|mariadb|sqlite):[^"'\s]/m,
    why: 'a JDBC URL names it',
    isChoice: true,
  },
]

export function ormSignals(facts: RepoFacts): Signal[] {
  const files = [...facts.files.values()].filter(file => isOwnFile(file.path))
  return [
    ...RULES.flatMap(rule => ruleSignals(facts, files, rule)),
    ...sequelizeJson(facts),
    ...supabase(facts),
    ...aspire(facts, files),
  ]
}

/** One rule that finds several kinds has found a choice: none of them is what a default run needs. */
function ruleSignals(facts: RepoFacts, files: readonly FactFile[], rule: Rule): Signal[] {
  const found = files.flatMap(file => {
    if (!rule.files.test(file.path) || (rule.needs !== undefined && !rule.needs.test(file.text))) return []
    const matches = [...file.text.matchAll(new RegExp(rule.word, `${rule.word.flags}g`))]
    return (rule.isChoice ? matches : matches.slice(0, 1)).flatMap(match => {
      const word = match[1] as string
      if (storeByWord(word) === undefined) return []
      return [{ file, word, line: lineAt(file.text, match.index + match[0].length) }]
    })
  })
  const kinds = new Set(found.map(entry => storeByWord(entry.word)?.kind))
  return found.flatMap(({ file, word, line }) =>
    wordSignal(facts, file, line, word, rule.why, kinds.size > 1 || isBranch(file, word) ? 'code' : 'run'),
  )
}

/** The file compares with the name of another database: what was found is one of its branches. */
function isBranch(file: FactFile, word: string): boolean {
  const own = storeByWord(word)?.kind
  return [...file.text.matchAll(/(?:\bcase|[=!]==?)\s*["'`]([\w-]+)["'`]/g)].some(match => {
    const other = storeByWord(match[1] as string)
    return other !== undefined && other.kind !== own && DATABASES.has(serviceKey(other))
  })
}

function sequelizeJson(facts: RepoFacts): Signal[] {
  return filesMatching(facts, /(^|\/)config\/config\.json$/).flatMap(file => {
    const dialect = valueAt(facts.json.get(file.path), 'development', 'dialect')
    return typeof dialect === 'string' && isOwnFile(file.path)
      ? wordSignal(
          facts,
          file,
          findLine(file, '"dialect"') ?? 1,
          dialect,
          'the Sequelize configuration uses it',
        )
      : []
  })
}

/** The Supabase command line starts a Postgres of its own for a project that has this file. */
function supabase(facts: RepoFacts): Signal[] {
  return filesMatching(facts, /(^|\/)supabase\/config\.toml$/)
    .filter(file => isOwnFile(file.path))
    .flatMap(file =>
      wordSignal(facts, file, findLine(file, /^\[db\]/m) ?? 1, 'postgres', 'supabase start runs it'),
    )
}

const ASPIRE: Readonly<Record<string, string>> = {
  Postgres: 'postgres',
  MySql: 'mysql',
  MongoDB: 'mongodb',
  Redis: 'redis',
  Valkey: 'valkey',
  Garnet: 'redis',
  RabbitMQ: 'rabbitmq',
  Kafka: 'kafka',
  Nats: 'nats',
  Elasticsearch: 'elasticsearch',
  Qdrant: 'qdrant',
  SqlServer: 'sqlserver',
  Milvus: 'milvus',
  Meilisearch: 'meilisearch',
}

/** An Aspire host starts the servers that it adds, in its main file or in a method that extends its builder. */
function aspire(facts: RepoFacts, files: readonly FactFile[]): Signal[] {
  return files
    .filter(
      file =>
        /\.cs$/.test(file.path) &&
        /DistributedApplication\.CreateBuilder|\bthis IDistributedApplicationBuilder\b/.test(file.text),
    )
    .flatMap(file =>
      [
        ...file.text.matchAll(
          /^(?!\s*\/\/).*?\.Add(Postgres|MySql|MongoDB|Redis|Valkey|Garnet|RabbitMQ|Kafka|Nats|Elasticsearch|Qdrant|SqlServer|Milvus|Meilisearch)\(\s*"/gm,
        ),
      ].flatMap(match =>
        wordSignal(
          facts,
          file,
          lineAt(file.text, match.index + match[0].length),
          ASPIRE[match[1] as string] as string,
          'the Aspire host starts it',
        ),
      ),
    )
}
