// How the failure of a lifecycle script is named: its error code, how it ended, and what to run again. Pure.

import { type ErrorCode, PenvError } from '../errors.ts'
import { quoteForShell } from './shell-words.ts'

export const SCRIPT_NAMES = ['provision', 'seed', 'verify', 'down', 'teardown', 'bootstrap'] as const
export type ScriptName = (typeof SCRIPT_NAMES)[number]

export interface ScriptEnd {
  exitCode: number | undefined
  signal: string | undefined
  timedOut: boolean
}

export interface FailedScript {
  id: string
  /** The snapshot stood in for the worktree. */
  gone: boolean
  name: ScriptName
  file: string
  end: ScriptEnd
  timeoutMs: number | undefined
  logFile: string
}

const CODE_OF_SCRIPT: Record<ScriptName, ErrorCode> = {
  provision: 'PROVISION_FAILED',
  seed: 'SEED_FAILED',
  verify: 'VERIFY_FAILED',
  down: 'DOWN_FAILED',
  teardown: 'TEARDOWN_FAILED',
  bootstrap: 'BOOTSTRAP_FAILED',
}

const RETRY_OF_SCRIPT: Record<ScriptName, string> = {
  provision: 'penv up',
  seed: 'penv up --seed',
  verify: 'penv verify',
  down: 'penv down',
  teardown: 'penv destroy',
  bootstrap: 'penv bootstrap',
}

export function scriptFailed({ id, gone, name, file, end, timeoutMs, logFile }: FailedScript): PenvError {
  const how = end.timedOut
    ? `took longer than ${(timeoutMs ?? 0) / 1000} s and was ended`
    : end.exitCode === undefined
      ? `was killed by ${end.signal ?? 'a signal'}`
      : `exited ${end.exitCode}`
  const retry = gone ? `${RETRY_OF_SCRIPT[name]} ${id}` : RETRY_OF_SCRIPT[name]
  return new PenvError({
    code: CODE_OF_SCRIPT[name],
    message: `${name} failed: ${file} ${how}; ${id} keeps its allocations`,
    facts: [`log: ${quoteForShell(logFile)}`],
    hint: `To retry, run: ${retry}`,
    details: {
      id,
      script: `${name}.sh`,
      exitCode: end.exitCode ?? null,
      signal: end.signal ?? null,
      timedOut: end.timedOut,
      log: logFile,
    },
  })
}
