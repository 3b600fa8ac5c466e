// Carries out what init has planned: one whole file after the other, with a look for a signal before each, so that an
// interrupt leaves no half of one.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PlannedFile } from '../core/init/init-plan.ts'
import type { WiringChange } from '../core/wiring.ts'
import { PenvError } from '../errors.ts'
import { describeErrno, errnoOf } from './errno.ts'
import { listenForInterrupts, throwIfInterrupted } from './interrupts.ts'
import { SCRIPTS_DIRECTORY_NAME } from './paths.ts'
import { removePreviewFile, writePreviewFile } from './preview-files.ts'
import { applyWiringChange } from './wiring-files.ts'

interface Step {
  path: string
  run: () => void
}

/**
 * The scripts first, which need each other: the first that cannot be written ends it. Then the wiring, of which each
 * file stands for itself. `call` is what to run again. Errors: SCRIPT_UNUSABLE, INTERRUPTED.
 */
export async function carryOutInit(
  root: string,
  files: readonly PlannedFile[],
  wiring: readonly WiringChange[],
  call: string,
): Promise<void> {
  const interrupts = listenForInterrupts()
  const attempt = async ({ path, run }: Step): Promise<Failure | undefined> => {
    // A signal is heard between two turns of the loop only.
    await nextTurn()
    throwIfInterrupted(interrupts, 'each file that was written is whole', {})
    try {
      run()
      return undefined
    } catch (error) {
      if (error instanceof PenvError) throw error
      return { path, error }
    }
  }
  try {
    for (const step of scriptSteps(root, files)) {
      const failure = await attempt(step)
      if (failure !== undefined) throw describeFailures([failure], call)
    }
    const failures: Failure[] = []
    for (const step of wiringSteps(root, wiring)) failures.push(...[(await attempt(step)) ?? []].flat())
    if (failures.length > 0) throw describeFailures(failures, call)
  } finally {
    interrupts.stop()
  }
}

interface Failure {
  path: string
  error: unknown
}

function scriptSteps(root: string, files: readonly PlannedFile[]): Step[] {
  return files.flatMap(({ name, action, after }): Step[] => {
    const path = `${SCRIPTS_DIRECTORY_NAME}/${name}`
    if (action === 'delete') return [{ path, run: () => removePreviewFile(root, name) }]
    if (action === 'keep' || action === 'current' || after === undefined) return []
    return [{ path, run: () => writePreviewFile(root, name, after) }]
  })
}

function wiringSteps(root: string, wiring: readonly WiringChange[]): Step[] {
  return wiring.flatMap(change =>
    change.action === 'keep' ? [] : [{ path: change.path, run: () => applyWiringChange(root, change) }],
  )
}

function describeFailures(failures: readonly Failure[], call: string): PenvError {
  const [first, ...others] = failures as [Failure, ...Failure[]]
  return new PenvError({
    code: 'SCRIPT_UNUSABLE',
    message: `cannot write ${first.path}: ${describeErrno(first.error)}; what was written before it is whole`,
    facts: others.slice(0, 3).map(({ path, error }) => `nor ${path}: ${describeErrno(error)}`),
    hint: `To go on when it can be written, run: ${call}`,
    details: { paths: failures.map(({ path }) => path), errno: errnoOf(first.error) },
    cause: first.error,
  })
}
