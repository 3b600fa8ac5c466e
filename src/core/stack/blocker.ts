// A blocker: something in the repository that lets two environments collide or lose data, with its remedy.
import { evidenceAt, type RepoFacts } from './facts.ts'

export type BlockerCode =
  | 'HARD_CODED_PORT'
  | 'LITERAL_HOST_PORT'
  | 'CONTAINER_NAME'
  | 'FIXED_VOLUME_NAME'
  | 'FIXED_NETWORK_NAME'
  | 'FIXED_PROJECT_NAME'
  | 'PROXY_HOST'
  | 'CONNECTION_POOLER'
  | 'DATA_IN_HOME'
  | 'NOT_NAMESPACEABLE'
  | 'ENV_PREVIEW_TRACKED'
  | 'WORKTREE_INCLUDE'
  | 'HOOKS_PATH'
  | 'CRLF_SCRIPT'
  | 'FLUSHALL'
  | 'DROP_DATABASE_UNNAMED'
  | 'DROP_ERROR_HIDDEN'
  | 'ONE_DATABASE_FOR_TESTS'
  | 'SETUP_DROPS_FIRST'

export interface Blocker {
  readonly code: BlockerCode
  /** fail: penv would do harm or refuse. warn: two environments can meet here. */
  readonly severity: 'fail' | 'warn'
  readonly file: string
  /** Absent where the whole file is meant, or there is no file in the repository. */
  readonly line?: number
  readonly text?: string
  readonly message: string
  /** What to do or to write, in words. */
  readonly remedy: string
  /** A command that does it, where there is one. */
  readonly run?: string
}

export function blockerAt(
  facts: RepoFacts,
  code: BlockerCode,
  at: { readonly file: string; readonly line?: number | undefined },
  message: string,
  remedy: string,
  severity: Blocker['severity'] = 'warn',
): Blocker {
  const place = at.line === undefined ? { file: at.file } : evidenceAt(facts, at.file, at.line)
  return { code, severity, ...place, message, remedy }
}
