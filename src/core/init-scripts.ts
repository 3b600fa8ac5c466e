// Composes the scripts of `.preview/` from what was found: pure text, by the rules of the shell style. It chooses
// between shared servers and a compose project for each environment, and says which and why. It invents no command.
import { usageError } from '../errors.ts'
import { composeOwnScripts } from './init/init-own.ts'
import { composeSharedScripts } from './init/init-shared.ts'
import { ADAPTERS } from './init/init-slices.ts'
import type { InitSources } from './init/init-sources.ts'
import { findQuestions } from './init/init-text.ts'
import type { Stack } from './stack.ts'

/** shared: a slice of one server for each environment. own: a compose project for each. */
export type ComposeMode = 'shared' | 'own'

export interface InitScripts {
  readonly mode: ComposeMode
  /** Why it is that one, for a person. */
  readonly reason: string
  /** Text by file name inside `.preview/`. */
  readonly files: ReadonlyMap<string, string>
  /** The questions that stand in the files, without their mark. */
  readonly questions: readonly string[]
}

export interface InitOptions {
  readonly compose?: ComposeMode
}

/** @throws USAGE where a compose project is asked for and there is no compose file to make it from. */
export function composeInitScripts(
  stack: Stack,
  sources: InitSources,
  options: InitOptions = {},
): InitScripts {
  const runsApp = startsByCompose(stack)
  const { mode, reason } =
    options.compose === undefined
      ? chooseMode(stack, sources, runsApp)
      : { mode: options.compose, reason: `--compose ${options.compose}` }
  if (mode === 'own' && sources.compose === undefined)
    throw usageError(
      'cannot write scripts for "--compose own": no compose file is started by default here',
      'To use shared servers, run: penv init --compose shared',
    )
  const files =
    mode === 'own' && sources.compose !== undefined
      ? composeOwnScripts(stack, sources, sources.compose, runsApp)
      : composeSharedScripts(stack, sources)
  const questions = [...files.values()].flatMap(findQuestions).map(({ question }) => question)
  return { mode, reason, files, questions }
}

/**
 * Servers are shared unless that cannot be: a server that the default run needs has no adapter, or only one space for
 * all, or the app itself runs in the compose project. Without a compose file there is nothing to choose.
 */
function chooseMode(
  stack: Stack,
  sources: InitSources,
  runsApp: boolean,
): { mode: ComposeMode; reason: string } {
  if (sources.compose === undefined)
    return { mode: 'shared', reason: 'no compose file is started by default' }
  if (runsApp) return { mode: 'own', reason: `the app itself runs in ${sources.compose.files.at(-1)}` }
  const stuck = stack.services.find(
    service =>
      service.need === 'required' &&
      service.kind !== 'mail' &&
      (!ADAPTERS.includes(service.kind) || service.tier === 2),
  )
  if (stuck !== undefined)
    return { mode: 'own', reason: `${stuck.name} cannot be shared: ${stuck.tierReason}` }
  return { mode: 'shared', reason: 'every server that a default run needs can be shared' }
}

/** The only way that is known to start the app is its compose file. */
function startsByCompose(stack: Stack): boolean {
  const defaults = stack.starts.filter(start => start.isDefault)
  return (
    defaults.length > 0 &&
    defaults.every(start => start.source === 'compose' || /\bdocker[- ]compose\b/.test(start.command))
  )
}
