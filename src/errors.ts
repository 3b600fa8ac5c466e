// The one error type of penv, and the table that gives every error code its exit code.
// A code is part of the contract (contract/CONTRACT.md): it is never renamed, only added.

/** Exit codes by error code. `INTERRUPTED` is 128 + n and carries its own exit. */
export const EXIT_BY_CODE = {
  VERIFY_FAILED: 1,
  PROBLEMS_FOUND: 1,
  WORKTREE_DIRTY: 1,
  USAGE: 2,
  RANGE_MISMATCH: 2,
  UNSUPPORTED_PLATFORM: 2,
  NOT_A_WORKTREE: 3,
  COPIED_WORKTREE: 3,
  GIT_FAILED: 4,
  NO_SCRIPTS: 5,
  NO_ENVIRONMENT: 5,
  POOL_EXHAUSTED: 6,
  LEDGER_DAMAGED: 7,
  LEDGER_NEWER: 7,
  LEDGER_UNREADABLE: 7,
  LEDGER_UNWRITABLE: 7,
  LEDGER_UNSUPPORTED: 7,
  STATE_UNWRITABLE: 7,
  SCRIPT_UNUSABLE: 8,
  PROVISION_FAILED: 8,
  SEED_FAILED: 8,
  DOWN_FAILED: 8,
  TEARDOWN_FAILED: 8,
  BOOTSTRAP_FAILED: 8,
  WORKTREE_NOT_REMOVED: 8,
  ENV_VALUE: 9,
  ENV_FILE: 9,
  ENV_FOREIGN: 9,
  NOT_TRUSTED: 10,
  BUSY: 11,
  BUG: 70,
  INTERRUPTED: 130,
} as const

export type ErrorCode = keyof typeof EXIT_BY_CODE

export interface ErrorParts {
  code: ErrorCode
  /** What failed, and why: one sentence that names the value, file or script. No secrets. */
  message: string
  /** Up to three facts, printed indented below the message. */
  facts?: readonly string[]
  /** "To <goal>, run: <command>". */
  hint?: string
  /** Machine-readable facts for `--json`. */
  details?: Readonly<Record<string, unknown>>
  /** Only where the exit code is not the one of the table (a signal). */
  exit?: number
  cause?: unknown
}

export class PenvError extends Error {
  readonly code: ErrorCode
  readonly facts: readonly string[]
  readonly hint: string | undefined
  readonly details: Readonly<Record<string, unknown>>
  readonly exit: number

  constructor(parts: ErrorParts) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause })
    this.name = 'PenvError'
    this.code = parts.code
    this.facts = parts.facts ?? []
    this.hint = parts.hint
    this.details = parts.details ?? {}
    this.exit = parts.exit ?? EXIT_BY_CODE[parts.code]
  }
}

/** A call that the command line does not allow; nothing has been done. */
export function usageError(message: string, hint?: string): PenvError {
  return new PenvError({ code: 'USAGE', message, ...(hint === undefined ? {} : { hint }) })
}
