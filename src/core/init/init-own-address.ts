// How a server of an environment's own compose project is addressed: the variables of the adapters with another port,
// and the URL that keys are set to.

import type { ServiceKind } from '../stack/images.ts'
import { containerPort } from './account-rules.ts'
import { mainValue } from './init-account-lines.ts'
import type { OwnProject } from './init-compose.ts'
import type { Slice } from './init-slices.ts'
import type { ComposeServer, ComposeSource } from './init-sources.ts'
import { quoteWord } from './init-text.ts'

export interface OwnAddress {
  readonly kind: ServiceKind
  /** Before servers.sh, which takes what is set. */
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** The same variables as on shared servers, so that keys are set in the same way: only the port is another. */
export function ownAddress(slice: Slice, compose: ComposeSource, plan: OwnProject): OwnAddress | undefined {
  const server = compose.servers.find(one => one.kind === slice.kind)
  const port =
    plan.ports.find(one => one.server === server?.name && one.container === containerPort(slice.kind)) ??
    plan.ports.find(one => one.server === server?.name)
  const none = { kind: slice.kind, before: [], after: [] }
  if (server === undefined || port === undefined) return undefined
  const number = `$${port.name}_port`
  const url = slice.urlVariable
  const named = `${slice.variable}=${databaseOf(slice, server)}`
  switch (slice.kind) {
    case 'postgres':
      return {
        kind: slice.kind,
        before: ['export PGHOST=localhost', `export PGPORT="${number}"`],
        after: [named, `${url}=$(postgres_url "$${slice.variable}")`],
      }
    case 'mysql':
      return {
        kind: slice.kind,
        before: ['export MYSQL_HOST=127.0.0.1', `export MYSQL_TCP_PORT="${number}"`],
        after: [named, `${url}=$(mysql_url "$${slice.variable}")`],
      }
    case 'mongodb':
      return {
        kind: slice.kind,
        before: [],
        after: [
          `export MONGO_URL="${mongoBase(server)}localhost:${number}"`,
          named,
          `${url}=$(mongodb_url "$${slice.variable}")`,
        ],
      }
    case 'redis':
      return {
        kind: slice.kind,
        before: ['export REDIS_HOST=localhost', `export REDIS_PORT="${number}"`],
        after: [
          `${slice.variable}=0`,
          `${url}="redis://\${REDISCLI_AUTH:+:$REDISCLI_AUTH@}$REDIS_HOST:$REDIS_PORT/0"`,
        ],
      }
    case 'rabbitmq':
      return {
        kind: slice.kind,
        before: ['export RABBITMQ_HOST=localhost', `export RABBITMQ_PORT="${number}"`],
        after: [
          `${slice.variable}=/`,
          `${url}="amqp://\${RABBITMQ_USER:-guest}:\${RABBITMQ_PASSWORD:-guest}@$RABBITMQ_HOST:$RABBITMQ_PORT"`,
        ],
      }
    case 's3':
      return {
        kind: slice.kind,
        before: [`export AWS_ENDPOINT_URL="http://localhost:${number}"`],
        after: [],
      }
    case 'clickhouse':
      return {
        kind: slice.kind,
        before: ['export CLICKHOUSE_HOST=localhost', `export CLICKHOUSE_HTTP_PORT="${number}"`],
        after: [named, `${url}=http://localhost:${number}`],
      }
    case 'kafka':
      return { ...none, after: [`${url}=localhost:${number}`] }
    default:
      return { ...none, after: [`${url}=${slice.kind === 'nats' ? 'nats' : 'http'}://localhost:${number}`] }
  }
}

/** The database that the image makes; else the one that the app's key names. */
function databaseOf(slice: Slice, server: ComposeServer): string {
  const setting = [
    'POSTGRES_DB',
    'POSTGRESQL_DATABASE',
    'MYSQL_DATABASE',
    'MARIADB_DATABASE',
    'MONGO_INITDB_DATABASE',
    'POSTGRES_USER',
  ]
    .map(name => server.settings.get(name))
    .find(one => one !== undefined)
  if (slice.suffix === '' && setting?.variable !== undefined)
    return mainValue(setting.variable, setting.value || 'app')
  const example = slice.keys
    .map(key => /^[a-z][\w+.:-]*:\/\/[^/?#]*\/([\w-]+)/i.exec(key.example ?? '')?.[1])
    .find(one => one !== undefined)
  return quoteWord((slice.suffix === '' ? setting?.value || example : example) || 'app')
}

function mongoBase(server: ComposeServer): string {
  const user = server.settings.get('MONGO_INITDB_ROOT_USERNAME')
  const password = server.settings.get('MONGO_INITDB_ROOT_PASSWORD')
  const plain = (setting: typeof user) =>
    setting === undefined
      ? undefined
      : setting.variable === undefined
        ? encodeURIComponent(setting.value)
        : mainValue(setting.variable, setting.value)
  return user === undefined ? 'mongodb://' : `mongodb://${plain(user)}:${plain(password) ?? ''}@`
}
