import { describe, expect, it } from 'vitest'
import { identifyImage, imagePath } from '../../src/core/stack/images.ts'

const identify = (image: string) => {
  const found = identifyImage(image)
  return found === undefined
    ? undefined
    : found.kind === found.product
      ? found.kind
      : `${found.kind}:${found.product}`
}

describe('the name of an image', () => {
  it.each([
    ['postgres', 'postgres'],
    ['postgres:16@sha256:abc', 'postgres'],
    ['localhost:5000/team/postgres:16', 'team/postgres'],
    ['docker.elastic.co/elasticsearch/elasticsearch:8.13.0', 'elasticsearch/elasticsearch'],
    ['ghcr.io/acme/app', 'acme/app'],
    ['library/redis:7', 'library/redis'],
    ['', ''],
  ])('is read without registry, tag and digest: %s', (image, path) => {
    expect(imagePath(image)).toBe(path)
  })

  it.each([
    ['postgres:16-alpine', 'postgres'],
    ['docker.io/bitnami/postgresql:16', 'postgres'],
    ['postgis/postgis:16-3.4', 'postgres'],
    ['pgvector/pgvector:pg16', 'postgres'],
    ['timescale/timescaledb:latest-pg16', 'postgres'],
    ['timescale/timescaledb-ha:pg16', 'postgres'],
    ['supabase/postgres:15.1.0.147', 'postgres'],
    ['tensorchord/pgvecto-rs:pg16-v0.2.0', 'postgres'],
    ['acme/postgres-15-plv8', 'postgres'],
    ['ghcr.io/immich-app/postgres:14-vectorchord0.4.3', 'postgres'],
    ['mysql/mysql-server:8.0', 'mysql'],
    ['mariadb:11', 'mysql:mariadb'],
    ['lscr.io/linuxserver/mariadb', 'mysql:mariadb'],
    ['percona/percona-server:8.0', 'mysql:percona'],
    ['percona/percona-server-mongodb:7.0', 'mongodb'],
    ['mongo:7', 'mongodb'],
    ['mongodb/mongodb-atlas-local', 'mongodb'],
    ['redis/redis-stack:latest', 'redis'],
    ['valkey/valkey:8', 'redis:valkey'],
    ['eqalpha/keydb', 'redis:keydb'],
    ['docker.dragonflydb.io/dragonflydb/dragonfly', 'redis:dragonfly'],
    ['memcached:1.6', 'memcached'],
    ['rabbitmq:3-management-alpine', 'rabbitmq'],
    ['apache/kafka:3.7.0', 'kafka'],
    ['confluentinc/cp-kafka:7.6.0', 'kafka'],
    ['bitnami/kafka', 'kafka'],
    ['docker.redpanda.com/redpandadata/redpanda:v24.1.1', 'kafka:redpanda'],
    ['nats:2-alpine', 'nats'],
    ['quay.io/minio/minio:RELEASE.2024', 's3:minio'],
    ['localstack/localstack', 's3:localstack'],
    ['docker.elastic.co/elasticsearch/elasticsearch:8.13.0', 'elasticsearch'],
    ['opensearchproject/opensearch:2', 'elasticsearch:opensearch'],
    ['clickhouse/clickhouse-server:24', 'clickhouse'],
    ['qdrant/qdrant', 'qdrant'],
    ['axllent/mailpit', 'mail:mailpit'],
    ['mailhog/mailhog', 'mail:mailhog'],
    ['maildev/maildev', 'mail:maildev'],
    ['mcr.microsoft.com/mssql/server:2022-latest', 'unknown:sqlserver'],
    ['getmeili/meilisearch:v1.8', 'unknown:meilisearch'],
  ])('says which server it holds: %s', (image, kind) => {
    expect(identify(image)).toBe(kind)
  })

  it.each([
    'quay.io/prometheuscommunity/postgres-exporter',
    'oliver006/redis_exporter',
    'rediscommander/redis-commander',
    'redis/redisinsight',
    'dpage/pgadmin4',
    'mongo-express',
    'docker.elastic.co/kibana/kibana',
    'opensearchproject/opensearch-dashboards',
    'provectuslabs/kafka-ui',
    'confluentinc/cp-schema-registry',
    'confluentinc/cp-kafka-connect',
    'confluentinc/cp-zookeeper',
    'docker.redpanda.com/redpandadata/console',
    'natsio/nats-box',
    'minio/mc',
    'prodrigestivill/postgres-backup-local',
    'edoburu/pgbouncer',
    'supabase/postgres-meta',
    'postgrest/postgrest',
    'bitnami/minio-client',
    'phpmyadmin',
    'adminer:4',
    'clickhouse/clickhouse-keeper',
    'node:20',
    'ghcr.io/acme/redis-api:latest',
    'mysqld-exporter',
    '',
    '::::',
    '/',
  ])('tells what only works beside a server, or is none: %s', image => {
    expect(identifyImage(image)).toBeUndefined()
  })
})
