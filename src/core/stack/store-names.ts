// Which server a word, a URL scheme or the name of an env key means. Words are compared whole.
import type { ImageIdentity, ServiceKind } from './images.ts'

const WORDS: Readonly<Record<string, string>> = {
  'postgres:postgres':
    'postgres postgresql postgresdb pgsql pg postgis psql postgresqldriver npgsql postgres-js node-postgres pglite neon pdo_pgsql postgresql_psycopg2 asyncpg psycopg psycopg2 pgx timescaledb',
  'mysql:mysql': 'mysql mysql2 mysqli pdo_mysql trilogy mysqldriver pymysql aiomysql mysqlclient planetscale',
  'mysql:mariadb': 'mariadb',
  'mongodb:mongodb': 'mongo mongodb mongoose mongodriver',
  'redis:redis': 'redis rediss phpredis predis redis_cache_store',
  'redis:valkey': 'valkey',
  'memcached:memcached': 'memcached memcache mem_cache_store',
  'rabbitmq:rabbitmq': 'rabbitmq amqp amqps rabbit',
  'kafka:kafka': 'kafka',
  'nats:nats': 'nats',
  's3:minio': 'minio',
  'elasticsearch:elasticsearch': 'elasticsearch elastic',
  'elasticsearch:opensearch': 'opensearch',
  'clickhouse:clickhouse': 'clickhouse clickhouses',
  'qdrant:qdrant': 'qdrant',
  'sqlite:sqlite':
    'sqlite sqlite3 better-sqlite3 better-sqlite libsql pdo_sqlite sqlitedriver bettersqlitedriver aiosqlite spatialite turso',
  'unknown:sqlserver': 'sqlserver mssql sqlsrv tds',
  'unknown:cockroachdb': 'cockroachdb cockroach',
  'unknown:oracle': 'oracle oracledb oci8',
  'unknown:neo4j': 'neo4j bolt',
  'unknown:cassandra': 'cassandra',
  'unknown:meilisearch': 'meilisearch meili',
  'unknown:typesense': 'typesense',
  'unknown:weaviate': 'weaviate',
  'unknown:milvus': 'milvus',
  'unknown:chroma': 'chroma chromadb',
  'unknown:influxdb': 'influxdb',
  'unknown:surrealdb': 'surrealdb',
  'unknown:mosquitto': 'mosquitto mqtt mqtts',
}
const byWord = new Map<string, ImageIdentity>()
for (const [key, names] of Object.entries(WORDS)) {
  const [kind, product] = key.split(':') as [ServiceKind, string]
  for (const name of names.split(' ')) byWord.set(name, { kind, product })
}

/** The server that a setting's value names: `pgsql`, `mysql2`, `better-sqlite3`. */
export function storeByWord(word: string): ImageIdentity | undefined {
  return byWord.get(word.trim().toLowerCase())
}

/** Servers of which a program takes one in place of another. */
export const RELATIONAL: ReadonlySet<string> = new Set([
  'postgres',
  'mysql',
  'sqlserver',
  'oracle',
  'cockroachdb',
])
export const DATABASES: ReadonlySet<string> = new Set([...RELATIONAL, 'mongodb', 'sqlite'])

/** What one service of a repository is counted as: its kind, or its product where the kind is unknown. */
export function serviceKey(identity: { readonly kind: ServiceKind; readonly product: string }): string {
  return identity.kind === 'unknown' ? identity.product : identity.kind
}

export interface StoreUrl extends ImageIdentity {
  readonly offset: number
  readonly url: string
}

