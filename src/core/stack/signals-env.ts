// Signals of env examples and committed .env files: addresses of servers, and keys that choose one of several.
// A key of a real .env file says that a server is addressed, never where: its value is not known here.
import { findComposeProjects, isOfAnotherStack } from './compose-standing.ts'
import { type EnvEntry, type EnvFile, isSecretKey, type RepoFacts } from './facts.ts'
import type { ImageIdentity } from './images.ts'
import { scopeOf } from './scope.ts'
import { type Signal, type SignalWeight, signalAt } from './signals.ts'
import { findStoreUrls, keyWords, serviceKey, storeByKey, storeByWord } from './store-names.ts'
import { isLeftOut, readSwitch } from './switches.ts'

export interface Selector {
  readonly category: string
  /** What is chosen; undefined for memory, files and other things that need no server. */
  readonly chosen: ImageIdentity | undefined
  readonly entry: EnvEntry
  readonly file: string
}

export function envSignals(facts: RepoFacts): Signal[] {
  const projects = findComposeProjects(facts)
  return [...facts.envFiles.values()].flatMap(file => {
    if (isOfAnotherStack(facts, file.path, projects))
      return signalsOfEntries(facts, file, 'optional').map(signal => ({
        ...signal,
        weight: 'optional' as const,
        why: `${file.path} belongs to a compose file that is not of the default run`,
      }))
    const scope = scopeOf(file.path.replace(/[.\-_](example|sample|template|dist|defaults?)/gi, ''))
    return scope === 'neutral' || scope === 'development' ? signalsOfEntries(facts, file, 'run') : []
  })
}

/** Signals of keys and values wherever they stand; `chosen` is what a choice among them is worth. */
export function signalsOfEntries(facts: RepoFacts, file: EnvFile, chosen: SignalWeight): Signal[] {
  const selectors = selectorsOf(file)
  const decided = new Set(selectors.map(selector => selector.category))
  const switches = file.entries.flatMap(entry =>
    entry.commented ? [] : readSwitch(keyWords(entry.key), entry.value ?? ''),
  )
  const choices = selectors.flatMap(selector =>
    selector.chosen === undefined
      ? []
      : signalAt(
          facts,
          { file: file.path, line: selector.entry.line },
          {
            ...selector.chosen,
            source: 'selector',
            weight: chosen,
            why: `${selector.entry.key} chooses it`,
            envKeys: [selector.entry.key],
          },
        ),
  )
  const pointers = file.entries.flatMap(entry => {
    const found = pointsAt(entry)
    if (found === undefined || selectors.some(selector => selector.entry === entry)) return []
    return signalAt(
      facts,
      { file: file.path, line: entry.line },
      {
        ...found.identity,
        source: 'env',
        ...(file.kind === 'example' ? {} : { inEffect: true as const }),
        ...(isLeftOut(switches, serviceKey(found.identity), entry.key)
          ? { weight: 'optional', why: `${entry.key} is there, and another key switches it off` }
          : weigh(file, entry, found, selectors, decided)),
        envKeys: [entry.key],
      },
    )
  })
  return [...choices, ...pointers]
}

interface Pointer {
  readonly identity: ImageIdentity
  readonly isUrl: boolean
}

function pointsAt(entry: EnvEntry): Pointer | undefined {
  const url = entry.value === undefined ? undefined : findStoreUrls(entry.value)[0]
  if (url !== undefined) return { identity: { kind: url.kind, product: url.product }, isUrl: true }
  if (
    /^(prisma\+)?file:|\.(db|sqlite3?)(\?|$)/.test(entry.value ?? '') &&
    /(^|_)(DB|DATABASE|SQLITE)(_|$)/i.test(entry.key)
  )
    return { identity: { kind: 'sqlite', product: 'sqlite' }, isUrl: true }
  const byKey = storeByKey(entry.key)
  if (byKey !== undefined) return { identity: byKey, isUrl: false }
  if (
    /(^|_)S3_(ENDPOINT|URL|HOST)|^AWS_(S3_)?ENDPOINT/i.test(entry.key) &&
    /localhost|127\.0\.0\.1|minio|localstack|0\.0\.0\.0/.test(entry.value ?? '')
  )
    return {
      identity: { kind: 's3', product: /localstack|:4566/.test(entry.value ?? '') ? 'localstack' : 'minio' },
      isUrl: true,
    }
  return undefined
}

