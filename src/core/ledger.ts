// The shape of the ledger: one JSON document for all environments of this machine, and its text form.
// Pure. Fields that this version does not know survive every change.

import { PenvError } from '../errors.ts'

export const LEDGER_VERSION = 1

export type EnvironmentState =
  | 'allocated'
  | 'provisioning'
  | 'ready'
  | 'failed'
  | 'destroying'
  | 'teardown-failed'

export type RunCommand = 'up' | 'verify' | 'down' | 'destroy' | 'bootstrap'

/** A lifecycle command that is executing now: the lock of its environment. */
export interface Run {
  token: string
  command: RunCommand
  /** Options that change what the run does; another run joins only one with the same. */
  flags: string
  pid: number
  /** When the process started, in the kernel's own unit; with the pid it names one process. */
  startTime: string
  bootId: string
  /** Namespace of the pid; empty where the system has none. */
  pidNamespace: string
  host: string
  since: string
}

/** How the last run ended; whoever joined it reads its result here. */
export interface LastRun {
  token: string
  command: RunCommand
  ok: boolean
  endedAt: string
  error?: { code: string; message: string; details?: Record<string, unknown> }
}

export interface IndexAllocation {
  value: number
  pool: string
  range: string
}

export interface EnvironmentRecord {
  id: string
  nonce: string
  /** The repository's common git directory. */
  repo: string
  gitDir: string
  root: string
  branch: string
  state: EnvironmentState
  createdAt: string
  updatedAt: string
  ports: Record<string, number>
  indexes: Record<string, IndexAllocation>
  /** Full name by suffix. */
  names: Record<string, string>
  /** Hash of `.preview/` as the last `up` ran it. */
  scripts?: string
  template?: string
  run?: Run
  lastRun?: LastRun
  /** Teardown has succeeded and only the clean-up behind it is left. */
  tornDown?: true
}

/** A port that was given back, and by whom, so that a stranger does not get it at once. */
export interface ReleasedPort {
  port: number
  id: string
}

export interface Ledger {
  version: number
  environments: Record<string, EnvironmentRecord>
  templates: Record<string, unknown>
  approved: Record<string, string[]>
  released?: ReleasedPort[]
}

export type Parsed = { ledger: Ledger } | { damage: string } | { newerVersion: number }

export function emptyLedger(): Ledger {
  return { version: LEDGER_VERSION, environments: {}, templates: {}, approved: {} }
}

/** Looks a name up as data: `constructor` and `__proto__` are names like any other. */
export function lookUp<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** A copy with `name` set; a computed key makes an own property of any name. */
export function withEntry<T>(table: Readonly<Record<string, T>>, name: string, value: T): Record<string, T> {
  return { ...table, [name]: value }
}

export function withoutEntry<T>(table: Readonly<Record<string, T>>, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(table).filter(([key]) => key !== name))
}

export function recordsOf(ledger: Ledger): EnvironmentRecord[] {
  return Object.values(ledger.environments)
}

/** Reads a revision's text. Says what is wrong with it in place of guessing. */
export function parseLedger(text: string): Parsed {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { damage: text.length === 0 ? 'it is empty' : 'it is not valid JSON' }
  }
  if (!isTable(value)) return { damage: 'it is not a JSON object' }
  const { version } = value
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    return { damage: 'it has no version number' }
  if (version > LEDGER_VERSION) return { newerVersion: version }
  for (const table of ['environments', 'templates', 'approved'])
    if (!isTable(value[table])) return { damage: `"${table}" is not an object` }
  if (value.released !== undefined && !Array.isArray(value.released))
    return { damage: '"released" is not a list' }
  for (const [id, record] of Object.entries(value.environments as Record<string, unknown>)) {
    const damage = findRecordDamage(id, record)
    if (damage !== undefined) return { damage }
  }
  return { ledger: value as unknown as Ledger }
}

export function formatLedger(ledger: Ledger): string {
  return `${JSON.stringify(ledger)}\n`
}

const STRING_FIELDS = ['id', 'nonce', 'repo', 'gitDir', 'root', 'branch', 'state', 'createdAt', 'updatedAt']
const ID = /^[a-z][a-z0-9_]*$/
const TABLE_FIELDS = ['ports', 'indexes', 'names']

function findRecordDamage(id: string, record: unknown): string | undefined {
  if (!isTable(record)) return `record ${id} is not an object`
  for (const field of STRING_FIELDS)
    if (typeof record[field] !== 'string') return `record ${id} has no "${field}"`
  for (const field of TABLE_FIELDS) if (!isTable(record[field])) return `record ${id} has no table "${field}"`
  if (record.id !== id) return `record ${id} calls itself ${String(record.id)}`
  // Ids become parts of paths.
  if (!ID.test(id)) return `record ${id} has an id that is none`
  if (!Object.values(record.ports as object).every(Number.isInteger))
    return `record ${id} has a port that is no number`
  if (!Object.values(record.indexes as object).every(isIndexAllocation))
    return `record ${id} has an index that is none`
  if (!Object.values(record.names as object).every(name => typeof name === 'string'))
    return `record ${id} has a name that is no text`
  for (const field of ['run', 'lastRun'])
    if (record[field] !== undefined && !isTable(record[field])) return `record ${id} has no usable "${field}"`
  return undefined
}

function isIndexAllocation(value: unknown): boolean {
  return isTable(value) && Number.isInteger(value.value) && typeof value.pool === 'string'
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The record of an id that a person typed, or NO_ENVIRONMENT. The id is looked up, never joined to a path. */
export function requireRecord(ledger: Ledger, id: string): EnvironmentRecord {
  const record = lookUp(ledger.environments, id)
  if (record !== undefined) return record
  throw new PenvError({
    code: 'NO_ENVIRONMENT',
    message: `no environment "${id}": the ledger has no record of that id`,
    hint: 'To see the environments, run: penv list',
    details: { id },
  })
}

/** `record` in place of the one with its id, or as a new one. */
export function withRecord(ledger: Ledger, record: EnvironmentRecord): Ledger {
  return { ...ledger, environments: withEntry(ledger.environments, record.id, record) }
}