const URL =
  /\b(?:(?:jdbc|r2dbc|ecto):)?(postgres(?:ql)?|postgis|pgx5?|pgsql|mysql2?|mysqlx|mariadb|trilogy|mongodb|rediss?|valkeys?|memcached?|amqps?|rabbitmq|nats|clickhouses?|cockroachdb|sqlserver|mssql|oracle|neo4j|bolt|cassandra|mqtts?|sqlite3?|libsql)(?:[+:][a-z0-9_]+)?:\/{1,4}[^\s"'`<>|,;)]*/gi
/** Forms without slashes: `jdbc:sqlite:app.db`, `sqlite:data.db`, `jdbc:sqlserver:…`. */
const BARE =
  /\bjdbc:(sqlite|sqlserver|oracle)[:][^\s"'`]+|\b(sqlite3?):(?!memory|:memory)[\w./${}-]+\.(?:db|sqlite3?)\b/gi

/** All URLs of servers in a text. A URL that only lives in memory is none. */
export function findStoreUrls(text: string): StoreUrl[] {
  const found = new Map<number, StoreUrl>()
  for (const pattern of [URL, BARE])
    for (const match of text.matchAll(pattern)) {
      const scheme = (match[1] ?? match[2] ?? '').toLowerCase().replace(/^pgx5$/, 'pgx')
      const identity = storeByWord(scheme)
      if (identity === undefined || /:memory:|mode=memory/.test(match[0])) continue
      if (!found.has(match.index)) found.set(match.index, { ...identity, offset: match.index, url: match[0] })
    }
  return [...found.values()]
}

/** Words of an env key: `DatabaseUrl`, `APP__REDIS_HOST` and `redis-url` alike. */
export function keyWords(key: string): string[] {
  return key
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_.\-:]+/)
    .filter(Boolean)
}

const KEY_WORDS: Readonly<Record<string, string>> = {
  'postgres:postgres': 'postgres postgresql pg pgsql pghost pgport pguser pgdatabase',
  'mysql:mysql': 'mysql mariadb',
  'mongodb:mongodb': 'mongo mongodb mongodburi mongouri',
  'redis:redis': 'redis valkey redisurl',
  'memcached:memcached': 'memcached memcache memcachier',
  'rabbitmq:rabbitmq': 'rabbitmq rabbit amqp',
  'kafka:kafka': 'kafka redpanda',
  'nats:nats': 'nats',
  's3:minio': 'minio',
  'elasticsearch:elasticsearch': 'elasticsearch elastic opensearch',
  'clickhouse:clickhouse': 'clickhouse',
  'qdrant:qdrant': 'qdrant',
  'sqlite:sqlite': 'sqlite',
  'unknown:meilisearch': 'meilisearch meili',
  'unknown:typesense': 'typesense',
  'unknown:neo4j': 'neo4j',
  'unknown:weaviate': 'weaviate',
  'unknown:milvus': 'milvus',
  'unknown:chroma': 'chroma chromadb',
  'unknown:influxdb': 'influxdb influx',
  'unknown:surrealdb': 'surrealdb',
  'unknown:cassandra': 'cassandra',
  'unknown:temporal': 'temporal',
  'unknown:mosquitto': 'mosquitto mqtt',
}
const byKeyWord = new Map<string, ImageIdentity>()
for (const [key, names] of Object.entries(KEY_WORDS)) {
  const [kind, product] = key.split(':') as [ServiceKind, string]
  for (const name of names.split(' ')) byKeyWord.set(name, { kind, product })
}
const ADDRESS =
  /^(host|hosts|hostname|url|uri|urls|server|servers|addr|address|addresses|brokers?|endpoint|endpoints|dsn|nodes?|connection|port|path|file|bootstrap|location|pghost|pgport|redisurl|mongodburi|mongouri|db|database|dbname|pgdatabase)$/

/** The server that a key's own name points at: `REDIS_HOST`, `MONGO_URI`, `PGHOST`. */
export function storeByKey(key: string): ImageIdentity | undefined {
  const words = keyWords(key)
  const named = storeByName(words)
  return named !== undefined && words.some(word => ADDRESS.test(word)) ? named : undefined
}

/** The server that one of a key's words names, whatever the key says of it. */
export function storeByName(words: readonly string[]): ImageIdentity | undefined {
  // `ES_HOST` is the usual short name; anywhere else the two letters are a word of a language.
  if (words[0] === 'es') return byKeyWord.get('elasticsearch')
  return words.map(word => byKeyWord.get(word)).find(entry => entry !== undefined)
}
