// Decides which database a default run needs: an app uses one, however many it could use.
// Changes only the map of what is required that it is given.
import type { Signal, SignalWeight } from './signals.ts'
import { DATABASES, RELATIONAL } from './store-names.ts'

export const STRENGTH: Readonly<Record<SignalWeight, number>> = {
  run: 9,
  fallback: 3,
  named: 3,
  code: 2,
  ci: 2,
  client: 1,
  optional: 0,
}

/** Of databases an app uses one: what is started or configured, else what most speaks for. */
export function chooseDatabases(
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
  if (preferFileByDefault(groups, required)) return
  // A file is what settings fall back to; where a server is started, that is what the run uses.
  const isExplicitFile = groups
    .get('sqlite')
    ?.some(signal => signal.weight === 'run' && signal.source === 'selector')
  if (startedServer && !isExplicitFile) required.delete('sqlite')
  if (chosen.length > 0) return
  const candidates = [...groups].filter(
    ([key, group]) => DATABASES.has(key) && group.some(signal => signal.weight !== 'client'),
  )
  const isContested = candidates.length > 1
  const scores = [...groups]
    .filter(([key]) => DATABASES.has(key))
    .map(([key, group]) => ({ key, score: scoreOf(group, isContested) }))
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

/**
 * A dev container is one way to work, and a compose file that starts several databases is there to try each: beside
 * them the program's own default holds, where that is a file.
 */
function preferFileByDefault(
  groups: ReadonlyMap<string, readonly Signal[]>,
  required: Map<string, string>,
): boolean {
  const file = groups.get('sqlite')?.find(signal => signal.source === 'selector' && signal.inEffect)
  const servers = [...required.keys()].filter(key => key !== 'sqlite' && DATABASES.has(key))
  const isOnlyContained = servers.every(key =>
    groups
      .get(key)
      ?.every(signal => signal.weight !== 'run' || signal.evidence.file.includes('.devcontainer/')),
  )
  if (file === undefined || servers.length === 0 || !(isOnlyContained || servers.length > 1)) return false
  for (const key of servers) required.delete(key)
  required.set('sqlite', file.why)
  if (!isOnlyContained) dropToTry(groups, required)
  return true
}

/** Beside databases that are there to be tried, so is what is started and never addressed by default. */
function dropToTry(groups: ReadonlyMap<string, readonly Signal[]>, required: Map<string, string>): void {
  for (const [key, group] of groups) {
    const isOnlyStarted = group.every(signal => signal.weight !== 'run' || signal.source === 'compose')
    const started = new Set(group.filter(one => one.source === 'compose').map(one => one.evidence.file))
    const isAddressed = group.some(
      one => one.weight === 'named' && one.inEffect && !started.has(one.evidence.file),
    )
    if (!DATABASES.has(key) && isOnlyStarted && !isAddressed) required.delete(key)
  }
}

/**
 * Of several relational servers that are started, the one that a key chooses is the one that is used; where no key
 * chooses, those that a program is told of. Where nothing speaks for any, they are there to try each.
 */
function dropUnchosen(groups: ReadonlyMap<string, readonly Signal[]>, required: Map<string, string>): void {
  const has = (key: string, test: (signal: Signal) => boolean | undefined) =>
    groups.get(key)?.some(test) === true
  const started = [...RELATIONAL].filter(key => required.has(key))
  const isConfigured = (key: string) =>
    has(key, signal => signal.source === 'framework' && signal.weight === 'run')
  const isChosen = (key: string) =>
    has(key, signal => signal.source === 'selector' && signal.weight === 'run')
  if (['sqlite', ...started].some(key => required.has(key) && isChosen(key))) {
    for (const key of ['sqlite', ...started])
      if (!isChosen(key) && (key === 'sqlite' || !isConfigured(key))) required.delete(key)
    return
  }
  if (started.length < 2) return
  const isSpokenFor = (key: string) =>
    isConfigured(key) || has(key, signal => signal.isReached || signal.weight === 'named')
  const unclaimed = started.filter(key => !isSpokenFor(key))
  // A program that could use each of them, or so many that it cannot need all.
  const areAlternatives =
    started.length > 2 || unclaimed.every(key => has(key, signal => signal.source !== 'compose'))
  if (areAlternatives) for (const key of unclaimed) required.delete(key)
}

/** What a workflow starts decides only where there is nothing to decide: tests try all that the program can use. */
function scoreOf(group: readonly Signal[], isContested: boolean): number {
  const weights = new Set(group.map(signal => signal.weight))
  if (isContested) weights.delete('ci')
  return [...weights].reduce((sum, weight) => sum + STRENGTH[weight], 0)
}
