// `penv init`: writes `.preview/` scripts from what the repository is made of, and wires agents and tools. Says what
// it wrote and what is left to a person. Existing scripts are never touched without --force.

import { basename, join } from 'node:path'
import type { Answer, Context } from '../context.ts'
import {
  findStandingMode,
  type PlannedFile,
  planPreviewFiles,
  requireSameMode,
} from '../core/init/init-plan.ts'
import { describeInit } from '../core/init/init-report.ts'
import { readInitSources } from '../core/init/init-sources.ts'
import { findQuestions } from '../core/init/init-text.ts'
import { type ComposeMode, composeInitScripts, type InitScripts } from '../core/init-scripts.ts'
import { describeStack } from '../core/stack.ts'
import { parseAgents, planWiring, type WiringChange } from '../core/wiring.ts'
import { PenvError, usageError } from '../errors.ts'
import { findGitAnswer, locatePlace, type Place } from '../host/git.ts'
import { SCRIPTS_DIRECTORY_NAME } from '../host/paths.ts'
import { diffTexts, readPreviewFiles, removePreviewFile, writePreviewFile } from '../host/preview-files.ts'
import { readRepoFacts } from '../host/repo-facts.ts'
import { applyWiringChanges, readWiringFacts } from '../host/wiring-files.ts'

export interface InitOptions {
  dryRun?: boolean
  print?: string
  compose?: string
  agents?: string
  uninstall?: boolean
}

export async function init(context: Context, options: InitOptions): Promise<Answer> {
  refuseContradictions(options)
  const place = requirePlace(context)
  const { root } = place
  const agents = parseAgents(options.agents ?? 'auto')
  const asked = parseComposeMode(options.compose)
  const wiring = planWiring(readWiringFacts(root, context.env.PATH ?? ''), {
    agents,
    project: basename(root),
    ...(options.uninstall ? { uninstall: true } : {}),
  })
  if (options.uninstall) return finish(context, place, options, undefined, [], wiring)
  const existing = readPreviewFiles(root)
  const { wanted, other } = await composeBothWays(context, root, asked, findStandingMode(existing))
  if (options.print !== undefined) return printOne(wanted, options.print)
  requireSameMode(findStandingMode(existing), wanted.mode, context.flags.force)
  const files = planPreviewFiles(wanted.files, other?.files ?? new Map(), existing, context.flags.force)
  return finish(context, place, options, wanted, files, wiring)
}

/** Options that ask for different answers; which one was meant cannot be known. */
function refuseContradictions({ print, dryRun, uninstall, compose }: InitOptions): void {
  const given = [
    ...(print === undefined ? [] : ['--print']),
    ...(dryRun ? ['--dry-run'] : []),
    ...(uninstall ? ['--uninstall'] : []),
  ]
  if (print !== undefined && given.length > 1) throw usageError(`${given.join(' and ')} exclude each other`)
  if (uninstall && compose !== undefined) throw usageError('--uninstall and --compose exclude each other')
}

/** What is there decides where nobody says otherwise, as long as it still can be. */
async function composeBothWays(
  context: Context,
  root: string,
  asked: ComposeMode | undefined,
  standing: ComposeMode | undefined,
): Promise<{ wanted: InitScripts; other: InitScripts | undefined }> {
  const facts = await readRepoFacts(root, async args => findGitAnswer(args, root, context.env))
  const stack = describeStack(facts)
  const sources = readInitSources(facts)
  const compose = (mode: ComposeMode | undefined) =>
    composeInitScripts(stack, sources, mode === undefined ? {} : { compose: mode })
  const isPossible = (mode: ComposeMode) => mode === 'shared' || sources.compose !== undefined
  const wanted =
    asked === undefined && standing !== undefined && isPossible(standing)
      ? { ...compose(standing), reason: 'the scripts of .preview/ are written for it' }
      : compose(asked)
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

function parseComposeMode(value: string | undefined): ComposeMode | undefined {
  if (value === undefined || value === 'shared' || value === 'own') return value
  throw usageError(`"${value}" is not a way to use compose: use shared or own`)
}

function printOne({ files }: InitScripts, name: string): Answer {
  const text = files.get(name.replace(/^\.preview\//, ''))
  if (text === undefined)
    throw usageError(`init writes no file "${name}" here: it would write ${[...files.keys()].join(', ')}`)
  return { json: { file: name, text }, text }
}

function finish(
  context: Context,
  place: Place & { root: string },
  options: InitOptions,
  scripts: InitScripts | undefined,
  planned: readonly PlannedFile[],
  wiring: readonly WiringChange[],
): Answer {
  const { root } = place
  const files = planned.map(file => ({ ...file, path: join(SCRIPTS_DIRECTORY_NAME, file.name) }))
  const outcome = options.dryRun ? wiring : carryOut(root, planned, wiring)
  const questions = scripts === undefined ? [] : questionsOf(planned)
  const json = {
    dryRun: options.dryRun === true,
    compose: scripts === undefined ? null : { mode: scripts.mode, reason: scripts.reason },
    files: files.map(({ path, action }) => ({ path, action })),
    wiring: outcome.map(({ name, path, action, status, reason }) => ({
      name,
      path,
      action,
      status,
      ...(reason === undefined ? {} : { reason }),
    })),
    questions,
  }
  for (const { name, path, action, status, reason } of outcome)
    if (action === 'keep' && reason !== undefined)
      context.note(
        status === 'missing' ? `${name} is not wired: ${reason}` : `${path} was left as it is: ${reason}`,
      )
  const wired = outcome.filter(({ action }) => action !== 'keep')
  if (options.dryRun) {
    const changed = files.filter(({ action }) => action !== 'keep' && action !== 'current')
    const diffs = [...changed, ...wired].map(({ path, before, after }) =>
      diffTexts(path, before, after, context.env),
    )
    return { json, text: diffs.join('') }
  }
  const report = {
    servers: scripts,
    files,
    wired,
    questions,
    isUninstall: options.uninstall === true,
    isWorktree: place.kind === 'worktree',
    project: basename(root),
  }
  return { json, text: describeInit(report) }
}

/** The scripts first; then what could be wired, and why a file could not be. */
function carryOut(
  root: string,
  files: readonly PlannedFile[],
  wiring: readonly WiringChange[],
): readonly WiringChange[] {
  for (const { name, action, after } of files) {
    if (action === 'delete') removePreviewFile(root, name)
    else if (action !== 'keep' && after !== undefined && action !== 'current')
      writePreviewFile(root, name, after)
  }
  return applyWiringChanges(root, wiring).map(({ change, error }) =>
    error === undefined ? change : { ...change, action: 'keep', reason: error },
  )
}

/** In the files as they are now: a kept script may have been answered. */
function questionsOf(files: readonly PlannedFile[]): string[] {
  return files.flatMap(({ action, before, after }) =>
    findQuestions((action === 'keep' ? before : after) ?? '').map(({ question }) => question),
  )
}
