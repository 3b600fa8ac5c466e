// Decides which slices of shared servers an environment takes, and which env keys belong to each.
// What a key is set to is decided in core/init/init-values.ts.
import type { EnvKey } from '../stack/env-keys.ts'
import type { ServiceKind } from '../stack/images.ts'
import type { Stack } from '../stack.ts'

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
/** The first of these is "the database", whose address is `$url`. */
export const MAIN: ReadonlySet<ServiceKind> = new Set<ServiceKind>(['postgres', 'mysql', 'mongodb', 'sqlite'])
const DATABASES = new Set<ServiceKind>(['postgres', 'mysql', 'mongodb'])
/** Number 0 is the main checkout's. */
const INDEX_RANGE = '1-15'

export function planSlices(stack: Stack): Slice[] {
  const required = ADAPTERS.filter(kind =>
    stack.services.some(one => one.kind === kind && one.need === 'required'),
  )
  const main = required.find(kind => MAIN.has(kind))
  return required.flatMap(kind => {
    const keys = stack.envKeys.filter(key => key.service === kind && key.isActive && isSettable(key.key))
    if (kind === 'sqlite' && !keys.some(isFileKey)) return []
    return placesOf(kind, keys).map(({ suffix, keys: own }) => ({
      kind,
      suffix,
      variable: variableOf(kind, suffix),
      allocate: allocationOf(kind, suffix),
      urlVariable: suffix === '' ? (kind === main ? 'url' : `${kind}_url`) : `${suffix}_url`,
      // A file is built as fast as it is copied, and each library would need another path to the template.
      isCloneable: kind !== 'sqlite' && suffix === '' && kind === main,
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
    const place = places.get(suffix)
    if (place === undefined) places.set(suffix, [key])
    else place.push(key)
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
