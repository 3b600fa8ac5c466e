// Gives an environment its ports, and records them before anybody sees them. Looks at the network only for ports
// that are not recorded yet: a recorded one may be held by our own server.

import { setTimeout as delay } from 'node:timers/promises'
import { choosePort, recordedValue, requireInRange, withPort, withReleased } from '../core/allocate.ts'
import { type EnvironmentRecord, type Ledger, withRecord } from '../core/ledger.ts'
import type { Range } from '../core/ranges.ts'
import { findRecorded } from './allocations.ts'
import { changeEnvironment } from './environment-changes.ts'
import type { Here } from './paths.ts'
import { poolExhausted } from './pool-exhausted.ts'
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
  const { recorded, located } = await findRecorded(here)
  if (recorded !== undefined && !options.renew) {
    const values = names.map(name => recordedValue(recorded, 'port', name))
    if (values.every(value => value !== undefined))
      return names.map((name, at) => requireInRange('port', name, values[at] as number, options.range))
  }
  const range = options.range ?? options.defaultRange
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
