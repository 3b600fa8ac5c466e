// Begins and ends runs. A run is recorded in the ledger before its first script starts, and that record is the
// lock of the environment: alive is decided by pid and start time, never by a clock.

import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type EnvironmentRecord,
  type EnvironmentState,
  type LastRun,
  type Ledger,
  lookUp,
  type Run,
  type RunCommand,
  withRecord,
} from '../core/ledger.ts'
import { decideLiveness, formatAge, stateAfterDeath } from '../core/runs.ts'
import { PenvError } from '../errors.ts'
import { readLedger } from './ledger-files.ts'
import type { Here } from './paths.ts'
import { identifySelf, isAncestor, readStartTime } from './processes.ts'

const JOIN_POLL_MS = 60

/** Applies a transition to one record: by place for `up`, by id for the others. */
export type ChangeRecord = <T>(
  transition: (ledger: Ledger, record: EnvironmentRecord) => { ledger: Ledger; value: T },
) => Promise<T>

export interface RunRequest {
  command: RunCommand
  flags: string
  /** The state while the run goes on; undefined leaves it. */
  state: EnvironmentState | undefined
  /** Takes over a run of which nothing can be known. */
  force: boolean
  /** How long to wait for another run; undefined: until it ends. */
  timeoutMs: number | undefined
  note: (line: string) => void
}

export type Begun =
  | { kind: 'begun'; record: EnvironmentRecord; run: Run; tookOver: boolean }
  /** Another process did the same meanwhile; its result is ours. `record` undefined: it was destroyed. */
  | { kind: 'joined'; lastRun: LastRun | undefined; record: EnvironmentRecord | undefined }

/** Records a run, after waiting for a live one. Errors: BUSY for a nested run, or when the wait is over. */
export async function beginRun(here: Here, change: ChangeRecord, request: RunRequest): Promise<Begun> {
  const self = identifySelf()
  const run: Run = {
    token: randomBytes(12).toString('hex'),
    command: request.command,
    flags: request.flags,
    ...self,
    since: new Date().toISOString(),
  }
  const deadTokens = new Set<string>()
  const startedWaiting = Date.now()
  for (;;) {
    const outcome = await change<{ held: Run | undefined; record: EnvironmentRecord; tookOver: boolean }>(
      (ledger, record) => {
        const holder = record.run
        if (holder !== undefined && holder.token !== run.token && !deadTokens.has(holder.token))
          return { ledger, value: { held: holder, record, tookOver: false } }
        const next = {
          ...(request.command === 'up' ? withoutTeardown(record) : record),
          run,
          ...(request.state === undefined ? {} : { state: request.state }),
        }
        return {
          ledger: withRecord(ledger, next),
          value: { held: undefined, record: next, tookOver: deadTokens.size > 0 },
        }
      },
    )
    const { held, record } = outcome
    if (held === undefined) return { kind: 'begun', record, run, tookOver: outcome.tookOver }
    const liveness = decideLiveness(held, self, readStartTime)
    if (liveness === 'dead' || (liveness === 'unknown' && request.force)) {
      deadTokens.add(held.token)
      continue
    }
    if (here.env.PENV_RUN === held.token || (liveness === 'alive' && isAncestor(held.pid)))
      throw busy(record.id, held, `its own script called "penv ${request.command}"`)
    request.note(
      `waiting for "penv ${held.command}" of ${record.id} (pid ${held.pid}${held.host === self.host ? '' : ` on ${held.host}`}, since ${formatAge(Date.now() - Date.parse(held.since))})`,
    )
    const after = await waitForEnd(
      here,
      record,
      held,
      request.timeoutMs === undefined ? undefined : startedWaiting + request.timeoutMs,
    )
    const lastRun = after?.lastRun?.token === held.token ? after.lastRun : undefined
    const isSame = held.command === request.command && held.flags === request.flags
    // Whoever interrupted the other run did not mean this one.
    if (lastRun?.error?.code === 'INTERRUPTED') continue
    if (isSame && (lastRun !== undefined || (after === undefined && request.command === 'destroy')))
      return { kind: 'joined', lastRun, record: after }
  }
}

/** `up` makes things again: what an earlier destroy has torn down no longer counts as done. */
function withoutTeardown({ tornDown: _done, ...record }: EnvironmentRecord): EnvironmentRecord {
  return record
}

/** The record as it is to be shown: a run whose process is gone goes on for nobody. */
export function withoutDeadRun(record: EnvironmentRecord): EnvironmentRecord {
  const { run, ...rest } = record
  if (run === undefined || decideLiveness(run, identifySelf(), readStartTime) !== 'dead') return record
  return { ...rest, state: stateAfterDeath(record.state) }
}

/** The record once the run is over: ended, taken over or dead. */
async function waitForEnd(
  here: Here,
  { id, nonce }: EnvironmentRecord,
  run: Run,
  deadline: number | undefined,
): Promise<EnvironmentRecord | undefined> {
  const self = identifySelf()
  for (;;) {
    const found = lookUp((await readLedger(here.stateDir)).environments, id)
    const record = found?.nonce === nonce ? found : undefined
    if (record?.run?.token !== run.token || decideLiveness(run, self, readStartTime) === 'dead') return record
    if (deadline !== undefined && Date.now() > deadline)
      throw busy(id, run, 'the time to wait for it is over')
    await delay(JOIN_POLL_MS)
  }
}

function busy(id: string, run: Run, why: string): PenvError {
  return new PenvError({
    code: 'BUSY',
    message: `${id} is busy with "penv ${run.command}" (pid ${run.pid}): ${why}`,
    details: { id, command: run.command, pid: run.pid, host: run.host, since: run.since },
  })
}

export interface RunResult {
  ok: boolean
  state: EnvironmentState | undefined
  error?: PenvError
  /** Further fields of the record that the run settles. */
  fields?: Partial<Pick<EnvironmentRecord, 'scripts' | 'template'>>
}

/** Takes the run out of the record and leaves its result. A run that was taken over changes nothing. */
export async function endRun(change: ChangeRecord, run: Run, result: RunResult): Promise<void> {
  const endedAt = new Date().toISOString()
  const { error } = result
  await change((ledger, record) => {
    if (record.run?.token !== run.token) return { ledger, value: undefined }
    const { run: _ended, ...rest } = record
    const lastRun: LastRun = {
      token: run.token,
      command: run.command,
      ok: result.ok,
      endedAt,
      ...(error === undefined
        ? {}
        : { error: { code: error.code, message: error.message, details: error.details } }),
    }
    const next = {
      ...rest,
      ...result.fields,
      lastRun,
      ...(result.state === undefined ? {} : { state: result.state }),
    }
    return { ledger: withRecord(ledger, next), value: undefined }
  })
}
