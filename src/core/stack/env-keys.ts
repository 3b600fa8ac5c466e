// Decides which env keys name a resource of a server: for which kind, which part of its address, in which files they
// are written and read, and whether tests use the same one. Values are only known where facts may hold them.
import { groupBy } from '../group-by.ts'
import { selectorsOf } from './env-choices.ts'
import { type EnvName, type EnvPart, readEnvName } from './env-names.ts'
import { findNativeKeys } from './env-native.ts'
import { type EnvPlace, findEnvPlaces } from './env-reads.ts'
import { findRailsTestUse, findTestUse } from './env-tests.ts'
import type { Evidence, RepoFacts } from './facts.ts'
import type { ServiceKind } from './images.ts'
import { findServices, type Service } from './services.ts'
import { findStoreUrls, keyWords } from './store-names.ts'

export interface EnvKey {
  readonly key: string
  readonly service: ServiceKind
  readonly part: EnvPart
  /** Keys with the same group describe one resource together: `db` for DB_HOST and DB_NAME. */
  readonly group: string
  /** What it is for: tests, and Prisma's shadow, empty what they are given, so they need one of their own. */
  readonly purpose: 'app' | 'test' | 'shadow'
  /** The shape of the value as an example gives it, passwords masked. */
  readonly example: string | undefined
  /** A URL that does not name its database, so that a default of the client or server is used. */
  readonly isIncomplete: boolean
  /** Other keys that stand in the value: `postgres://${DB_USER}@…`. */
  readonly refers: readonly string[]
  /** The service is one that a default run needs, and the key is not only an alternative. */
  readonly isActive: boolean
  /** The key whose value chooses this store among several. */
  readonly chosenBy: string | undefined
  /** Where it is written or read, program text first. */
  readonly places: readonly { readonly how: EnvPlace['how'] | 'framework'; readonly evidence: Evidence }[]
  /** Where tests take the same key: set for a run of the tests it empties what development uses. */
  readonly sharedWithTests: Evidence | undefined
}

const PORT_KIND: Readonly<Record<string, ServiceKind>> = {
  5432: 'postgres',
  3306: 'mysql',
  27017: 'mongodb',
}
const HOW_RANK: readonly EnvPlace['how'][] = ['code', 'settings', 'env-file', 'compose', 'script']
const MAX_PLACES = 8

export function findEnvKeys(facts: RepoFacts, services: readonly Service[] = findServices(facts)): EnvKey[] {
  const byKey = groupBy(findEnvPlaces(facts), ({ key }) => key)
  const required = services.filter(service => service.need === 'required')
  const chosen = choices(facts)
  const database = databaseKind(facts, required, byKey)
  const found: EnvKey[] = []
  for (const [key, places] of byKey) {
    const own = places.filter(place => !place.isTest)
    if (own.length === 0) continue
    const examples = own.flatMap(place => place.value ?? [])
    const example =
      examples.find(value => findStoreUrls(value).length > 0) ??
      examples.find(value => value !== '') ??
      examples[0]
    const name = classify(key, example, database)
    if (name === undefined) continue
    const selector = chosen.get(name.service)
    found.push({
      key,
      service: name.service,
      part: name.part,
      group: name.group,
      purpose: purposeOf(key),
      example: example === '' ? undefined : example,
      isIncomplete: name.part === 'url' && example !== undefined && isIncomplete(example),
      refers: refersOf(example),
      isActive:
        required.some(service => service.kind === name.service) && own.some(place => !place.isCommented),
      chosenBy: selector,
      places: own
        .sort((a, b) => HOW_RANK.indexOf(a.how) - HOW_RANK.indexOf(b.how))
        .slice(0, MAX_PLACES)
        .map(({ how, evidence }) => ({ how, evidence })),
      sharedWithTests: purposeOf(key) === 'app' ? findTestUse(facts, key, name.part, places) : undefined,
    })
  }
  for (const native of findNativeKeys(facts, services))
    if (!found.some(one => one.key === native.key))
      found.push({
        ...native,
        purpose: 'app',
        isIncomplete: native.part === 'url' && native.example !== undefined && isIncomplete(native.example),
        refers: [],
        isActive: required.some(service => service.kind === native.service),
        chosenBy: undefined,
        places: [{ how: 'framework', evidence: native.evidence }],
        sharedWithTests: findRailsTestUse(facts, native.evidence),
      })
  return found.sort(
    (a, b) =>
      a.service.localeCompare(b.service) || a.group.localeCompare(b.group) || a.key.localeCompare(b.key),
  )
}

