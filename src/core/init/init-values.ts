// What an env key is set to for a slice. A value is shell as it stands in a here-document or in double quotes: variables
// of the script in it, and nothing else that the shell would take for its own.
import type { EnvKey } from '../stack/env-keys.ts'
import type { ServiceKind } from '../stack/images.ts'
import type { Slice } from './init-slices.ts'

const DATABASES = new Set<ServiceKind>(['postgres', 'mysql', 'mongodb'])

/** What a key is set to for a slice of a shared server; undefined where nothing of it can be said. */
export function sliceValue(slice: Slice, key: EnvKey): string | undefined {
  const name = `$${slice.variable}`
  if (slice.kind === 'sqlite') return fileValue(key)
  if (key.part === 'prefix') return slice.kind === 'redis' ? undefined : prefixValue(slice, key)
  if (key.part === 'bucket' || key.part === 'vhost' || key.part === 'index' || key.part === 'database')
    return name
  if (key.part === 'url' || key.part === 'hosts') return urlValue(slice, key)
  if (key.part === 'connection') return connectionValue(slice)
  const variable = ACCOUNT[slice.kind]?.[key.part]
  return variable === undefined ? undefined : `$${variable}`
}

/** A topic or collection keeps its own name behind the prefix; NATS joins subjects with a dot. */
function prefixValue(slice: Slice, key: EnvKey): string {
  const joined = slice.kind === 'nats' ? '.' : '-'
  const isWhole = !/prefix|namespace/i.test(key.key) && /^[\w.-]+$/.test(key.example ?? '')
  return `$${slice.variable}${joined}${isWhole ? key.example : ''}`
}

/** The variables of servers.sh and the adapters, by the part of the address they hold. */
const ACCOUNT: Partial<Record<ServiceKind, Partial<Record<EnvKey['part'], string>>>> = {
  postgres: { host: 'PGHOST', port: 'PGPORT', user: 'PGUSER', password: '{PGPASSWORD:-}' },
  mysql: {
    host: 'MYSQL_HOST',
    port: 'MYSQL_TCP_PORT',
    user: '{MYSQL_USER:-root}',
    password: '{MYSQL_PWD:-}',
  },
  redis: { host: 'REDIS_HOST', port: 'REDIS_PORT', password: '{REDISCLI_AUTH:-}' },
  clickhouse: {
    host: 'CLICKHOUSE_HOST',
    port: 'CLICKHOUSE_HTTP_PORT',
    user: '{CLICKHOUSE_USER:-default}',
    password: '{CLICKHOUSE_PASSWORD:-}',
  },
  rabbitmq: {
    host: 'RABBITMQ_HOST',
    port: 'RABBITMQ_PORT',
    user: '{RABBITMQ_USER:-guest}',
    password: '{RABBITMQ_PASSWORD:-guest}',
  },
}

/** Whether an account's variables have to be there, so that servers.sh is needed. */
export function needsAccount(slice: Slice): boolean {
  return slice.keys.some(
    key =>
      ACCOUNT[slice.kind]?.[key.part] !== undefined ||
      key.part === 'connection' ||
      /^jdbc:/.test(key.example ?? ''),
  )
}

function urlValue(slice: Slice, key: EnvKey): string {
  if (slice.kind === 's3') return '${AWS_ENDPOINT_URL:-http://localhost:9000}'
  const own = `$${slice.urlVariable}`
  const example = key.example ?? ''
  const jdbc = /^jdbc:(postgresql|mysql|mariadb):/.exec(example)?.[1]
  if (jdbc !== undefined) return `jdbc:${jdbc}://${address(slice.kind)}/$${slice.variable}`
  const scheme = /^([a-z][\w+.-]*):\/\//i.exec(example)?.[1]
  const query = /\?[^\s#]*$/.exec(example)?.[0]
  const kept =
    query !== undefined &&
    /^\?[\w=&.-]+$/.test(query) &&
    DATABASES.has(slice.kind) &&
    slice.kind !== 'mongodb'
      ? query
      : ''
  const isOther =
    scheme !== undefined &&
    !/^(postgres|postgresql|mysql|mongodb|redis|rediss|amqp|nats|https?|clickhouse)$/i.test(scheme)
  return isOther ? `${scheme}://\${${slice.urlVariable}#*://}${kept}` : `${own}${kept}`
}

function address(kind: ServiceKind): string {
  return kind === 'postgres' ? '$PGHOST:$PGPORT' : '$MYSQL_HOST:$MYSQL_TCP_PORT'
}

/** ADO.NET's form, as Npgsql and the MySQL connectors read it. */
function connectionValue(slice: Slice): string | undefined {
  if (slice.kind === 'postgres')
    return `Host=$PGHOST;Port=$PGPORT;Database=$${slice.variable};Username=$PGUSER;Password=\${PGPASSWORD:-}`
  if (slice.kind === 'mysql')
    return `Server=$MYSQL_HOST;Port=$MYSQL_TCP_PORT;Database=$${slice.variable};User=\${MYSQL_USER:-root};Password=\${MYSQL_PWD:-}`
  if (slice.kind === 'redis') return '$REDIS_HOST:$REDIS_PORT,defaultDatabase=$index'
  return slice.kind === 'mongodb' || slice.kind === 'rabbitmq' ? `$${slice.urlVariable}` : undefined
}

/** Each library writes the URL of a file in its own way; the path is absolute in all of them. */
function fileValue(key: EnvKey): string | undefined {
  const example = key.example ?? ''
  const path = '$PENV_DATA/app.db'
  const query = /\?[\w=&.-]+$/.exec(example)?.[0] ?? ''
  if (/^Data Source=/i.test(example) || key.part === 'connection') return `Data Source=${path}`
  const jdbc = /^jdbc:sqlite:/.exec(example)?.[0]
  if (jdbc !== undefined) return `${jdbc}${path}`
  const slashes = /^(sqlite3?(?:\+\w+)?):\/\/\//.exec(example)
  if (slashes !== null) return `${slashes[1]}:///${path}${query}`
  const scheme = /^((?:prisma\+)?file|sqlite3?|libsql):(\/\/)?/.exec(example)
  if (scheme !== null) return `${scheme[1]}:${scheme[2] ?? ''}${path}${query}`
  if (key.part === 'url') return `file:${path}`
  return key.part === 'path' || key.part === 'database' ? path : undefined
}
