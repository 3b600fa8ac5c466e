// Weighs all signals into the services of a repository: which servers it uses, and whether a developer's default
// run needs them. Only what is started, or configured so that the program cannot do without, is required.
import { groupBy } from '../group-by.ts'
import type { ComposePort } from './compose-ports.ts'
import { chooseDatabases, STRENGTH } from './database-choice.ts'
import type { Evidence, RepoFacts } from './facts.ts'
import type { ServiceKind } from './images.ts'
import { findMemoryDatabase } from './memory-database.ts'
import { scopeOf } from './scope.ts'
import type { Signal } from './signals.ts'
import { clientSignals } from './signals-clients.ts'
import { commandSignals } from './signals-commands.ts'
import { composeSignals } from './signals-compose.ts'
import { configurationSignals } from './signals-configuration.ts'
import { defaultSignals } from './signals-defaults.ts'
import { envSignals } from './signals-env.ts'
import { frameworkSignals } from './signals-frameworks.ts'
import { ormSignals } from './signals-orms.ts'
import { railsSignals } from './signals-rails.ts'
import { readSignals } from './signals-reads.ts'
import { settingSignals } from './signals-settings.ts'
import { DATABASES, RELATIONAL, serviceKey } from './store-names.ts'

export interface Service {
  readonly kind: ServiceKind
  /** mariadb, valkey, redpanda; the software's own name where the kind is unknown. */
  readonly product: string
  /** Its name in the compose file, else its product. */
  readonly name: string
  readonly need: 'required' | 'optional'
  readonly reason: string
  readonly image: string | undefined
  /** How a program reaches it: the keys that point at it, and the ports that are published. */
  readonly envKeys: readonly string[]
  readonly ports: readonly ComposePort[]
  /** The strongest first. */
  readonly evidence: readonly Evidence[]
}

const MAX_EVIDENCE = 12

export function findServices(facts: RepoFacts): Service[] {
  const signals = [
    ...composeSignals(facts),
    ...frameworkSignals(facts),
    ...railsSignals(facts),
    ...ormSignals(facts),
    ...commandSignals(facts),
    ...envSignals(facts),
    ...configurationSignals(facts),
    ...settingSignals(facts),
    ...defaultSignals(facts),
    ...clientSignals(facts),
    ...readSignals(facts),
  ].filter(isOfProgram)
  const groups = groupBy(signals, serviceKey)
  const required = chooseRequired(groups, findMemoryDatabase(facts) !== undefined)
  return [...groups]
    .filter(([key, group]) => !isStrayClient(key, group, required))
    .map(([key, group]) => describe(group, required.get(key)))
    .sort(
      (a, b) => Number(a.need === 'optional') - Number(b.need === 'optional') || a.name.localeCompare(b.name),
    )
}

/** What lies among examples is somebody else's; what lies among tests counts only as what tests are given. */
function isOfProgram(signal: Signal): boolean {
  const scope = scopeOf(signal.evidence.file)
  return scope !== 'aside' && (scope !== 'test' || signal.weight === 'ci' || signal.source === 'compose')
}

/** Beside the database that is needed, the mere client of another one is for imports, for tests, or forgotten. */
function isStrayClient(
  key: string,
  group: readonly Signal[],
  required: ReadonlyMap<string, string>,
): boolean {
  return (
    DATABASES.has(key) &&
    !required.has(key) &&
    [...required.keys()].some(one => DATABASES.has(one)) &&
    group.every(signal => signal.weight === 'client')
  )
}

/** The kinds that a default run needs, each with the reason. */
function chooseRequired(
  groups: ReadonlyMap<string, readonly Signal[]>,
  isInMemory: boolean,
): Map<string, string> {
  const required = new Map<string, string>()
  for (const [key, group] of groups) {
    const run = group.find(signal => signal.weight === 'run')
    if (run !== undefined && !isSwitchedOff(group)) required.set(key, run.why)
  }
  chooseDatabases(groups, required, isInMemory)
  const all = [...groups.values()].flat()
  const isStartedBySomebody = all.some(signal => signal.source === 'compose' && signal.weight === 'run')
  // Tests that are given several databases try all that the program could use.
  const isMatrix = [...RELATIONAL].filter(key => groups.get(key)?.some(one => one.weight === 'ci')).length > 1
  const hasClients = all.some(signal => signal.weight === 'client' || signal.weight === 'code')
  for (const [key, group] of groups) {
    if (required.has(key) || DATABASES.has(key)) continue
    const weights = new Set(group.map(signal => signal.weight))
    // A compose file of the default run that leaves a server out has said that the run does without it.
    if (isStartedBySomebody) continue
    const isInEffect = group.some(signal => signal.weight === 'named' && signal.inEffect)
    const isUsed = weights.has('code') || weights.has('client') || weights.has('named')
    if (weights.has('fallback') && (isUsed || !hasClients))
      required.set(key, 'production starts it, and the program uses it')
    else if (!isMatrix && weights.has('ci') && isUsed && (weights.has('client') || weights.has('code')))
      required.set(key, 'the tests are given one, and the program uses it')
    else if (weights.has('named') && (weights.has('code') || (isInEffect && weights.has('client'))))
      required.set(key, 'the program is told where it is, and connects to it')
  }
  return required
}

/** A command can start it, and the env example has its address commented out: whoever wants it turns it on. */
function isSwitchedOff(group: readonly Signal[]): boolean {
  const runs = group.filter(signal => signal.weight === 'run')
  return (
    runs.every(signal => signal.source === 'command') &&
    group.some(signal => signal.source === 'env' && signal.weight === 'optional') &&
    !group.some(signal => signal.weight === 'named')
  )
}

function describe(group: readonly Signal[], reason: string | undefined): Service {
  const ordered = [...group].sort((a, b) => STRENGTH[b.weight] - STRENGTH[a.weight])
  const first = ordered[0] as Signal
  const named =
    ordered.find(signal => signal.name !== undefined && signal.weight === first.weight) ??
    ordered.find(signal => signal.name !== undefined)
  const places = new Set<string>()
  const evidence = ordered.flatMap(signal => {
    const place = `${signal.evidence.file}:${signal.evidence.line}`
    if (places.has(place)) return []
    places.add(place)
    return signal.evidence
  })
  return {
    kind: first.kind,
    product: first.product,
    name: named?.name ?? first.product,
    need: reason === undefined ? 'optional' : 'required',
    reason: reason ?? (first.weight === 'client' ? 'only a client of it is there' : first.why),
    image: ordered.find(signal => signal.image !== undefined)?.image,
    envKeys: [
      ...new Set(
        ordered
          .filter(signal => signal.weight !== 'optional' || reason === undefined)
          .flatMap(signal => signal.envKeys ?? []),
      ),
    ],
    ports: named?.ports ?? [],
    evidence: evidence.slice(0, MAX_EVIDENCE),
  }
}
