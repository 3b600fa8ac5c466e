// Gives an environment its indexes and names, and records them before anybody sees them.

import { chooseIndex, composeName, DEFAULT_POOL, requireInPool, requireInRange } from '../core/allocate.ts'
import type { WorktreePaths } from '../core/identity.ts'
import {
  type EnvironmentRecord,
  type Ledger,
  lookUp,
  recordsOf,
  withEntry,
  withRecord,
} from '../core/ledger.ts'
import { formatRange, type Range } from '../core/ranges.ts'
import { PenvError } from '../errors.ts'
import { changeEnvironment } from './environment-changes.ts'
import { findEnvironment } from './environments.ts'
import type { Here } from './paths.ts'
import { poolExhausted } from './pool-exhausted.ts'

/**
 * What is on record here, and where; nothing where it has to be looked at again under a commit: a worktree that
 * has moved must be followed, even when all values are recorded.
 */
export async function findRecorded(
  here: Here,
): Promise<{ recorded: EnvironmentRecord | undefined; located: WorktreePaths | undefined }> {
  const found = await findEnvironment(here)
  if (found.kind !== 'environment') return { recorded: undefined, located: undefined }
  const { paths, record } = found
  const isCurrent = paths === undefined || paths.root === record?.root
  return { recorded: isCurrent ? record : undefined, located: paths }
}

export interface IndexOptions {
  range: Range | undefined
  /** Undefined: the recorded one's, else the default. */
  pool: string | undefined
  renew: boolean
}

/** One index per name, in their order. Errors as for ports; USAGE when a new one has no range. */
export async function allocateIndexes(
  here: Here,
  names: readonly string[],
  options: IndexOptions,
): Promise<number[]> {
  const goal = `allocate index "${names.join('", "')}"`
  const { recorded, located } = await findRecorded(here)
  if (recorded !== undefined && !options.renew) {
    const values = names.map(name => recordedIndex(recorded, name, options))
    if (values.every(value => value !== undefined)) return values
  }
  const dropped = new Map<string, number>()
  const outcome = await changeEnvironment(
    here,
    goal,
    (ledger, record) => {
      if (options.renew && dropped.size === 0)
        for (const name of names) dropped.set(name, lookUp(record.indexes, name)?.value ?? -1)
      return planIndexes(ledger, record, names, options, dropped)
    },
    located,
  )
  if ('values' in outcome) return outcome.values
  throw await poolExhausted(
    here,
    'index',
    outcome.exhausted,
    options.range as Range,
    options.pool ?? DEFAULT_POOL,
    0,
  )
}

/** Errors: RANGE_MISMATCH where range or pool are others than asked for. */
function recordedIndex(record: EnvironmentRecord, name: string, options: IndexOptions): number | undefined {
  const allocation = lookUp(record.indexes, name)
  if (allocation === undefined) return undefined
  requireInPool(name, allocation, options.pool)
  return requireInRange('index', name, allocation.value, options.range)
}

function planIndexes(
  before: Ledger,
  record: EnvironmentRecord,
  names: readonly string[],
  options: IndexOptions,
  dropped: ReadonlyMap<string, number>,
): { ledger: Ledger; value: { values: number[] } | { exhausted: string } } {
  const { range, pool = DEFAULT_POOL } = options
  let next = record
  const taken = new Set<number>()
  const values: number[] = []
  for (const name of names) {
    const isDropped = lookUp(next.indexes, name)?.value === dropped.get(name)
    const recorded = isDropped ? undefined : recordedIndex(next, name, options)
    if (recorded !== undefined) {
      values.push(recorded)
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
  const { recorded, located } = await findRecorded(here)
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
    located,
  )
}