function weigh(
  file: EnvFile,
  entry: EnvEntry,
  found: Pointer,
  selectors: readonly Selector[],
  decided: ReadonlySet<string>,
): { weight: SignalWeight; why: string } {
  const key = serviceKey(found.identity)
  if (entry.commented) return { weight: 'optional', why: `${entry.key} is commented out` }
  const chosen = selectors.some(
    selector => selector.chosen !== undefined && serviceKey(selector.chosen) === key,
  )
  const category = CATEGORY_OF[key]
  if (!chosen && category !== undefined && category.some(one => decided.has(one)))
    return { weight: 'optional', why: `${entry.key} is there, and another key chooses something else` }
  if (file.kind === 'real') return { weight: 'named', why: `${entry.key} is set` }
  if (entry.value === '') return { weight: 'client', why: `${entry.key} is left empty` }
  return { weight: 'named', why: `${entry.key} points at it` }
}

/** Which choices rule a server in or out: a cache that is "file" needs no Redis. */
const CATEGORY_OF: Readonly<Record<string, readonly string[]>> = {
  postgres: ['database'],
  mysql: ['database'],
  mongodb: ['database'],
  sqlite: ['database'],
  sqlserver: ['database'],
  redis: ['cache', 'queue', 'session', 'broadcast'],
  memcached: ['cache', 'session'],
  rabbitmq: ['queue'],
  kafka: ['queue'],
  nats: ['queue'],
  elasticsearch: ['search'],
  meilisearch: ['search'],
  qdrant: ['vector'],
  weaviate: ['vector'],
  milvus: ['vector'],
  chroma: ['vector'],
  s3: ['storage'],
}
const CATEGORIES: readonly (readonly [string, ReadonlySet<string>])[] = [
  ['vector', new Set(['vector', 'vectordb', 'vectorstore'])],
  ['cache', new Set(['cache'])],
  ['queue', new Set(['queue', 'broker', 'messaging', 'pubsub', 'mq', 'jobs'])],
  ['session', new Set(['session', 'sessions'])],
  ['broadcast', new Set(['broadcast'])],
  ['search', new Set(['search', 'scout'])],
  ['storage', new Set(['storage', 'filesystem', 'objectstorage', 'disk', 'blob', 'upload', 'uploads'])],
  [
    'database',
    new Set([
      'db',
      'database',
      'datasource',
      'sql',
      'sqlsettings',
      'dbms',
      'orm',
      'typeorm',
      'sequelize',
      'knex',
    ]),
  ],
]
const CHOOSER = new Set(
  'type kind driver drivername connection client dialect provider engine backend adapter vendor store system flavor flavour'.split(
    ' ',
  ),
)
const NO_SERVER =
  /^(memory|in-?memory|array|file|files|filesystem|sync|null|none|local|log|cookie|database|db|disk|inline|disabled|false|off|h2|solid|async)$/i

/** Keys that choose: `DB_CONNECTION=mysql`, `VECTOR_STORE=qdrant`, `CACHE_DRIVER=file`. */
export function selectorsOf(file: EnvFile): Selector[] {
  return file.entries.flatMap(entry => {
    if (entry.commented || entry.value === undefined || isSecretKey(entry.key)) return []
    const words = keyWords(entry.key)
    const category = CATEGORIES.find(([, names]) => words.some(word => names.has(word)))?.[0]
    if (category === undefined) return []
    const value = entry.value.split('.').at(-1) as string
    const chosen = storeByWord(value)
    if (chosen === undefined && !NO_SERVER.test(value)) return []
    // `DB=postgres` chooses too; `DB=local` may be the name of a database.
    const isPlain = chosen !== undefined && CATEGORIES.some(([, names]) => names.has(words.at(-1) as string))
    if (!isPlain && !words.some(word => CHOOSER.has(word))) return []
    return [{ category, chosen, entry, file: file.path }]
  })
}
