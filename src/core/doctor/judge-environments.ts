// What doctor says of the environments in the ledger, and of the shell that asks. Pure.
import type { EnvironmentRecord } from '../ledger.ts'
import { quoteForShell } from '../shell-words.ts'
import type { Finding } from './finding.ts'

/** `isGone`: whether the worktree of a record is no longer to be found. */
export function judgeEnvironments(
  records: readonly EnvironmentRecord[],
  isGone: (record: EnvironmentRecord) => boolean,
): Finding[] {
  return records.flatMap(record => {
    const { id, root, state } = record
    const say = (message: string, remedy: string): Finding => ({
      area: 'environment',
      verdict: 'warn',
      message,
      remedy,
    })
    if (isGone(record))
      return [say(`${id} holds its allocations, but its worktree ${root} is gone`, `penv destroy ${id}`)]
    if (state === 'failed') return [say(`${id} is failed`, `cd ${quoteForShell(root)} && penv up`)]
    if (state === 'teardown-failed') return [say(`${id} is teardown-failed`, `penv destroy ${id}`)]
    return []
  })
}

/** A variable of another worktree in the shell. */
export function judgeShell(sourced: string | undefined, id: string | undefined): Finding[] {
  if (!sourced || sourced === id) return []
  return [
    {
      area: 'environment',
      verdict: 'warn',
      message: `PENV_ID of this shell is ${sourced}, which is not the environment here`,
      remedy: 'unset PENV_ID',
    },
  ]
}
