// Which value an environment gets: ports, indexes and names, and why none is left. Pure: the taken values,
// the busy ports and the starting place are arguments or come from the ledger.

import { createHash } from 'node:crypto'
import { PenvError, usageError } from '../errors.ts'
import { hashOf, slugOf } from './identity.ts'
import {
  type EnvironmentRecord,
  type IndexAllocation,
  type Ledger,
  lookUp,
  recordsOf,
  withEntry,
} from './ledger.ts'
import { formatRange, isInRange, type Range, sizeOfRange } from './ranges.ts'

const NAME = /^[a-z][a-z0-9_]*$/
const NAME_MAX_LENGTH = 40
/** Bytes; tools may append to a name and stay below the 63 that Postgres keeps. */
export const FULL_NAME_MAX_LENGTH = 50
const RELEASED_KEPT = 128

/** Checks the name of a port or an index. */
export function requireName(name: string): string {
  if (!NAME.test(name))
    throw usageError(`"${name}" is not a name: use a-z, 0-9 and _, starting with a letter`)
  if (name.length > NAME_MAX_LENGTH)
    throw usageError(
      `"${name}" is too long for a name: ${name.length} characters, at most ${NAME_MAX_LENGTH}`,
    )
  return name
}

// Ports that browsers refuse: "bad port" of the fetch standard, https://fetch.spec.whatwg.org/#port-blocking.
const REFUSED_BY_BROWSERS = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])
// AirPlay listens on these from macOS 12 on, and comes back after each upgrade.
const TAKEN_BY_MACOS = new Set([5000, 7000])

export interface PortRequest {
  id: string
  name: string
  range: Range
  /** Ports that somebody listens on, as far as they have been looked at. */
  busy: ReadonlySet<number>
  isMacOs: boolean
}

/** The first port for this request, from a place that id and name decide; undefined when none is left. */
export function choosePort(
  ledger: Ledger,
  request: PortRequest,
  alsoTaken: ReadonlySet<number> = new Set(),
): number | undefined {
  const { id, name, range, busy, isMacOs } = request
  const held = heldPorts(ledger)
  const size = sizeOfRange(range)
  const start = startingPlace(`${id}\0${name}`) % size
  const justReleased = new Set(
    (ledger.released ?? []).filter(entry => entry.id !== id).map(entry => entry.port),
  )
  let secondChoice: number | undefined
  for (let step = 0; step < size; step++) {
    const port = range.first + ((start + step) % size)
    if (held.has(port) || busy.has(port) || alsoTaken.has(port)) continue
    if (REFUSED_BY_BROWSERS.has(port) || (isMacOs && TAKEN_BY_MACOS.has(port))) continue
    if (!justReleased.has(port)) return port
    secondChoice ??= port
  }
  return secondChoice
}

function startingPlace(seed: string): number {
  return createHash('sha256').update(seed).digest().readUInt32BE(0)
}

function heldPorts(ledger: Ledger): Set<number> {
  return new Set(recordsOf(ledger).flatMap(record => Object.values(record.ports)))
}

/** A recorded value stands when it lies in the range that is asked for now. */
export function requireInRange(
  kind: 'port' | 'index',
  name: string,
  value: number,
  range: Range | undefined,
): number {
  if (range === undefined || isInRange(value, range)) return value
  throw new PenvError({
    code: 'RANGE_MISMATCH',
    message: `${kind} "${name}" is ${value}, which does not lie in ${formatRange(range)}`,
    hint: `To take another value, run: penv get ${kind} ${name} ${formatRange(range)} --renew`,
    details: { name, value, range: formatRange(range) },
  })
}

/** The pool of an index that does not name one. */
export const DEFAULT_POOL = 'default'

/** A recorded index belongs to one server's numbers: in another pool somebody else may hold the same number. */
export function requireInPool(name: string, allocation: IndexAllocation, pool: string | undefined): void {
  if (pool === undefined || allocation.pool === pool) return
  throw new PenvError({
    code: 'RANGE_MISMATCH',
    message: `index "${name}" is ${allocation.value} of pool "${allocation.pool}", not of pool "${pool}"`,
    hint: `To take another value, run: penv get index ${name} ${allocation.range} --pool ${pool} --renew`,
    details: { name, value: allocation.value, pool: allocation.pool },
  })
}

/** The lowest number of the range that no allocation of this pool holds. */
export function chooseIndex(
  ledger: Ledger,
  range: Range,
  pool: string,
  alsoTaken: ReadonlySet<number> = new Set(),
): number | undefined {
  const held = new Set(
    recordsOf(ledger)
      .flatMap(record => Object.values(record.indexes))
      .filter(allocation => allocation.pool === pool)
      .map(allocation => allocation.value),
  )
  for (let value = range.first; value <= range.last; value++)
    if (!held.has(value) && !alsoTaken.has(value)) return value
  return undefined
}

/**
 * `<suffix>_<id>` in at most 50 bytes. A suffix that had to be changed or cut carries a hash of what it was,
 * so that two suffixes never give one name.
 */
export function composeName(suffix: string, id: string, isTaken: (name: string) => boolean): string {
  const slug = NAME.test(suffix) ? suffix : slugOf(suffix)
  if (slug === '') throw usageError(`"${suffix}" is not a name: it has no letter or digit of a-z and 0-9`)
  const room = FULL_NAME_MAX_LENGTH - id.length - 1
  const exact = `${slug}_${id}`
  if (slug === suffix && slug.length <= room && !isTaken(exact)) return exact
  const hash = hashOf(suffix)
  for (let length = 4; length < room; length++) {
    const head = slug.slice(0, room - length - 1).replace(/_+$/, '')
    const name = `${head === '' ? 'n' : head}_${hash.slice(0, length)}_${id}`
    if (!isTaken(name)) return name
  }
  throw new PenvError({ code: 'BUG', message: `no free name for suffix "${suffix}" of ${id}` })
}

export function toKebab(name: string): string {
  return name.replaceAll('_', '-')
}

export function withPort(record: EnvironmentRecord, name: string, port: number): EnvironmentRecord {
  return { ...record, ports: withEntry(record.ports, name, port) }
}

/** Remembers ports that an environment gave back; the newest `RELEASED_KEPT` of the machine. */
export function withReleased(ledger: Ledger, id: string, ports: readonly number[]): Ledger {
  if (ports.length === 0) return ledger
  const others = (ledger.released ?? []).filter(entry => !ports.includes(entry.port))
  return { ...ledger, released: [...others, ...ports.map(port => ({ port, id }))].slice(-RELEASED_KEPT) }
}

export interface Holder {
  id: string
  root: string
  since: string
  value: number
}

/** Who holds values of a range, oldest first. */
export function holdersOf(ledger: Ledger, kind: 'port' | 'index', range: Range, pool: string): Holder[] {
  return recordsOf(ledger)
    .flatMap(record => {
      const values =
        kind === 'port'
          ? Object.values(record.ports)
          : Object.values(record.indexes)
              .filter(allocation => allocation.pool === pool)
              .map(allocation => allocation.value)
      return values
        .filter(value => isInRange(value, range))
        .map(value => ({ id: record.id, root: record.root, since: record.createdAt, value }))
    })
    .sort((a, b) => a.since.localeCompare(b.since))
}

/** `lookUp` for the three tables of a record, so that callers do not repeat it. */
export function recordedValue(
  record: EnvironmentRecord | undefined,
  kind: 'port' | 'index',
  name: string,
): number | undefined {
  if (record === undefined) return undefined
  return kind === 'port' ? lookUp(record.ports, name) : lookUp(record.indexes, name)?.value
}
