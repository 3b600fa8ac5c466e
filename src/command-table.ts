// Which module serves which command, loaded when it is called. Knows nothing of how argv is written.

import type { Answer, Context } from './context.ts'
import { usageError } from './errors.ts'

/** Options as the command line names them; `timeoutMs` in place of seconds. */
// biome-ignore lint/suspicious/noExplicitAny: each command's own options type is the one that counts
export type Options = any

export type Serve = (context: Context, words: readonly string[], options: Options) => Promise<Answer>

export const COMMANDS = {
  id: async context => (await import('./commands/id.ts')).id(context),
  'is-worktree': async context => (await import('./commands/is-worktree.ts')).isWorktree(context),
  'get port': async (context, words, options) =>
    (await import('./commands/get.ts')).getPort(context, words, options),
  'get index': async (context, words, options) =>
    (await import('./commands/get.ts')).getIndex(context, words, options),
  'get name': async (context, words, options) =>
    (await import('./commands/get.ts')).getName(context, words, options),
  env: async (context, words, options) => (await import('./commands/env.ts')).env(context, words, options),
  exec: async (context, words) => (await import('./commands/exec.ts')).exec(context, words),
  up: async (context, _words, options) => (await import('./commands/up.ts')).up(context, options),
  verify: async (context, _words, options) => (await import('./commands/verify.ts')).verify(context, options),
  down: async (context, _words, options) => (await import('./commands/down.ts')).down(context, options),
  destroy: async (context, words, options) => {
    const id = chooseId(words[0], options.id)
    return (await import('./commands/destroy.ts')).destroy(context, { ...options, id })
  },
  bootstrap: async (context, _words, options) =>
    (await import('./commands/bootstrap.ts')).bootstrap(context, options),
  status: async context => (await import('./commands/status.ts')).status(context),
  list: async context => (await import('./commands/list.ts')).list(context),
  doctor: async context => (await import('./commands/doctor.ts')).doctor(context),
  init: async (context, _words, options) => (await import('./commands/init.ts')).init(context, options),
  session: async context => (await import('./commands/session.ts')).session(context),
} satisfies Record<string, Serve>

export type CommandName = keyof typeof COMMANDS

/** `destroy <id>` and `destroy --id <id>` are the same; an empty id is not "the one here". */
function chooseId(word: string | undefined, option: string | undefined): string | undefined {
  if (word !== undefined && option !== undefined)
    throw usageError(`two ids are given: "${word}" and "${option}"`)
  const chosen = word ?? option
  if (chosen === '') throw usageError('the id is empty', 'To see the ids, run: penv list')
  return chosen
}
