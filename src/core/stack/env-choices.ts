// Finds the keys of env files that choose one of several servers, and the examples of which one is to be taken.
import { type EnvEntry, type EnvFile, folderOf, isSecretKey, type RepoFacts } from './facts.ts'
import type { ImageIdentity } from './images.ts'
import { keyWords, serviceKey, storeByWord } from './store-names.ts'

export interface Selector {
  readonly category: string
  /** What is chosen; undefined for memory, files and other things that need no server. */
  readonly chosen: ImageIdentity | undefined
  readonly entry: EnvEntry
  readonly file: string
}

/** Which choices rule a server in or out: a cache that is "file" needs no Redis. */
export const CATEGORY_OF: Readonly<Record<string, readonly string[]>> = {
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

/** Whether another example of the same folder chooses differently by the same key: one of them is to be taken. */
export function isOneOfSeveral(facts: RepoFacts, file: EnvFile): boolean {
  if (file.kind !== 'example') return false
  const own = selectorsOf(file)
  const differs = (ours: Selector, theirs: Selector) =>
    ours.entry.key === theirs.entry.key &&
    ours.chosen !== undefined &&
    theirs.chosen !== undefined &&
    serviceKey(ours.chosen) !== serviceKey(theirs.chosen)
  return [...facts.envFiles.values()].some(
    other =>
      other !== file &&
      other.kind === 'example' &&
      folderOf(other.path) === folderOf(file.path) &&
      selectorsOf(other).some(theirs => own.some(ours => differs(ours, theirs))),
  )
}
