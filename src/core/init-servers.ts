// Composes servers.sh: where the shared servers are and with which account, in the variables that the adapters read.
// The caller's environment goes first, then what the compose file or the env example says. No value is ever guessed.
import type { EnvKey } from './env-keys.ts'
import type { ServiceKind } from './images.ts'
import type { ComposeServer, InitSources, Setting } from './init-sources.ts'

export interface ServerLines {
  /** Assignments, each a line of shell. */
  readonly lines: readonly string[]
  readonly variables: readonly string[]
  readonly questions: readonly string[]
}

interface Rule {
  readonly port: number
  readonly host?: string
  readonly portVariable?: string
  readonly user?: readonly [variable: string, fallback: string | undefined, settings: readonly string[]]
  readonly password?: readonly [variable: string, fallback: string | undefined, settings: readonly string[]]
  /** For servers that are addressed by one URL. */
  readonly url?: readonly [variable: string, scheme: string]
}

const RULES: Partial<Record<ServiceKind, Rule>> = {
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
    user: ['CLICKHOUSE_USER', undefined, ['CLICKHOUSE_USER']],
    password: ['CLICKHOUSE_PASSWORD', undefined, ['CLICKHOUSE_PASSWORD']],
  },
  qdrant: { port: 6333, url: ['QDRANT_URL', 'http'] },
  nats: { port: 4222, url: ['NATS_URL', 'nats'] },
  kafka: { port: 9092 },
}

/** Where a server of a kind listens inside its container. */
export function containerPort(kind: ServiceKind): number | undefined {
  return RULES[kind]?.port
}

/** What an env example says of a server: `postgres://app:***@localhost:5433/app`. */
interface Address {
  readonly user: string | undefined
  readonly hasPassword: boolean
  readonly host: string | undefined
  readonly port: number | undefined
}

export function serverLines(
  kind: ServiceKind,
  server: ComposeServer | undefined,
  keys: readonly EnvKey[],
  sources: InitSources,
): ServerLines {
  const rule = RULES[kind]
  if (rule === undefined) return { lines: [], variables: [], questions: [] }
  const address = server === undefined ? addressOf(kind, keys, sources) : undefined
  const port =
    server === undefined
      ? address?.port
      : hostPort(server, server.product === 'localstack' ? 4566 : rule.port)
  const user = settingFor(server, rule.user?.[2])
  const password = settingFor(server, rule.password?.[2]) ?? requirePass(kind, server)
  const lines: string[] = []
  const variables: string[] = []
  const questions: string[] = []
  const set = (variable: string, value: string) => {
    lines.push(`${variable}=\${${variable}:-${value}}`)
    variables.push(variable)
  }
  const shownPort = port ?? rule.port
  if (rule.url !== undefined) {
    const [variable, scheme] = rule.url
    const login = kind === 'mongodb' && user !== undefined ? `${inUrl(user)}:${inUrl(password)}@` : ''
    const query = login === '' ? '' : '/?authSource=admin'
    if (shownPort !== rule.port || login !== '' || kind === 's3')
      set(variable, `${scheme}://${login}localhost:${shownPort}${query}`)
  } else {
    const host = address?.host
    if (rule.host !== undefined && (host !== undefined || lines.length === 0))
      set(rule.host, host ?? (kind === 'mysql' ? '127.0.0.1' : 'localhost'))
    if (rule.portVariable !== undefined) set(rule.portVariable, String(shownPort))
  }
  if (rule.user !== undefined && rule.user[0] !== '') {
    const known =
      user === undefined
        ? (address?.user ??
          (server === undefined ? undefined : server.product === 'localstack' ? 'test' : rule.user[1]))
        : shellValue(user, rule.user[1])
    if (known !== undefined) set(rule.user[0], known)
    else if (kind === 'postgres') set('PGUSER', '$(id -un)')
  }
  if (rule.password !== undefined && rule.password[0] !== '') {
    const usual = server?.product === 'localstack' ? 'test' : rule.password[1]
    if (password !== undefined) set(rule.password[0], shellValue(password, usual))
    else if (server !== undefined && usual !== undefined) set(rule.password[0], usual)
    else if (address?.hasPassword === true)
      questions.push(
        `which password does ${address.user ?? 'the account'} have on the shared ${kind} server, for ${rule.password[0]}`,
      )
  }
  if (kind === 'rabbitmq' && server !== undefined) {
    const management = hostPort(server, 15672)
    if (management !== undefined && management !== 15672)
      set('RABBITMQ_MANAGEMENT_URL', `http://localhost:${management}`)
  }
  return { lines, variables, questions }
}

