// Removes a worktree through git, for `penv destroy --worktree`. Never loses work that is not committed unless forced.

import type { EnvironmentRecord } from '../core/ledger.ts'
import { quoteForShell } from '../core/shell-words.ts'
import { PenvError } from '../errors.ts'
import { askGit } from './git.ts'
import type { Here } from './paths.ts'

/** Called before anything is torn down. Errors: WORKTREE_DIRTY, GIT_FAILED. */
export function refuseUncommittedWork(here: Here, id: string, worktree: string): void {
  const { status, stdout, stderr } = askGit(['status', '--porcelain'], worktree, here.env)
  if (status !== 0)
    throw new PenvError({ code: 'GIT_FAILED', message: `git failed in ${worktree}: ${stderr.trim()}` })
  if (stdout === '') return
  throw new PenvError({
    code: 'WORKTREE_DIRTY',
    message: `${id} was not destroyed: its worktree ${worktree} has uncommitted work`,
    facts: stdout.trimEnd().split('\n').slice(0, 3),
    hint: 'To lose it, run: penv destroy --worktree --force',
    details: { id, root: worktree },
  })
}

/** Errors: WORKTREE_NOT_REMOVED. */
export function removeWorktree(
  here: Here,
  { id, repo }: Pick<EnvironmentRecord, 'id' | 'repo'>,
  worktree: string,
  force: boolean,
): void {
  const args = ['--git-dir', repo, 'worktree', 'remove', ...(force ? ['--force'] : []), '--', worktree]
  const { status, stderr } = askGit(args, repo, here.env)
  if (status === 0) return
  throw new PenvError({
    code: 'WORKTREE_NOT_REMOVED',
    message: `${id} is destroyed, but git did not remove its worktree: ${stderr.trim().replace(/^fatal: /, '')}`,
    hint: `To remove it, run: git worktree remove --force ${quoteForShell(worktree)}`,
    details: { id, root: worktree },
  })
}
