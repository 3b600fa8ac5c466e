// Knows which server an image holds, by the words of its name and never by a substring: postgres-exporter,
// redis-commander and pgadmin hold no data, bitnami/postgresql and pgvector/pgvector do.

export type ServiceKind =
  | 'postgres'
  | 'mysql'
  | 'mongodb'
  | 'redis'
  | 'memcached'
  | 'rabbitmq'
  | 'kafka'
  | 'nats'
  | 's3'
  | 'elasticsearch'
  | 'clickhouse'
  | 'qdrant'
  | 'sqlite'
  | 'mail'
  | 'unknown'

export interface ImageIdentity {
  readonly kind: ServiceKind
  /** Which of a kind: mariadb, valkey, redpanda, minio; the software's own name where the kind is unknown. */
  readonly product: string
}

/** Product by the exact last component of the image's name, then by its words. */
const PRODUCTS: Readonly<Record<string, string>> = {
  'postgres:postgres':
    'postgres postgresql postgis pgvector timescaledb timescaledb-ha timescale citus pgvecto-rs vchord vectorchord vchord-postgres paradedb pg_duckdb pgduckdb age orioledb pgroonga spilo alloydbomni edb-postgres percona-distribution-postgresql pglite-socket pgautoupgrade',
  'mysql:mysql': 'mysql mysql-server mysql-cluster vttestserver',
  'mysql:mariadb': 'mariadb mariadb-galera mariadb-server',
  'mysql:percona': 'percona percona-server percona-xtradb-cluster',
  'mongodb:mongodb':
    'mongo mongodb mongodb-community-server mongodb-enterprise-server mongodb-atlas-local percona-server-mongodb mongodb-sharded',
  'mongodb:ferretdb': 'ferretdb ferretdb-eval',
  'redis:redis':
    'redis redis-stack redis-stack-server redis-cluster redisearch rejson redisjson redistimeseries redismod redis-server',
  'redis:valkey': 'valkey valkey-bundle valkey-cluster',
  'redis:keydb': 'keydb',
  'redis:dragonfly': 'dragonfly dragonflydb',
  'redis:garnet': 'garnet',
  'memcached:memcached': 'memcached memcache',
  'rabbitmq:rabbitmq': 'rabbitmq rabbitmq-server rabbitmq-cluster',
  'rabbitmq:lavinmq': 'lavinmq',
  'kafka:kafka': 'kafka kafka-native cp-kafka cp-server cp-enterprise-kafka kafka-kraft fast-data-dev',
  'kafka:redpanda': 'redpanda',
  'nats:nats': 'nats nats-server nats-streaming nats-streaming-server',
  's3:minio': 'minio',
  's3:localstack': 'localstack localstack-pro localstack-full',
  's3:seaweedfs': 'seaweedfs',
  's3:garage': 'garage',
  's3:rustfs': 'rustfs',
  's3:s3mock': 's3mock s3-mock fake-s3 fakes3 s3ninja s3proxy cloudserver s3rver',
  's3:moto': 'moto',
  'elasticsearch:elasticsearch': 'elasticsearch elasticsearch-oss elasticsearch-wolfi',
  'elasticsearch:opensearch': 'opensearch',
  'clickhouse:clickhouse': 'clickhouse clickhouse-server',
  'qdrant:qdrant': 'qdrant',
  'mail:mailpit': 'mailpit',
  'mail:mailhog': 'mailhog',
  'mail:mailcatcher': 'mailcatcher docker-mailcatcher',
  'mail:maildev': 'maildev',
  'mail:mailcrab': 'mailcrab',
  'mail:smtp4dev': 'smtp4dev',
  'mail:inbucket': 'inbucket',
  'mail:greenmail': 'greenmail standalone-greenmail',
  'mail:fake-smtp':
    'fake-smtp-server fakesmtp fake-smtp smtp-mock mailslurper mailtutan smtp-sink papercut-smtp',
}
/** Software that holds data and has no adapter, by the word that names it. */
const OTHER_STORES =
  'cassandra scylla scylladb cockroachdb yugabyte yugabytedb tidb couchdb couchbase neo4j memgraph arangodb dgraph influxdb questdb surrealdb rethinkdb rqlite firebird meilisearch typesense solr manticore manticoresearch zincsearch weaviate milvus chroma chromadb vespa etcd vault dynamodb-local azurite fake-gcs-server pulsar activemq activemq-classic activemq-artemis artemis beanstalkd gearman gearmand nsq nsqd tarantool ignite hazelcast eventstore kurrentdb immudb tigerbeetle foundationdb libsql-server sqld openldap test-openldap keycloak temporal auto-setup tdengine doris starrocks databend crate janusgraph orientdb ravendb victoria-metrics pinot druid mosquitto emqx vernemq hivemq-ce electricsql elasticmq elasticmq-native'.split(
    ' ',
  )
