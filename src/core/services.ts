// Weighs all signals into the services of a repository: which servers it uses, and whether a developer's default
// run needs them. Only what is started, or configured so that the program cannot do without, is required.
import type { ComposePort } from './compose-ports.ts'
import type { Evidence, RepoFacts } from './facts.ts'
import type { ServiceKind } from './images.ts'
import { findMemoryDatabase } from './memory-database.ts'
import { scopeOf } from './scope.ts'
import type { Signal, SignalWeight } from './signals.ts'
import { clientSignals } from './signals-clients.ts'
import { commandSignals } from './signals-commands.ts'
import { composeSignals } from './signals-compose.ts'
import { configurationSignals } from './signals-configuration.ts'
import { defaultSignals } from './signals-defaults.ts'
import { envSignals } from './signals-env.ts'
import { frameworkSignals } from './signals-frameworks.ts'
import { ormSignals } from './signals-orms.ts'
import { settingSignals } from './signals-settings.ts'
import { DATABASES, serviceKey } from './store-names.ts'

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

const STRENGTH: Readonly<Record<SignalWeight, number>> = {
  run: 9,
  fallback: 3,
  named: 3,
  code: 2,
  ci: 2,
  client: 1,
  optional: 0,
}
const MAX_EVIDENCE = 12

export function findServices(facts: RepoFacts): Service[] {
  const signals = [
    ...composeSignals(facts),
    ...frameworkSignals(facts),
    ...ormSignals(facts),
    ...commandSignals(facts),
    ...envSignals(facts),
    ...configurationSignals(facts),
    ...settingSignals(facts),
    ...defaultSignals(facts),
    ...clientSignals(facts),
  ].filter(isOfProgram)
  const groups = new Map<string, Signal[]>()
  for (const signal of signals) {
    const key = serviceKey(signal)
    groups.set(key, [...(groups.get(key) ?? []), signal])
  }
  const required = chooseRequired(groups, findMemoryDatabase(facts) !== undefined)
  return [...groups]
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
  const hasClients = all.some(signal => signal.weight === 'client' || signal.weight === 'code')
  for (const [key, group] of groups) {
    if (required.has(key) || DATABASES.has(key)) continue
    const weights = new Set(group.map(signal => signal.weight))
    // A compose file of the default run that leaves a server out has said that the run does without it.
    if (isStartedBySomebody) continue
    const isUsed = weights.has('code') || weights.has('client') || weights.has('named')
    if (weights.has('fallback') && (isUsed || !hasClients))
      required.set(key, 'production starts it, and the program uses it')
    else if (weights.has('ci') && isUsed && (weights.has('client') || weights.has('code')))
      required.set(key, 'the tests are given one, and the program uses it')
    else if (weights.has('named') && weights.has('code'))
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

/** Of databases an app uses one: what is started or configured, else what most speaks for. */
function chooseDatabases(
  groups: ReadonlyMap<string, readonly Signal[]>,
  required: Map<string, string>,
  isInMemory: boolean,
): void {
  const chosen = [...required.keys()].filter(key => DATABASES.has(key))
  if (isInMemory && chosen.length !== 1) {
    // Several servers beside settings that need none: each is there to be tried.
    for (const key of chosen) required.delete(key)
    return
  }
  dropUnchosen(groups, required)
  const startedServer = chosen.some(
    key =>
      key !== 'sqlite' &&
      groups.get(key)?.some(signal => signal.weight === 'run' && signal.source !== 'framework'),
  )
  // A file is what settings fall back to; where a server is started, that is what the run uses.
  const isExplicitFile = groups
    .get('sqlite')
    ?.some(signal => signal.weight === 'run' && signal.source === 'selector')
  if (startedServer && !isExplicitFile) required.delete('sqlite')
  if (chosen.length > 0) return
  const scores = [...groups]
    .filter(([key]) => DATABASES.has(key))
    .map(([key, group]) => ({ key, score: scoreOf(group) }))
    .sort((a, b) => b.score - a.score)
  const best = scores[0]
  if (best === undefined || best.score < 3) return
  const equals = scores.filter(entry => entry.score === best.score)
  if (equals.length > 1) {
    // Several that nothing decides between: a tool that can use each of them. Only the file needs no server.
    if (equals.some(entry => entry.key === 'sqlite'))
      required.set('sqlite', 'the file that is used where no server is chosen')
    return
  }
  required.set(best.key, 'the program is configured for it, and for no other as clearly')
}

/** Of several relational servers that are started, the one that a key chooses is the one that is used. */
function dropUnchosen(groups: ReadonlyMap<string, readonly Signal[]>, required: Map<string, string>): void {
  const relational = ['postgres', 'mysql', 'sqlite', 'sqlserver', 'oracle'].filter(key => required.has(key))
  const isChosen = (key: string) =>
    groups.get(key)?.some(signal => signal.source === 'selector' && signal.weight === 'run')
  const isConfigured = (key: string) =>
    groups.get(key)?.some(signal => signal.source === 'framework' && signal.weight === 'run')
  if (!relational.some(isChosen)) return
  for (const key of relational)
    if (!isChosen(key) && (key === 'sqlite' || !isConfigured(key))) required.delete(key)
}

function scoreOf(group: readonly Signal[]): number {
  return [...new Set(group.map(signal => signal.weight))].reduce((sum, weight) => sum + STRENGTH[weight], 0)
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
