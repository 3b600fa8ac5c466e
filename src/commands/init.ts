// `penv init`: writes `.preview/` scripts from what the repository is made of, and wires agents and tools. Says what
// it wrote and what is left to a person. Existing scripts are never touched without --force.

import { basename, join } from 'node:path'
import type { Answer, Context } from '../context.ts'
import { readInitSources } from '../core/init/init-sources.ts'
import { type ComposeMode, composeInitScripts, type InitScripts } from '../core/init-scripts.ts'
import { describeStack } from '../core/stack.ts'
import { parseAgents, planWiring, type WiringChange } from '../core/wiring.ts'
import { PenvError, usageError } from '../errors.ts'
import { askGit, locatePlace } from '../host/git.ts'
import { SCRIPTS_DIRECTORY_NAME } from '../host/paths.ts'
import { diffTexts, writePreviewFile } from '../host/preview-files.ts'
import { readRepoFacts } from '../host/repo-facts.ts'
import { readPreviewFile } from '../host/script-facts.ts'
import { applyWiringChanges, readWiringFacts } from '../host/wiring-files.ts'

export interface InitOptions {
  dryRun?: boolean
  print?: string
  compose?: string
  agents?: string
  uninstall?: boolean
}

type FileAction = 'create' | 'update' | 'keep' | 'current'

interface PlannedFile {
  /** Relative to the root. */
  path: string
  action: FileAction
  before: string | undefined
  after: string
}

export async function init(context: Context, options: InitOptions): Promise<Answer> {
  const root = requireRoot(context)
  const agents = parseAgents(options.agents ?? 'auto')
  const wiring = planWiring(readWiringFacts(root, context.env.PATH ?? ''), {
    agents,
    project: basename(root),
    ...(options.uninstall ? { uninstall: true } : {}),
  })
  if (options.uninstall) return finish(context, root, options, undefined, [], wiring)
  const facts = await readRepoFacts(root, async args => {
    const { status, stdout } = askGit(args, root, context.env)
    return status === 0 ? stdout : undefined
  })
  const stack = describeStack(facts)
  const compose = parseComposeMode(options.compose)
  const scripts = composeInitScripts(stack, readInitSources(facts), compose === undefined ? {} : { compose })
  if (options.print !== undefined) return printOne(scripts, options.print)
  return finish(context, root, options, scripts, planFiles(root, scripts, context.flags.force), wiring)
}

function requireRoot(context: Context): string {
  const place = locatePlace(context.cwd, context.env)
  if (place.kind !== 'outside') return place.root
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

function planFiles(root: string, { files }: InitScripts, force: boolean): PlannedFile[] {
  return [...files].map(([name, after]) => {
    const before = readPreviewFile(root, name)
    const action: FileAction =
      before === undefined ? 'create' : before === after ? 'current' : force ? 'update' : 'keep'
    return { path: join(SCRIPTS_DIRECTORY_NAME, name), action, before, after }
  })
}

function finish(
  context: Context,
  root: string,
  options: InitOptions,
  scripts: InitScripts | undefined,
  files: readonly PlannedFile[],
  wiring: readonly WiringChange[],
): Answer {
  const changed = files.filter(({ action }) => action === 'create' || action === 'update')
  const wired = wiring.filter(({ action }) => action !== 'keep')
  const json = {
    dryRun: options.dryRun === true,
    compose: scripts === undefined ? null : { mode: scripts.mode, reason: scripts.reason },
    files: files.map(({ path, action }) => ({ path, action })),
    wiring: wiring.map(({ name, path, action, status, reason }) => ({
      name,
      path,
      action,
      status,
      ...(reason === undefined ? {} : { reason }),
    })),
    questions: scripts?.questions ?? [],
  }
  if (options.dryRun) {
    const diffs = [
      ...changed.map(({ path, before, after }) => diffTexts(path, before, after, context.env)),
      ...wired.map(({ path, before, after }) => diffTexts(path, before, after, context.env)),
    ]
    return { json, text: diffs.join('') }
  }
  for (const { path, after } of changed) writePreviewFile(join(root, path), after)
  const failures = applyWiringChanges(root, wired).filter(({ error }) => error !== undefined)
  for (const { change, error } of failures) context.note(`${change.path} was left as it is: ${error}`)
  for (const { path, action, reason } of wiring)
    if (action === 'keep' && reason !== undefined) context.note(`${path} was left as it is: ${reason}`)
  return {
    json,
    text: render(
      scripts,
      files,
      wired.filter(change => !failures.some(failure => failure.change === change)),
      options,
    ),
  }
}

function render(
  scripts: InitScripts | undefined,
  files: readonly PlannedFile[],
  wired: readonly WiringChange[],
  options: InitOptions,
): string {
  const lines = [
    ...(scripts === undefined ? [] : [`servers: ${scripts.mode}, because ${scripts.reason}`]),
    ...files.map(({ path, action }) =>
      action === 'keep'
        ? `kept     ${path} (differs; --force replaces it)`
        : action === 'current'
          ? `already  ${path}`
          : `${action === 'create' ? 'wrote' : 'replaced'}`.padEnd(9) + path,
    ),
    ...wired.map(
      ({ path, name, action }) =>
        `${action === 'delete' ? 'removed' : options.uninstall ? 'restored' : 'wired'}`.padEnd(9) +
        `${path} (${name})`,
    ),
  ]
  if (options.uninstall) return lines.length > 0 ? lines.join('\n') : 'nothing of penv is wired here'
  const questions = scripts?.questions ?? []
  if (questions.length > 0)
    lines.push(
      '',
      `${questions.length} left to a person, marked in the scripts:`,
      ...questions.map(question => `  ${question}`),
    )
  const isDone = files.every(({ action }) => action === 'current') && wired.length === 0
  const next =
    questions.length > 0
      ? 'penv doctor'
      : 'git add .preview && git commit -m "Add preview environments", then penv up in a worktree'
  if (!isDone || questions.length > 0) lines.push('', `next: ${next}`)
  return lines.join('\n')
}
