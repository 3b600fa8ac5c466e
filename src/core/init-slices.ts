// Decides which slices of shared servers an environment takes, and what each env key is set to. A value is shell as it
// stands in a here-document: variables of the script in it, everything else escaped.
import type { EnvKey } from './env-keys.ts'
import type { ServiceKind } from './images.ts'
import type { Stack } from './stack.ts'

export interface Slice {
  readonly kind: ServiceKind
  /** "" for the first of its kind; else what the second database is for. */
  readonly suffix: string
  /** The shell variable that holds its name or index. */
  readonly variable: string
  /** The command that allocates it; undefined for a file, whose name is always the same. */
  readonly allocate: string | undefined
  readonly urlVariable: string
  /** New environments can clone it from a template. */
  readonly isCloneable: boolean
  readonly keys: readonly EnvKey[]
}

export const ADAPTERS: readonly ServiceKind[] = [
  'postgres',
  'mysql',
  'mongodb',
  'sqlite',
  'clickhouse',
  'redis',
  'rabbitmq',
  'kafka',
  'nats',
  's3',
  'elasticsearch',
  'qdrant',
]
const CLONEABLE = new Set<ServiceKind>(['postgres', 'mysql', 'mongodb', 'sqlite'])
const DATABASES = new Set<ServiceKind>(['postgres', 'mysql', 'mongodb'])
/** Number 0 is the main checkout's. */
const INDEX_RANGE = '1-15'

export function planSlices(stack: Stack): Slice[] {
  const required = ADAPTERS.filter(kind =>
    stack.services.some(one => one.kind === kind && one.need === 'required'),
  )
  const main = required.find(kind => CLONEABLE.has(kind))
  return required.flatMap(kind => {
    const keys = stack.envKeys.filter(key => key.service === kind && key.isActive && isSettable(key.key))
    if (kind === 'sqlite' && !keys.some(isFileKey)) return []
    return placesOf(kind, keys).map(({ suffix, keys: own }) => ({
      kind,
      suffix,
      variable: variableOf(kind, suffix),
      allocate: allocationOf(kind, suffix),
      urlVariable: suffix === '' ? (kind === main ? 'url' : `${kind}_url`) : `${suffix}_url`,
      isCloneable: CLONEABLE.has(kind) && suffix === '' && kind === main,
      keys: own,
    }))
  })
}

/** What a shell can hold as a variable. */
export function isSettable(key: string): boolean {
  return /^[A-Za-z_]\w*$/.test(key)
}

/** A file that a key names can be moved; one that only the program names lies in its worktree anyway. */
export function isFileKey(key: EnvKey): boolean {
  return key.part === 'url' || key.part === 'path' || key.part === 'database'
}

function variableOf(kind: ServiceKind, suffix: string): string {
  if (kind === 'redis') return suffix === '' ? 'index' : `${suffix}_index`
  if (kind === 's3') return 'bucket'
  if (kind === 'sqlite') return 'file'
  return suffix === '' ? 'name' : `${suffix}_name`
}

function allocationOf(kind: ServiceKind, suffix: string): string | undefined {
  if (kind === 'sqlite') return undefined
  if (kind === 'redis') return `penv get index ${suffix === '' ? 'redis' : suffix} ${INDEX_RANGE}`
  if (kind === 's3') return 'penv get name preview --style kebab'
  return `penv get name ${suffix === '' ? 'preview' : suffix}`
}

/** Keys whose examples name different databases or indexes of one server need a slice each. */
function placesOf(kind: ServiceKind, keys: readonly EnvKey[]): { suffix: string; keys: EnvKey[] }[] {
  const places = new Map<string, EnvKey[]>()
  const splits = DATABASES.has(kind) || kind === 'redis'
  let first: string | undefined
  for (const key of keys) {
    const isOfApp = key.purpose === 'app'
    const named = isOfApp && splits ? placeNamed(kind, key) : undefined
    first ??= named
    const suffix = isOfApp
      ? named === undefined || named === first
        ? ''
        : suffixOf(kind, named, key)
      : key.purpose
    places.set(suffix, [...(places.get(suffix) ?? []), key])
  }
  if (!places.has('')) places.set('', [])
  return [...places]
    .map(([suffix, own]) => ({ suffix, keys: own }))
    .sort((a, b) => a.suffix.length - b.suffix.length)
}

function placeNamed(kind: ServiceKind, key: EnvKey): string | undefined {
  const example = key.example ?? ''
  if (key.part === 'database' || key.part === 'index') return /^[\w-]+$/.test(example) ? example : undefined
  if (key.part !== 'url') return undefined
  const place = /^[a-z][\w+.:-]*:\/\/[^/?#]*\/([\w-]+)(?:[?#]|$)/i.exec(example)?.[1]
  return kind === 'redis' && place !== undefined && !/^\d+$/.test(place) ? undefined : place
}

/** What an allocation may be called; a number of Redis is named after the key that asks for it. */
function suffixOf(kind: ServiceKind, named: string, key: EnvKey): string {
  const words =
    kind === 'redis'
      ? `redis_${key.key.toLowerCase().replace(/_?(redis|url|uri|db|index)_?/g, '_')}`
      : named.toLowerCase()
  const clean = words
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 30)
  return /^[a-z]/.test(clean) && clean !== 'preview' ? clean : `db_${clean}`
}

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
