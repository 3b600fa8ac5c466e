// Signals of clients: packages that speak to a server, and the places where a program connects to one.
// A client alone is no need: a tool that can read ten databases uses one.
import { findDependencies } from './dependencies.ts'
import { type FactFile, lineAt, type RepoFacts } from './facts.ts'
import { isIntegration } from './scope.ts'
import { type Signal, signalAt } from './signals.ts'
import { isOwnFile } from './signals-frameworks.ts'
import { serviceKey, storeByWord } from './store-names.ts'

/** Names of packages in all ecosystems, whole. */
const PACKAGES: Readonly<Record<string, string>> = {
  postgres:
    'pg postgres pg-promise @neondatabase/serverless @vercel/postgres @prisma/adapter-pg @mikro-orm/postgresql @payloadcms/db-postgres psycopg psycopg2 psycopg2-binary psycopg-binary asyncpg pg8000 github.com/lib/pq github.com/jackc/pgx github.com/jackc/pgx/v4 github.com/jackc/pgx/v5 gorm.io/driver/postgres tokio-postgres deadpool-postgres org.postgresql:postgresql npgsql npgsql.entityframeworkcore.postgresql postgrex aiopg ext-pgsql ext-pdo_pgsql',
  mysql:
    'mysql mysql2 mariadb @planetscale/database @mikro-orm/mysql pymysql mysqlclient aiomysql asyncmy mysql-connector-python github.com/go-sql-driver/mysql gorm.io/driver/mysql mysql_async com.mysql:mysql-connector-j mysql:mysql-connector-java org.mariadb.jdbc:mariadb-java-client pomelo.entityframeworkcore.mysql mysqlconnector myxql trilogy ext-mysqli ext-pdo_mysql',
  mongodb:
    'mongodb mongoose @nestjs/mongoose @typegoose/typegoose pymongo motor beanie mongoengine djongo mongoid mongo go.mongodb.org/mongo-driver go.mongodb.org/mongo-driver/v2 mongodb.driver mongodb/mongodb mongodb/laravel-mongodb org.springframework.boot:spring-boot-starter-data-mongodb org.springframework.boot:spring-boot-starter-data-mongodb-reactive odmantic org.reactivemongo:reactivemongo com.novemberain:monger',
  redis:
    'redis ioredis @redis/client bull bullmq bee-queue connect-redis @nestjs/bull @nestjs/bullmq redis-py django-redis aioredis rq django-rq arq flask-session sidekiq resque redis-rails hiredis github.com/redis/go-redis/v9 github.com/go-redis/redis github.com/go-redis/redis/v8 github.com/go-redis/redis/v9 github.com/gomodule/redigo github.com/hibiken/asynq deadpool-redis fred stackexchange.redis microsoft.extensions.caching.stackexchangeredis predis/predis laravel/horizon redix org.springframework.boot:spring-boot-starter-data-redis org.springframework.boot:spring-boot-starter-data-redis-reactive redis.clients:jedis io.lettuce:lettuce-core org.redisson:redisson com.taoensso:carmine',
  memcached:
    'memcached memjs pymemcache pylibmc python-memcached dalli github.com/bradfitz/gomemcache enyimmemcachedcore',
  rabbitmq:
    'amqplib amqp-connection-manager rascal pika aio-pika bunny sneakers github.com/rabbitmq/amqp091-go github.com/streadway/amqp lapin rabbitmq.client masstransit.rabbitmq php-amqplib/php-amqplib org.springframework.boot:spring-boot-starter-amqp broadway_rabbitmq com.rabbitmq:amqp-client com.novemberain:langohr',
  kafka:
    'kafkajs node-rdkafka confluent-kafka kafka-python aiokafka ruby-kafka karafka github.com/segmentio/kafka-go github.com/ibm/sarama github.com/shopify/sarama github.com/twmb/franz-go rdkafka confluent.kafka org.springframework.kafka:spring-kafka org.apache.kafka:kafka-clients brod',
  nats: 'nats @nats-io/transport-node nats-py github.com/nats-io/nats.go async-nats nats.net nats.client gnat',
  minio: 'minio github.com/minio/minio-go github.com/minio/minio-go/v7 django-minio-storage io.minio:minio',
  elasticsearch:
    '@elastic/elasticsearch @opensearch-project/opensearch elasticsearch elasticsearch-dsl django-elasticsearch-dsl opensearch-py elasticsearch-model elasticsearch-rails searchkick chewy github.com/elastic/go-elasticsearch/v7 github.com/elastic/go-elasticsearch/v8 github.com/olivere/elastic/v7 nest elastic.clients.elasticsearch org.springframework.boot:spring-boot-starter-data-elasticsearch',
  clickhouse:
    '@clickhouse/client clickhouse clickhouse-driver clickhouse-connect github.com/clickhouse/clickhouse-go/v2 clickhouse.client',
  mqtt: 'mqtt paho-mqtt aiomqtt asyncio-mqtt github.com/eclipse/paho.mqtt.golang rumqttc paho-mqtt mqttnet org.eclipse.paho:org.eclipse.paho.client.mqttv3 php-mqtt/client php-mqtt/laravel-client tortoise emqtt',
  qdrant: '@qdrant/js-client-rest qdrant-client github.com/qdrant/go-client',
  sqlite:
    'better-sqlite3 sqlite3 sqlite @libsql/client @mikro-orm/sqlite aiosqlite github.com/mattn/go-sqlite3 modernc.org/sqlite gorm.io/driver/sqlite github.com/glebarez/sqlite rusqlite org.xerial:sqlite-jdbc microsoft.entityframeworkcore.sqlite microsoft.data.sqlite ecto_sqlite3',
}
const byPackage = new Map<string, string>()
for (const [word, names] of Object.entries(PACKAGES))
  for (const name of names.split(' ')) {
    byPackage.set(name, word)
    // A manifest of the JVM is read by artifact.
    if (/^[\w.]+:[\w.-]+$/.test(name)) byPackage.set(name.split(':')[1] as string, word)
  }

