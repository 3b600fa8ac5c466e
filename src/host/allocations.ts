// Gives an environment its ports, indexes and names, and records them before anybody sees them. Looks at the
// network only for ports that are not recorded yet.

import { setTimeout as delay } from 'node:timers/promises'
import {
  chooseIndex,
  choosePort,
  composeName,
  type Holder,
  holdersOf,
  recordedValue,
  requireInRange,
  withPort,
  withReleased,
} from '../core/allocate.ts'
import type { WorktreePaths } from '../core/identity.ts'
import {
  type EnvironmentRecord,
  type Ledger,
  lookUp,
  recordsOf,
  withEntry,
  withRecord,
} from '../core/ledger.ts'
import { formatRange, type Range, sizeOfRange } from '../core/ranges.ts'
import { PenvError } from '../errors.ts'
import { changeEnvironment } from './environment-changes.ts'
import { type Found, findEnvironment, findWorktreeOf } from './environments.ts'
import type { Here } from './paths.ts'
import { isPortFree } from './ports.ts'

// Another penv that probes a port holds it for a moment, and the last free one must not be missed for that.
const PROBE_ROUNDS = 4
const PROBE_PAUSE_MS = 40

export interface PortOptions {
  /** Undefined: the recorded value whatever it is, else one of the default range. */
  range: Range | undefined
  defaultRange: Range
  renew: boolean
}

/** One port per name, in their order. Errors: POOL_EXHAUSTED, RANGE_MISMATCH, NOT_A_WORKTREE, those of the ledger. */
export async function allocatePorts(
  here: Here,
  names: readonly string[],
  options: PortOptions,
): Promise<number[]> {
  const goal = `allocate port "${names.join('", "')}"`
  const found = await findEnvironment(here)
  const recorded = found.kind === 'environment' && isCurrent(found) ? found.record : undefined
  if (recorded !== undefined && !options.renew) {
    const values = names.map(name => recordedValue(recorded, 'port', name))
    if (values.every(value => value !== undefined))
      return names.map((name, at) => requireInRange('port', name, values[at] as number, options.range))
  }
  const range = options.range ?? options.defaultRange
  const located = pathsOf(found)
  const busy = new Set<number>()
  const free = new Set<number>()
  let rounds = 0
  // Values that --renew gives up; noted at the first commit, so that a repeated transition does not renew twice.
  const dropped = new Map<string, number>()
  for (;;) {
    const outcome = await changeEnvironment(
      here,
      goal,
      (ledger, record) => {
        if (options.renew && dropped.size === 0)
          for (const name of names) dropped.set(name, recordedValue(record, 'port', name) ?? -1)
        return planPorts(ledger, record, { names, range, options, busy, free, dropped })
      },
      located,
    )
    if (outcome.kind === 'done') return outcome.ports
    if (outcome.kind === 'probe') {
      for (const port of outcome.ports) ((await isPortFree(port)) ? free : busy).add(port)
      continue
    }
    if (++rounds >= PROBE_ROUNDS || busy.size === 0)
      throw await poolExhausted(here, 'port', outcome.name, range, '', busy.size)
    await delay(Math.random() * PROBE_PAUSE_MS)
    busy.clear()
    free.clear()
  }
}

function pathsOf(found: Found): WorktreePaths | undefined {
  return found.kind === 'environment' ? found.paths : undefined
}

/** A worktree that has moved must be followed by a commit, even when all values are recorded. */
function isCurrent(found: Extract<Found, { kind: 'environment' }>): boolean {
  return found.paths === undefined || found.paths.root === found.record?.root
}

type PortPlan =
  | { kind: 'done'; ports: number[] }
  | { kind: 'probe'; ports: number[] }
  | { kind: 'exhausted'; name: string }

function planPorts(
  before: Ledger,
  record: EnvironmentRecord,
  plan: {
    names: readonly string[]
    range: Range
    options: PortOptions
    busy: ReadonlySet<number>
    free: ReadonlySet<number>
    dropped: ReadonlyMap<string, number>
  },
): { ledger: Ledger; value: PortPlan } {
  const { names, range, options, busy, free, dropped } = plan
  const wanted = [...new Set(names)].filter(name => {
    const value = recordedValue(record, 'port', name)
    return value === undefined || value === dropped.get(name)
  })
  const gone = wanted.flatMap(name => recordedValue(record, 'port', name) ?? [])
  const isMacOs = process.platform === 'darwin'
  let next = record
  const chosen = new Map<string, number>()
  for (const name of wanted) {
    const taken = new Set(chosen.values())
    const port = choosePort(before, { id: record.id, name, range, busy, isMacOs }, taken)
    if (port === undefined) return { ledger: before, value: { kind: 'exhausted', name } }
    chosen.set(name, port)
    next = withPort(next, name, port)
  }
  const unprobed = [...chosen.values()].filter(port => !free.has(port))
  if (unprobed.length > 0) return { ledger: before, value: { kind: 'probe', ports: unprobed } }
  const ports = names.map(name => {
    const port = recordedValue(next, 'port', name) as number
    return chosen.has(name) ? port : requireInRange('port', name, port, options.range)
  })
  const ledger = chosen.size === 0 ? before : withReleased(withRecord(before, next), record.id, gone)
  return { ledger, value: { kind: 'done', ports } }
}