/** Words of programs that work beside a server: with one of them in the name the image is no server. */
const TOOL_WORDS = new Set(
  'exporter commander express admin adminer client cli ui gui web webui browser console dashboard dashboards insight insights manager operator backup backups restore dump dumper archiver proxy bouncer pgbouncer pgpool pool router init initializer setup seed seeder migrate migrator migration migrations migrater connect connector rest registry sentinel agent sidecar wait waiter health healthcheck tools tool toolbox utils metrics meta monitor monitoring viewer explorer studio hq head box keeper driver source sink debezium ksqldb rebrow tunnel ambassador mirror mirrormaker copy sync cron rotate reloader mcp mc balancer api app worker service frontend backend starter demo example sample lambda consumer producer publisher subscriber listener gateway website docs kibana logstash bridge benchmark bench loader importer export import'.split(
    ' ',
  ),
)

const exact = new Map<string, ImageIdentity>()
for (const [key, names] of Object.entries(PRODUCTS)) {
  const [kind, product] = key.split(':') as [ServiceKind, string]
  for (const name of names.split(' ')) exact.set(name, { kind, product })
}
for (const name of OTHER_STORES) exact.set(name, { kind: 'unknown', product: name })
for (const [product, names] of Object.entries({
  cockroachdb: 'cockroach',
  chroma: 'chromadb',
  sqlserver: 'mssql',
}))
  exact.set(names, { kind: 'unknown', product })

/** Last components that only their owner explains. */
const BY_OWNER: Readonly<Record<string, ImageIdentity>> = {
  'mssql/server': { kind: 'unknown', product: 'sqlserver' },
  'azure-sql-edge': { kind: 'unknown', product: 'sqlserver' },
  'database/free': { kind: 'unknown', product: 'oracle' },
  'database/express': { kind: 'unknown', product: 'oracle' },
  'database/enterprise': { kind: 'unknown', product: 'oracle' },
  'temporalio/auto-setup': { kind: 'unknown', product: 'temporal' },
  'temporalio/server': { kind: 'unknown', product: 'temporal' },
  'cosmosdb/linux/azure-cosmos-emulator': { kind: 'unknown', product: 'cosmosdb' },
}

/** The path of an image without registry, tag and digest: `bitnami/postgresql`, `postgres`. */
export function imagePath(image: string): string {
  const named = image.trim().toLowerCase().split('@')[0] as string
  const slash = named.lastIndexOf('/')
  const colon = named.indexOf(':', slash + 1)
  const path = colon < 0 ? named : named.slice(0, colon)
  const [first, ...rest] = path.split('/')
  const isRegistry = rest.length > 0 && /[.:]|^localhost$/.test(first as string)
  return (isRegistry ? rest : [first as string, ...rest]).join('/')
}

/** What server an image holds, or undefined where it holds none that is known. */
export function identifyImage(image: string): ImageIdentity | undefined {
  const path = imagePath(image)
  const parts = path.split('/')
  const last = parts.at(-1) as string
  const owned = BY_OWNER[path] ?? BY_OWNER[parts.slice(-2).join('/')] ?? BY_OWNER[last]
  if (owned !== undefined) return owned
  const known = exact.get(last)
  if (known !== undefined) return known
  if (/^oracle-?(database|free|xe|express|\d)/.test(last)) return { kind: 'unknown', product: 'oracle' }
  const words = last.split(/[-_.]+/)
  if (words.some(word => TOOL_WORDS.has(word))) return undefined
  // A build of one's own (`acme/postgres-15-plv8`) keeps the server's name as a word.
  return words
    .map(word => exact.get(word.replace(/\d+$/, '')))
    .find(entry => entry !== undefined && entry.kind !== 'unknown')
}