interface Classified {
  service: ServiceKind
  part: EnvPart
  group: string
}

/** By its value where that is an address, else by its name. */
function classify(
  key: string,
  value: string | undefined,
  database: ServiceKind | undefined,
): Classified | undefined {
  const named = readEnvName(key.replace(PURPOSE, '$1$3').replace(/__+/g, '_').replace(/^_|_$/g, ''))
  const url = value === undefined ? undefined : findStoreUrls(value)[0]
  if (url !== undefined && url.kind !== 'unknown' && url.offset < 8)
    return { service: url.kind, part: 'url', group: groupOf(key, named) }
  if (
    value !== undefined &&
    /^(prisma\+)?file:|^[\w./-]+\.(db|sqlite3?)(\?|$)/.test(value) &&
    /(^|_)(DB|DATABASE|SQLITE)/i.test(key)
  )
    return { service: 'sqlite', part: /^file:/.test(value) ? 'url' : 'path', group: groupOf(key, named) }
  if (named === undefined) return undefined
  const service = named.kind ?? database
  // A file has no host and no user: such a key is that of a choice which a default run does not take.
  if (service === 'sqlite' && named.kind === undefined && /^(host|port|user|password)$/.test(named.part))
    return undefined
  return service === undefined ? undefined : { service, part: named.part, group: named.group }
}

const PURPOSE = /(^|_)(TEST|TESTS|TESTING|SHADOW)(_|$)/i

function purposeOf(key: string): EnvKey['purpose'] {
  const word = PURPOSE.exec(key)?.[2]
  return word === undefined ? 'app' : /shadow/i.test(word) ? 'shadow' : 'test'
}

function groupOf(key: string, named: EnvName | undefined): string {
  return (
    named?.group ??
    keyWords(key)
      .filter(word => !/^(url|uri|dsn)$/.test(word))
      .join('_')
  )
}

/** Which server "the database" is: what is required, else what a neighbouring key says. */
function databaseKind(
  facts: RepoFacts,
  required: readonly Service[],
  byKey: ReadonlyMap<string, readonly EnvPlace[]>,
): ServiceKind | undefined {
  const needed = required
    .map(service => service.kind)
    .filter(kind => /^(postgres|mysql|mongodb|sqlite)$/.test(kind))
  const server = needed.find(kind => kind !== 'sqlite') ?? needed[0]
  if (server !== undefined) return server
  for (const env of facts.envFiles.values())
    for (const { category, chosen } of selectorsOf(env))
      if (category === 'database' && chosen !== undefined) return chosen.kind
  for (const [key, places] of byKey)
    if (/(^|_)(DB|DATABASE)_PORT$/i.test(key))
      return PORT_KIND[places.find(place => place.value !== undefined)?.value ?? '']
  return undefined
}

function choices(facts: RepoFacts): Map<ServiceKind, string> {
  const chosen = new Map<ServiceKind, string>()
  for (const env of facts.envFiles.values())
    for (const selector of selectorsOf(env))
      if (selector.chosen !== undefined) chosen.set(selector.chosen.kind, selector.entry.key)
  return chosen
}

function isIncomplete(value: string): boolean {
  const match = /^[a-z][\w+.:-]*:\/\/(?:[^/?#]*)(\/[^?#]*)?/i.exec(value)
  return match !== null && (match[1] === undefined || match[1] === '/')
}

function refersOf(value: string | undefined): string[] {
  return [...(value ?? '').matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(match => match[1] as string)
}
