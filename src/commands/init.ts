// `penv init`: writes `.preview/` scripts from what the repository is made of, and wires agents and tools. Says what
// it wrote and what is left to a person. Existing scripts are never touched without --force.

import { basename, join, relative } from 'node:path'
import type { Answer, Context } from '../context.ts'
import { composeInitCall, type InitOptions, parseInitOptions } from '../core/init/init-options.ts'
import {
  findStandingMode,
  type PlannedFile,
  type PreviewEntries,
  planPreviewFiles,
  requireSameMode,
} from '../core/init/init-plan.ts'
import { describeInit, describeUninstall } from '../core/init/init-report.ts'
import { readInitSources } from '../core/init/init-sources.ts'
import { findQuestions } from '../core/init/init-text.ts'
import { type ComposeMode, composeInitScripts, type InitScripts } from '../core/init-scripts.ts'
import { describeStack } from '../core/stack.ts'
import { composeDiff } from '../core/text-diff.ts'
import { planWiring, type WiringChange } from '../core/wiring.ts'
import { PenvError, usageError } from '../errors.ts'
import { refuseForeignOwner } from '../host/environment-changes.ts'
import { findGitAnswer, locatePlace, type Place } from '../host/git.ts'
import { carryOutInit } from '../host/init-changes.ts'
import { findRealPath, isDirectory, SCRIPTS_DIRECTORY_NAME } from '../host/paths.ts'
import { isScript, readPreviewFiles } from '../host/preview-files.ts'
import { readRepoFacts } from '../host/repo-facts.ts'
import { readWiringFacts } from '../host/wiring-files.ts'

/** What is to become of the checkout. */
interface Plan {
  /** Undefined where only wiring is taken out. */
  scripts: InitScripts | undefined
  files: readonly PlannedFile[]
  wiring: readonly WiringChange[]
}

export async function init(context: Context, options: InitOptions): Promise<Answer> {
  const { agents, compose } = parseInitOptions(options)
  const place = requirePlace(context)
  const { root } = place
  const cwd = findRealPath(context.cwd) ?? context.cwd
  const wiring = planWiring(readWiringFacts(root, context.env.PATH ?? ''), {
    agents,
    project: basename(root),
    ...(options.uninstall ? { uninstall: true } : {}),
  })
  if (options.uninstall) {
    const plan = { scripts: undefined, files: [], wiring }
    return finish(context, place, options, plan, changed => {
      const names = typeof agents === 'string' ? [] : agents
      const kept = wiring.filter(({ reason }) => reason !== undefined).length
      const directory = join(root, SCRIPTS_DIRECTORY_NAME)
      const scripts = isDirectory(directory) ? relative(cwd, directory) : undefined
      return describeUninstall({ changed, kept, names, scripts })
    })
  }
  const existing = readPreviewFiles(root)
  const { wanted, other } = await composeBothWays(context, root, compose, existing)
  if (options.print !== undefined) return printOne(wanted, options.print)
  requireSameMode(findStandingMode(existing), wanted.mode, context.flags.force)
  const files = planPreviewFiles(wanted.files, other?.files ?? new Map(), existing, context.flags.force)
  const named = files.map(({ name, action, reason }) => ({
    path: pathOf(name),
    action,
    ...withReason(reason),
  }))
  return finish(context, place, options, { scripts: wanted, files, wiring }, wired =>
    describeInit({
      servers: wanted,
      files: named,
      wired,
      questions: files.flatMap(questionsOf),
      isWorktree: place.kind === 'worktree',
      root,
      cwd,
    }),
  )
}

/**
 * What is there decides where nobody says otherwise. Where init does not know how to write for that way, a person
 * did, and nothing is added to it.
 */
async function composeBothWays(
  context: Context,
  root: string,
  asked: ComposeMode | undefined,
  existing: PreviewEntries,
): Promise<{ wanted: InitScripts; other: InitScripts | undefined }> {
  const facts = await readRepoFacts(root, async args => findGitAnswer(args, root, context.env))
  const stack = describeStack(facts)
  const sources = readInitSources(facts)
  const compose = (mode: ComposeMode | undefined) =>
    composeInitScripts(stack, sources, mode === undefined ? {} : { compose: mode })
  const isPossible = (mode: ComposeMode) => mode === 'shared' || sources.compose !== undefined
  const standing = asked === undefined ? findStandingMode(existing) : undefined
  const reason = 'the scripts of .preview/ are written for it'
  if (standing !== undefined && !isPossible(standing) && !context.flags.force)
    return { wanted: { mode: standing, reason, files: new Map(), questions: [] }, other: undefined }
  const isKept = standing !== undefined && isPossible(standing)
  const wanted = isKept ? { ...compose(standing), reason } : compose(asked)
  const otherMode = wanted.mode === 'own' ? 'shared' : 'own'
  return { wanted, other: isPossible(otherMode) ? compose(otherMode) : undefined }
}

function requirePlace(context: Context): Place & { root: string } {
  const place = locatePlace(context.cwd, context.env)
  if (place.kind !== 'outside') return place
  throw new PenvError({
    code: 'NOT_A_WORKTREE',
    message: `cannot write scripts here: this is ${place.reason}`,
    hint: 'To begin a repository, run: git init',
    details: { place: place.kind },
  })
}

function printOne({ files }: InitScripts, name: string): Answer {
  const text = files.get(name.replace(/^\.preview\//, ''))
  if (text !== undefined) return { json: { file: name, text }, text }
  const known = files.size === 0 ? 'none at all' : [...files.keys()].join(', ')
  throw usageError(`init writes no file "${name}" here: it would write ${known}`)
}

/** Carries the plan out, or with --dry-run says as a diff what would change. */
async function finish(
  context: Context,
  { root }: { root: string },
  options: InitOptions,
  { scripts, files, wiring }: Plan,
  describe: (wired: readonly WiringChange[]) => string,
): Promise<Answer> {
  if (!options.dryRun) {
    refuseForeignOwner(root)
    await carryOutInit(root, files, wiring, composeInitCall(options, context.flags.force))
  }
  for (const { name, path, action, status, reason } of wiring)
    if (action === 'keep' && reason !== undefined)
      context.note(
        status === 'missing' ? `${name} is not wired: ${reason}` : `${path} was left as it is: ${reason}`,
      )
  const wired = wiring.filter(({ action }) => action !== 'keep')
  const json = {
    dryRun: options.dryRun === true,
    compose: scripts === undefined ? null : { mode: scripts.mode, reason: scripts.reason },
    files: files.map(({ name, action, reason }) => ({ path: pathOf(name), action, ...withReason(reason) })),
    wiring: wiring.map(({ name, path, action, status, reason }) => ({
      ...{ name, path, action, status },
      ...withReason(reason),
    })),
    questions: files.flatMap(questionsOf),
  }
  return { json, text: options.dryRun ? composeDiffs(files, wired) : describe(wired) }
}

function composeDiffs(files: readonly PlannedFile[], wired: readonly WiringChange[]): string {
  return [
    ...files.map(file => ({ ...file, path: pathOf(file.name), isExecutable: isScript(file.name) })),
    ...wired.map(change => ({ ...change, isExecutable: false })),
  ]
    .map(composeDiff)
    .join('')
}

const pathOf = (name: string) => join(SCRIPTS_DIRECTORY_NAME, name)
const withReason = (reason: string | undefined) => (reason === undefined ? {} : { reason })

/** In the file as it is after init: a kept script may have been answered. */
function questionsOf({ after }: PlannedFile): string[] {
  return findQuestions(after ?? '').map(({ question }) => question)
}