/** Whether the lines say anything that the adapter would not do by itself. */
export function isPlain(kind: ServiceKind, { lines }: ServerLines): boolean {
  const plain: Partial<Record<ServiceKind, RegExp>> = {
    redis: /^REDIS_(HOST|PORT)=\$\{\w+:-(localhost|6379)\}$/,
    rabbitmq: /^RABBITMQ_(HOST|PORT)=\$\{\w+:-(localhost|5672)\}$/,
    clickhouse: /^CLICKHOUSE_HOST=\$\{\w+:-localhost\}$/,
  }
  return lines.every(line => plain[kind]?.test(line) === true)
}

function settingFor(
  server: ComposeServer | undefined,
  names: readonly string[] | undefined,
): Setting | undefined {
  return (names ?? []).map(name => server?.settings.get(name)).find(one => one !== undefined)
}

/** `redis-server --requirepass secret` and `--requirepass ${REDIS_PASSWORD}`. */
function requirePass(kind: ServiceKind, server: ComposeServer | undefined): Setting | undefined {
  if (kind !== 'redis') return undefined
  const word = /--requirepass\s+["']?([^\s"']+)/.exec(server?.command ?? '')?.[1]
  return word === undefined || word.startsWith('$') ? undefined : { variable: undefined, value: word }
}

function shellValue(setting: Setting | undefined, fallback: string | undefined): string {
  if (setting === undefined) return fallback ?? ''
  if (setting.variable === undefined) return quoteDefault(setting.value)
  const given = setting.value ?? fallback
  return `$(of_main ${setting.variable}${given === undefined ? '' : ` ${quoteWord(given)}`})`
}

function inUrl(setting: Setting | undefined): string {
  const isLiteral = setting !== undefined && setting.variable === undefined
  return isLiteral ? encodeURIComponent(setting.value) : shellValue(setting, undefined)
}

/** The port of the host behind which a container's port lies. */
export function hostPort(server: ComposeServer, container: number): number | undefined {
  const port = server.ports.find(one => one.container === container)
  return typeof port?.host === 'number' ? port.host : undefined
}

function addressOf(kind: ServiceKind, keys: readonly EnvKey[], sources: InitSources): Address | undefined {
  const own = keys.filter(key => key.service === kind && key.isActive)
  const url = own.find(key => key.part === 'url' && /:\/\//.test(key.example ?? ''))?.example
  const match =
    url === undefined
      ? null
      : /^[a-z][\w+.:-]*:\/\/(?:([^:@/]*)(:[^@/]*)?@)?(\[[^\]]*\]|[^:/?#]*)(?::(\d+))?/i.exec(url)
  const exampleOf = (part: EnvKey['part']) => {
    const key = own.find(one => one.part === part)?.key
    return sources.examples.find(one => one.key === key)?.value || undefined
  }
  const plain = (text: string | undefined) =>
    text !== undefined && /^[\w.-]+$/.test(text) ? text : undefined
  const port = match?.[4] ?? exampleOf('port')
  return {
    user: plain(match?.[1] || undefined) ?? plain(exampleOf('user')),
    hasPassword: match?.[2] !== undefined && match[2] !== ':',
    host: plain(match?.[3] || undefined) ?? plain(exampleOf('host')),
    port: port === undefined || !/^\d+$/.test(port) ? undefined : Number(port),
  }
}

/** A literal inside `${X:-…}`. */
function quoteDefault(text: string): string {
  return /^[\w.@%+,:/-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

function quoteWord(text: string): string {
  return text === '' ? "''" : quoteDefault(text)
}
