// What the name of an env key says: which kind of server it is about, which part of the address it holds, and which
// keys belong together. Words are compared whole, so DB_NAME and DatabaseName are alike and BIDB_RENAME is none.
import type { ServiceKind } from './images.ts'
import { keyWords } from './store-names.ts'

export type EnvPart =
  | 'url'
  | 'host'
  | 'hosts'
  | 'port'
  | 'user'
  | 'password'
  | 'database'
  | 'index'
  | 'vhost'
  | 'bucket'
  | 'prefix'
  | 'path'
  | 'connection'

export interface EnvName {
  /** Undefined where the name only says "the database". */
  readonly kind: ServiceKind | undefined
  readonly part: EnvPart
  /** What is left of the name: `DB_HOST` and `DB_NAME` belong together. */
  readonly group: string
}

const STORES: Readonly<Record<string, ServiceKind | 'database'>> = {}
const store = STORES as Record<string, ServiceKind | 'database'>
for (const [kind, names] of [
  ['postgres', 'postgres postgresql pg pgsql psql'],
  ['mysql', 'mysql mariadb'],
  ['mongodb', 'mongo mongodb'],
  ['redis', 'redis valkey'],
  ['memcached', 'memcached memcache'],
  ['rabbitmq', 'rabbitmq rabbit amqp'],
  ['kafka', 'kafka redpanda'],
  ['nats', 'nats'],
  ['s3', 's3 minio bucket'],
  ['elasticsearch', 'elasticsearch elastic opensearch es'],
  ['clickhouse', 'clickhouse'],
  ['qdrant', 'qdrant'],
  ['sqlite', 'sqlite'],
  ['database', 'db database datasource sql typeorm sequelize knex rds dbname'],
] as const)
  for (const name of names.split(' ')) store[name] = kind

const PARTS: Readonly<Record<string, EnvPart>> = {}
const partOf = PARTS as Record<string, EnvPart>
for (const [part, names] of [
  ['url', 'url uri urls dsn endpoint'],
  ['host', 'host hostname server addr address ip'],
  ['hosts', 'hosts brokers broker nodes servers addresses addrs'],
  ['port', 'port'],
  ['user', 'user username usr login'],
  ['password', 'password pass passwd pwd'],
  ['database', 'name dbname schema'],
  ['index', 'index'],
  ['vhost', 'vhost virtualhost'],
  ['bucket', 'bucket'],
  ['prefix', 'prefix namespace collection topic group'],
  ['path', 'path file filename location'],
  ['connection', 'connectionstring connstr'],
] as const)
  for (const name of names.split(' ')) partOf[name] = part

/** Written as one word: PGHOST, MONGOURI, REDISURL. */
const JOINED =
  /^(pg|postgres|mysql|mongo(?:db)?|redis|amqp|db|database)(host|port|user|password|database|url|uri|dsn|name)$/
/** Keys that speak of how a server is used, not of where it is. */
const ASIDE_WORDS =
  /^(pool|max|min|timeout|ttl|ssl|tls|sslmode|retry|retries|log|logging|debug|enabled|enable|version|image|tag|backup|size|charset|collation|timezone|region|expire|memory|limit|interval|concurrency|exporter|ui|admin|console|public|cdn|dashboard|type|driver|dialect|engine|synchronize|migrations|replica|readonly|ro|root|initdb|test|shadow|container|volume|data|dir|id|key|secret|access|token|cert|ca)$/

export function readEnvName(key: string): EnvName | undefined {
  const words = keyWords(key).flatMap(word => {
    const joined = JOINED.exec(word)
    return joined === null ? [word] : [joined[1] as string, joined[2] as string]
  })
  const at = words.findIndex(word => store[word] !== undefined)
  if (at < 0 || words.some(word => ASIDE_WORDS.test(word))) return undefined
  const named = words.map(word => store[word]).filter(kind => kind !== undefined)
  const kind = named.find(one => one !== 'database')
  const part = partIn(words, kind)
  if (part === undefined) return undefined
  const rest = words.filter(word => partOf[word] === undefined)
  // In POSTGRES_DB the last word is the part; in DB_HOST it is all there is of the name.
  if (
    (part === 'database' || part === 'index') &&
    rest.length > 1 &&
    store[rest.at(-1) as string] === 'database'
  )
    rest.pop()
  const group = rest.join('_')
  return { kind, part, group }
}

function partIn(words: readonly string[], kind: ServiceKind | 'database' | undefined): EnvPart | undefined {
  const last = words.at(-1) as string
  const written = [...words].reverse().find(word => partOf[word] !== undefined)
  const hasDatabase = words.some(word => store[word] === 'database')
  if (words.join('_').endsWith('connection_string')) return 'connection'
  if (kind === 's3')
    return words.includes('bucket')
      ? 'bucket'
      : written === 'endpoint' || written === 'url'
        ? 'url'
        : written === 'host' || written === 'port'
          ? partOf[written]
          : undefined
  // REDIS_DB is the number of a database; POSTGRES_DB its name.
  if ((last === 'db' || last === 'database') && kind === 'redis') return 'index'
  if ((last === 'db' || last === 'database') && words.length > 1) return 'database'
  if (written === undefined) return undefined
  const part = partOf[written] as EnvPart
  // A name is one only of a database: APP_NAME and REDIS_NAME are others.
  if (part === 'database' && !hasDatabase && !/^(postgres|mysql|mongodb|clickhouse)$/.test(kind ?? ''))
    return undefined
  if (part === 'path' && kind !== 'sqlite' && !words.some(word => word === 'db' || word === 'database'))
    return undefined
  if (part === 'prefix' && !/^(redis|kafka|nats|elasticsearch|qdrant)$/.test(kind ?? '')) return undefined
  return part
}
