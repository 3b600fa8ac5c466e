// `penv is-worktree`: exit 0 in a linked worktree, 1 elsewhere.

import type { Answer, Context } from '../context.ts'
import { findEnvironment } from '../host/environments.ts'
import { locatePlace } from '../host/git.ts'

export async function isWorktree(context: Context): Promise<Answer> {
  // Inside a run the snapshot may stand in for the worktree, and git knows nothing of it.
  const isServed = Boolean(context.env.PENV_RUN) && (await findEnvironment(context)).kind === 'environment'
  const answer = isServed || locatePlace(context.cwd, context.env).kind === 'worktree'
  return { json: { isWorktree: answer }, text: '', exit: answer ? 0 : 1 }
}
