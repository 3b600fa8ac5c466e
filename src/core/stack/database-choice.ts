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

/** Of several relational servers that are started, the one that a key chooses is the one that is used. */
function dropUnchosen(groups: ReadonlyMap<string, readonly Signal[]>, required: Map<string, string>): void {
  const relational = ['sqlite', ...RELATIONAL].filter(key => required.has(key))
  const isChosen = (key: string) =>
    groups.get(key)?.some(signal => signal.source === 'selector' && signal.weight === 'run')
  const isConfigured = (key: string) =>
    groups.get(key)?.some(signal => signal.source === 'framework' && signal.weight === 'run')
  if (!relational.some(isChosen)) return
  for (const key of relational)
    if (!isChosen(key) && (key === 'sqlite' || !isConfigured(key))) required.delete(key)
}

/** What a workflow starts decides only where there is nothing to decide: tests try all that the program can use. */
function scoreOf(group: readonly Signal[], isContested: boolean): number {
  const weights = new Set(group.map(signal => signal.weight))
  if (isContested) weights.delete('ci')
  return [...weights].reduce((sum, weight) => sum + STRENGTH[weight], 0)
}