/** Places where a program opens a connection, as calls that have no other meaning. */
const CALLS: readonly (readonly [string, RegExp])[] = [
  [
    'postgres',
    /\b(sql\.Open|sqlx\.(?:Open|Connect|MustConnect|ConnectContext))\(\s*(?:ctx,\s*)?"(?:postgres|pgx|cloudsqlpostgres)"|\bpgxpool\.(?:New|NewWithConfig|Connect|ConnectConfig|ParseConfig)\(|\bpgx\.Connect\(|\bpostgres\.(?:Open|New)\(|\bPg(?:Pool|PoolOptions|ConnectOptions|Connection)\b|\bpsycopg2?\.connect\(|\basyncpg\.(?:connect|create_pool)\(|\bnew\s+(?:pg\.)?Pool\(|\bPGSimpleDataSource\b|\bpgsql:host=|\bpg_connect\(|drizzle-orm\/(?:node-postgres|postgres-js|neon-\w+|pg-core)|\bPostgresDialect\b|@prisma\/adapter-pg|from\s+['"]postgres['"]|\bclient\s*:\s*['"](?:pg|postgres)['"]|scheme=["']postgres/,
  ],
  [
    'mysql',
    /\b(sql\.Open|sqlx\.(?:Open|Connect|MustConnect))\(\s*"mysql"|\bmysql\.(?:Open|New)\(|\bMySql(?:Pool|PoolOptions|ConnectOptions)\b|\bMysqlConnection\b|\b(?:py)?mysql(?:\.connector)?\.connect\(|\bMySQLdb\.connect\(|\bmysql2?\.create(?:Pool|Connection)\(|\bmysqli_connect\(|\bnew\s+mysqli\(|["']mysql:host=|drizzle-orm\/mysql|\bclient\s*:\s*['"]mysql2?['"]|\bMysqlDialect\b/,
  ],
  [
    'mongodb',
    /\bmongoose\.connect\(|\bmongoose\.createConnection\(|\bMongoClient\s*\(|\bMongoClient\.connect\(|\bmongo\.Connect\(|\bMongooseModule\.forRoot|\bAsyncIOMotorClient\(|\bmongoengine\.connect\(|\bMongoClient::with|\bnew\s+MongoClient\(|\bconnect\(\s*process\.env\.MONGO/,
  ],
  [
    'redis',
    /\bredis\.(?:NewClient|NewUniversalClient|NewClusterClient|Redis|StrictRedis|from_url|createClient)\(|\bRedis\.(?:from_url|new)\b|\bnew\s+(?:IO)?Redis\(|\bredis::Client::open|\bConnectionMultiplexer\.Connect|\bAddStackExchangeRedisCache\(|\bcreateClient\(\s*\{\s*(?:url|socket)[^}]*redis|\bnew\s+Predis|\bBullModule\.forRoot|\basynq\.(?:NewClient|NewServer)\(/,
  ],
  [
    'memcached',
    /\bmemcache\.New\(|\bMemcached\.new\b|\bnew\s+Memcached\(|\bDalli::Client\.new|\bpymemcache\b.*Client\(/,
  ],
  [
    'rabbitmq',
    /\bamqp(?:lib)?\.(?:connect|Dial|DialConfig)\(|\bpika\.(?:BlockingConnection|URLParameters|ConnectionParameters)\(|\baio_pika\.connect|\bBunny\.new|\bUsingRabbitMq\(|\bnew\s+AMQPStreamConnection\(/,
  ],
  [
    'kafka',
    /\bnew\s+Kafka\(\s*\{|\bKafka(?:Producer|Consumer)\(|\bAIOKafka(?:Producer|Consumer)\(|\bkafka\.(?:NewReader|NewWriter|NewProducer|NewConsumer)\(|\bsarama\.New|\bProducerBuilder</,
  ],
  ['nats', /\bnats\.Connect\(|\bnats\.connect\(|\basync_nats::connect/],
  ['minio', /\bminio\.New\(|\bnew\s+(?:Minio\.)?Client\(\s*\{\s*endPoint|\bMinio\(\s*$|\bMinioClient\b/],
  [
    'elasticsearch',
    /\b(?:Async)?(?:Elasticsearch|OpenSearch)\(|\belasticsearch\.NewClient\(|\bnew\s+(?:Elasticsearch)?Client\(\s*\{\s*node\b/,
  ],
  ['clickhouse', /\bclickhouse\.(?:Open|OpenDB)\(|\bclickhouse_connect\.|\bclickhouse_driver\b.*Client/],
  ['qdrant', /\b(?:Async)?QdrantClient\s*\(|\bnew\s+QdrantClient\(/],
  [
    'sqlite',
    /\bsql\.Open\(\s*"sqlite3?"|\bknex\/lib\/dialects\/(?:better-)?sqlite3|\bclient\s*:\s*['"](?:better-)?sqlite3['"]|\bsqlite\.Open\(|\bSqlite(?:Pool|PoolOptions|ConnectOptions|Connection)\b|\bsqlite3\.connect\((?!\s*["']:memory:)|\baiosqlite\.connect\(|\bnew\s+(?:Better)?(?:Sqlite|SQLite)\w*\(|\bnew\s+Database\(\s*(?:["'`][\w./-]+\.(?:db|sqlite)|process\.env|path\.|\w*[dD]b\w*\b)|drizzle-orm\/(?:better-sqlite3|libsql|sqlite-core|bun-sqlite|d1)|\bSqliteDialect\b|\brusqlite::Connection::open\b/,
  ],
]

/** Words of a package's name that say it speaks to a server, where no word says that it only stands in for one. */
const CLIENT_WORD =
  /^(redis|valkey|ioredis|memcached|bmemcached|rabbitmq|amqp|kafka|elasticsearch|opensearch|clickhouse|qdrant|mongodb|mongo|mysql|mariadb|postgresql|postgres|sqlite|sqlite3|minio|meilisearch|typesense|neo4j|weaviate|milvus)$/
const STAND_IN =
  /^(mock|mocks|fake|test|tests|testing|testcontainers|memory|embedded|stub|types|exporter|commander|instrumentation|opentelemetry|otel|sentry|datadog|parser|lint|eslint|prettier|lang|language|docs|backup|admin|viewer|emulator)$/

function wordOfPackage(name: string): string | undefined {
  const exact = byPackage.get(name)
  if (exact !== undefined) return exact
  const words = name.split(/[^a-z0-9]+/)
  if (words.some(word => STAND_IN.test(word))) return undefined
  return words
    .find(word => CLIENT_WORD.test(word))
    ?.replace(/^ioredis$/, 'redis')
    .replace(/^bmem/, 'mem')
}

/** So many kinds to choose from are those that a tool can read, of which it needs none. */
const MANY_CHOICES = 4

export function clientSignals(facts: RepoFacts): Signal[] {
  const asked = findDependencies(facts).flatMap(dependency => {
    if (!isOwnFile(dependency.file) || isIntegration(dependency.file)) return []
    return [dependency.name, ...(dependency.extras ?? [])].flatMap(name => {
      const identity = storeByWord(wordOfPackage(name) ?? '')
      return identity === undefined ? [] : [{ dependency, identity }]
    })
  })
  const choices = new Set(asked.filter(one => one.dependency.isChoice).map(one => serviceKey(one.identity)))
  const clients = asked
    .filter(one => !one.dependency.isChoice || choices.size < MANY_CHOICES)
    .map(({ dependency, identity }) =>
      signalAt(facts, dependency, {
        ...identity,
        source: 'manifest',
        weight: 'client',
        why: `${dependency.name} is a dependency`,
      }),
    )
  return [...clients, ...[...facts.files.values()].flatMap(file => callsIn(facts, file))]
}

function callsIn(facts: RepoFacts, file: FactFile): Signal[] {
  if (
    !/\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kts?|cs|fs|php|exs?|scala|clj)$/.test(file.path) ||
    !isOwnFile(file.path)
  )
    return []
  if (/(^|\/)(migrations?|alembic|seeds?)\//.test(file.path) || isIntegration(file.path)) return []
  return CALLS.flatMap(([word, call]) => {
    const match = call.exec(file.text)
    const identity = storeByWord(word)
    if (match === null || identity === undefined) return []
    const start = file.text.lastIndexOf('\n', match.index) + 1
    if (/^\s*(\/\/|#|\*)/.test(file.text.slice(start, match.index + 1))) return []
    const line = lineAt(file.text, match.index)
    return signalAt(
      facts,
      { file: file.path, line },
      { ...identity, source: 'source', weight: 'code', why: `${file.path} connects to it` },
    )
  })
}