export interface IndexOptions {
  range: Range | undefined
  pool: string
  renew: boolean
}

/** One index per name, in their order. Errors as for ports; USAGE when a new one has no range. */
export async function allocateIndexes(
  here: Here,
  names: readonly string[],
  options: IndexOptions,
): Promise<number[]> {
  const goal = `allocate index "${names.join('", "')}"`
  const found = await findEnvironment(here)
  const recorded = found.kind === 'environment' && isCurrent(found) ? found.record : undefined
  if (recorded !== undefined && !options.renew) {
    const values = names.map(name => recordedValue(recorded, 'index', name))
    if (values.every(value => value !== undefined))
      return names.map((name, at) => requireInRange('index', name, values[at] as number, options.range))
  }
  const dropped = new Map<string, number>()
  const outcome = await changeEnvironment(
    here,
    goal,
    (ledger, record) => {
      if (options.renew && dropped.size === 0)
        for (const name of names) dropped.set(name, recordedValue(record, 'index', name) ?? -1)
      return planIndexes(ledger, record, names, options, dropped)
    },
    pathsOf(found),
  )
  if ('values' in outcome) return outcome.values
  throw await poolExhausted(here, 'index', outcome.exhausted, options.range as Range, options.pool, 0)
}

function planIndexes(
  before: Ledger,
  record: EnvironmentRecord,
  names: readonly string[],
  { range, pool }: IndexOptions,
  dropped: ReadonlyMap<string, number>,
): { ledger: Ledger; value: { values: number[] } | { exhausted: string } } {
  let next = record
  const taken = new Set<number>()
  const values: number[] = []
  for (const name of names) {
    const recorded = recordedValue(next, 'index', name)
    if (recorded !== undefined && recorded !== dropped.get(name)) {
      values.push(requireInRange('index', name, recorded, range))
      continue
    }
    if (range === undefined)
      throw new PenvError({
        code: 'USAGE',
        message: `index "${name}" is not allocated yet: its first use needs a range`,
        hint: `To allocate it, run: penv get index ${name} 1-15`,
      })
    const value = chooseIndex(before, range, pool, taken)
    if (value === undefined) return { ledger: before, value: { exhausted: name } }
    taken.add(value)
    values.push(value)
    next = { ...next, indexes: withEntry(next.indexes, name, { value, pool, range: formatRange(range) }) }
  }
  return { ledger: next === record ? before : withRecord(before, next), value: { values } }
}

/** One full name per suffix, in their order. */
export async function allocateNames(here: Here, suffixes: readonly string[]): Promise<string[]> {
  const found = await findEnvironment(here)
  const recorded = found.kind === 'environment' && isCurrent(found) ? found.record : undefined
  const known = recorded && suffixes.map(suffix => lookUp(recorded.names, suffix))
  if (known?.every(name => name !== undefined)) return known as string[]
  return changeEnvironment(
    here,
    `name "${suffixes.join('", "')}"`,
    (before, record) => {
      const taken = new Set(recordsOf(before).flatMap(other => Object.values(other.names)))
      let next = record
      const names = suffixes.map(suffix => {
        const name =
          lookUp(next.names, suffix) ?? composeName(suffix, record.id, candidate => taken.has(candidate))
        taken.add(name)
        if (lookUp(next.names, suffix) === undefined)
          next = { ...next, names: withEntry(next.names, suffix, name) }
        return name
      })
      return { ledger: next === record ? before : withRecord(before, next), value: names }
    },
    pathsOf(found),
  )
}

const SHOWN_HOLDERS = 3

async function poolExhausted(
  here: Here,
  kind: 'port' | 'index',
  name: string,
  range: Range,
  pool: string,
  busy: number,
): Promise<PenvError> {
  const found = await findEnvironment(here)
  const ledger = found.kind === 'environment' ? found.ledger : undefined
  const holders = ledger === undefined ? [] : holdersOf(ledger, kind, range, pool)
  const described = holders.map(holder => ({ ...holder, gone: isGone(ledger, holder) }))
  const size = sizeOfRange(range)
  const why = [
    holders.length === size ? `all ${size} are held` : `${holders.length} of ${size} are held`,
    ...(busy > 0 ? [`${busy} are in use by other programs`] : []),
    ...(kind === 'port' && holders.length + busy < size ? ['the rest are refused by browsers'] : []),
  ]
  return new PenvError({
    code: 'POOL_EXHAUSTED',
    message: `no free value for ${kind} "${name}" in ${formatRange(range)}: ${why.join(', ')}`,
    facts: described
      .slice(0, SHOWN_HOLDERS)
      .map(
        ({ id, value, since, root, gone }) =>
          `${value}: ${id}, since ${since.slice(0, 10)}, ${root}${gone ? ' (gone)' : ''}`,
      ),
    hint:
      described.length > 0
        ? 'To release one, run: penv destroy <id>'
        : `To use another range, run: penv get ${kind} ${name} <first>-<last>`,
    details: { name, range: formatRange(range), holders: described, busy },
  })
}

function isGone(ledger: Ledger | undefined, holder: Holder): boolean {
  const record = ledger && lookUp(ledger.environments, holder.id)
  return record !== undefined && findWorktreeOf(record) === undefined
}
