// Which variables the adapters read for the place and the account of a server, and under which names images are given
// the account. Defaults are those of the images themselves.
import type { ServiceKind } from '../stack/images.ts'

export interface AccountRule {
  readonly port: number
  readonly host?: string
  readonly portVariable?: string
  readonly user?: readonly [variable: string, fallback: string | undefined, settings: readonly string[]]
  readonly password?: readonly [variable: string, fallback: string | undefined, settings: readonly string[]]
  readonly fixed?: readonly [variable: string, value: string]
  /** For servers that are addressed by one URL; without a scheme by host and port. */
  readonly url?: readonly [variable: string, scheme: string]
}

export const ACCOUNT_RULES: Partial<Record<ServiceKind, AccountRule>> = {
  postgres: {
    port: 5432,
    host: 'PGHOST',
    portVariable: 'PGPORT',
    user: ['PGUSER', 'postgres', ['POSTGRES_USER', 'POSTGRESQL_USERNAME']],
    password: ['PGPASSWORD', undefined, ['POSTGRES_PASSWORD', 'POSTGRESQL_PASSWORD']],
  },
  mysql: {
    port: 3306,
    host: 'MYSQL_HOST',
    portVariable: 'MYSQL_TCP_PORT',
    // The account that the image makes beside root may not create databases.
    user: ['MYSQL_USER', 'root', []],
    password: ['MYSQL_PWD', undefined, ['MYSQL_ROOT_PASSWORD', 'MARIADB_ROOT_PASSWORD']],
  },
  redis: {
    port: 6379,
    host: 'REDIS_HOST',
    portVariable: 'REDIS_PORT',
    user: ['REDIS_USERNAME', undefined, []],
    password: ['REDISCLI_AUTH', undefined, ['REDIS_PASSWORD', 'VALKEY_PASSWORD']],
  },
  mongodb: {
    port: 27017,
    user: ['', undefined, ['MONGO_INITDB_ROOT_USERNAME', 'MONGODB_ROOT_USER']],
    password: ['', undefined, ['MONGO_INITDB_ROOT_PASSWORD', 'MONGODB_ROOT_PASSWORD']],
    url: ['MONGO_URL', 'mongodb'],
  },
  rabbitmq: {
    port: 5672,
    host: 'RABBITMQ_HOST',
    portVariable: 'RABBITMQ_PORT',
    user: ['RABBITMQ_USER', undefined, ['RABBITMQ_DEFAULT_USER', 'RABBITMQ_USERNAME']],
    password: ['RABBITMQ_PASSWORD', undefined, ['RABBITMQ_DEFAULT_PASS', 'RABBITMQ_PASSWORD']],
  },
  s3: {
    port: 9000,
    user: ['AWS_ACCESS_KEY_ID', 'minioadmin', ['MINIO_ROOT_USER', 'MINIO_ACCESS_KEY']],
    password: ['AWS_SECRET_ACCESS_KEY', 'minioadmin', ['MINIO_ROOT_PASSWORD', 'MINIO_SECRET_KEY']],
    url: ['AWS_ENDPOINT_URL', 'http'],
  },
  elasticsearch: {
    port: 9200,
    password: ['ELASTICSEARCH_PASSWORD', undefined, ['ELASTIC_PASSWORD', 'ELASTICSEARCH_PASSWORD']],
    url: ['ELASTICSEARCH_URL', 'http'],
  },
  clickhouse: {
    port: 8123,
    host: 'CLICKHOUSE_HOST',
    portVariable: 'CLICKHOUSE_HTTP_PORT',
    user: ['CLICKHOUSE_USER', 'default', ['CLICKHOUSE_USER']],
    password: ['CLICKHOUSE_PASSWORD', undefined, ['CLICKHOUSE_PASSWORD']],
    // By HTTP, curl serves; the native port needs ClickHouse's own client.
    fixed: ['CLICKHOUSE_PROTOCOL', 'http'],
  },
  qdrant: { port: 6333, url: ['QDRANT_URL', 'http'] },
  nats: { port: 4222, url: ['NATS_URL', 'nats'] },
  kafka: { port: 9092, url: ['KAFKA_BOOTSTRAP_SERVERS', ''] },
}

/** Where a server of a kind listens inside its container. */
export function containerPort(kind: ServiceKind): number | undefined {
  return ACCOUNT_RULES[kind]?.port
}
