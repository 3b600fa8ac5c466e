// Does the work of a run that has begun: sets the stage, listens for signals, and leaves the result in the record
// however the work ends.

import type { EnvironmentRecord, EnvironmentState, Run } from '../core/ledger.ts'
import { PenvError } from '../errors.ts'
import { changeRecord } from './environment-changes.ts'
import { listenForInterrupts } from './interrupts.ts'
import { type Stage, setStage } from './lifecycle.ts'
import type { Here } from './paths.ts'
import { endRun, type RunResult } from './runs.ts'

export interface Done<T> {
  value: T
  fields?: RunResult['fields']
}

/**
 * @param states what the record's state becomes; undefined leaves it
 * @param work throws what the run failed of
 */
export async function doRun<T>(
  here: Here,
  { record, run }: { record: EnvironmentRecord; run: Run },
  states: { ok: EnvironmentState | undefined; failed: EnvironmentState | undefined },
  work: (stage: Stage) => Promise<Done<T>>,
): Promise<T> {
  const interrupts = listenForInterrupts()
  let result: RunResult = { ok: false, state: states.failed }
  try {
    const { value, fields } = await work(setStage(here, record, run, interrupts))
    result = { ok: true, state: states.ok, ...(fields === undefined ? {} : { fields }) }
    return value
  } catch (error) {
    if (error instanceof PenvError) result.error = error
    throw error
  } finally {
    await endRun(transition => changeRecord(here.stateDir, record, transition), run, result)
    interrupts.stop()
  }
}
