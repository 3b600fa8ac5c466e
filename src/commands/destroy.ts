// `penv destroy`: teardown first, then the environment's files, the marker, and last the record. Slots become
// free only after teardown has succeeded, or with --force, which names what it leaves behind.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Answer, type Context, skip } from '../context.ts'
import { type EnvironmentRecord, requireRecord, withRecord } from '../core/ledger.ts'
import { quoteForShell } from '../core/shell-words.ts'
import { PenvError } from '../errors.ts'
import { removeEnvFileIfOurs } from '../host/env-file.ts'
import { changeEnvironmentOfPlace, changeRecord, removeRecord } from '../host/environment-changes.ts'
import { restoreEnvFile } from '../host/environment-files.ts'
import { findEnvironmentOfPlace, findWorktreeOf } from '../host/environments.ts'
import { errnoOf } from '../host/errno.ts'
import { askGit } from '../host/git.ts'
import { readLedger } from '../host/ledger-files.ts'
import {
  hasScript,
  prepareStage,
  requireUsableScripts,
  runLifecycleScript,
  type Stage,
  setStage,
} from '../host/lifecycle.ts'
import { removeMarker } from '../host/marker.ts'
import { ENV_FILE_NAME, environmentDirectory } from '../host/paths.ts'
import { beginRun, type ChangeRecord, endRun, type RunResult } from '../host/runs.ts'
import { listenForInterrupts } from '../host/scripts.ts'

export interface DestroyOptions {
  /** Undefined: the environment of this worktree. */
  id?: string | undefined
  worktree?: boolean
  timeoutMs?: number | undefined
}

export async function destroy(context: Context, options: DestroyOptions): Promise<Answer> {
  const found = options.id === undefined ? await findEnvironmentOfPlace(context) : undefined
  if (found !== undefined && found.kind !== 'environment') return skip(context, found.reason)
  if (found?.record === undefined && found !== undefined)
    return skip(context, `${found.id} holds nothing, so there is nothing to destroy`)
  const record = found?.record ?? requireRecord(await readLedger(context.stateDir), options.id ?? '')
  const worktree = findWorktreeOf(record)
  if (options.worktree && worktree !== undefined) refuseUncommittedWork(context, record, worktree)
  const change: ChangeRecord = transition => changeRecord(context.stateDir, record, transition)
  // From the worktree itself the record follows a move before anything runs.
  const begin: ChangeRecord =
    found === undefined
      ? change
      : transition => changeEnvironmentOfPlace(context, 'run "penv destroy"', transition)
  const begun = await beginRun(context, begin, {
    command: 'destroy',
    flags: '',
    state: 'destroying',
    force: context.flags.force,
    timeoutMs: options.timeoutMs,
    note: context.note,
  })
  if (begun.kind === 'joined') {
    if (begun.record === undefined) return answerOf(record, [])
    throw new PenvError({
      code: 'TEARDOWN_FAILED',
      message: begun.lastRun?.error?.message ?? 'the "penv destroy" that this one waited for has failed',
      details: { id: record.id, joined: true },
    })
  }
  const interrupts = listenForInterrupts()
  const stage = setStage(context, begun.record, begun.run, interrupts)
  let leftBehind: string[] = []
  let result: RunResult | undefined = { ok: false, state: 'teardown-failed' }
  try {
    leftBehind = await tearDown(context, stage, change, options)
    removeFiles(context, stage)
    await removeRecord(context.stateDir, record)
    result = undefined
  } catch (error) {
    if (error instanceof PenvError && result !== undefined) result.error = error
    throw error
  } finally {
    if (result !== undefined) await endRun(change, begun.run, result)
    interrupts.stop()
  }
  for (const line of leftBehind) context.note(`left behind: ${line}`)
  if (options.worktree && worktree !== undefined) removeWorktree(context, record, worktree)
  return answerOf(record, leftBehind)
}

/** Runs teardown.sh once; returns what --force leaves behind. */
async function tearDown(
  context: Context,
  stage: Stage,
  change: ChangeRecord,
  options: DestroyOptions,
): Promise<string[]> {
  const { record } = stage
  if (record.tornDown) return []
  await prepareStage(context, stage)
  try {
    requireUsableScripts(stage, ['teardown'])
    if (hasScript(stage, 'teardown')) {
      await restoreEnvFile(context.stateDir, record.id, stage.root)
      await runLifecycleScript(context, stage, 'teardown', { timeoutMs: options.timeoutMs })
    } else if (record.lastRun !== undefined || record.scripts !== undefined) {
      context.note('.preview/teardown.sh does not exist: only what penv itself holds is released')
    }
  } catch (error) {
    if (!context.flags.force || !(error instanceof PenvError) || error.code === 'INTERRUPTED')
      throw withState(error)
    context.note(`${error.message.split(';')[0]}; going on because of --force`)
    await change((ledger, current) => ({
      ledger: withRecord(ledger, { ...current, tornDown: true }),
      value: undefined,
    }))
    return describeLeftovers(record)
  }
  await change((ledger, current) => ({
    ledger: current.tornDown ? ledger : withRecord(ledger, { ...current, tornDown: true }),
    value: undefined,
  }))
  return []
}

function withState(error: unknown): unknown {
  if (!(error instanceof PenvError)) return error
  const { code, message, facts, hint, details, exit, cause } = error
  return new PenvError({
    code,
    message,
    facts,
    ...(hint === undefined ? {} : { hint }),
    details: { ...details, state: 'teardown-failed' },
    exit,
    cause,
  })
}

function describeLeftovers({ ports, indexes, names }: EnvironmentRecord): string[] {
  return [
    ...Object.values(names).map(name => `name ${name}`),
    ...Object.entries(indexes).map(([name, { value }]) => `index ${value} (${name})`),
    ...Object.entries(ports).map(([name, port]) => `port ${port} (${name})`),
  ]
}

/** `.env.preview` if it is ours, then everything of ours in the state directory, then the marker. */
function removeFiles(context: Context, { record, root, gone }: Stage): void {
  if (!gone) removeEnvFileIfOurs({ file: join(root, ENV_FILE_NAME), id: record.id })
  // A folder that git has forgotten may still hold our file.
  if (gone) removeEnvFileIfOurs({ file: join(record.root, ENV_FILE_NAME), id: record.id })
  const directory = environmentDirectory(context.stateDir, record.id)
  try {
    rmSync(directory, { recursive: true, force: true })
  } catch (error) {
    throw new PenvError({
      code: 'STATE_UNWRITABLE',
      message: `teardown is done, but ${directory} cannot be removed (${errnoOf(error)}); ${record.id} keeps its allocations`,
      hint: `To go on, run: rm -rf ${quoteForShell(directory)} && penv destroy ${record.id}`,
      details: { id: record.id, path: directory, state: 'teardown-failed' },
      cause: error,
    })
  }
  removeMarker(record.gitDir, record)
}

function refuseUncommittedWork(context: Context, { id }: EnvironmentRecord, worktree: string): void {
  if (context.flags.force) return
  const { status, stdout, stderr } = askGit(['status', '--porcelain'], worktree, context.env)
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

function removeWorktree(context: Context, record: EnvironmentRecord, worktree: string): void {
  const args = [
    '--git-dir',
    record.repo,
    'worktree',
    'remove',
    ...(context.flags.force ? ['--force'] : []),
    '--',
    worktree,
  ]
  const { status, stderr } = askGit(args, record.repo, context.env)
  if (status === 0) return
  throw new PenvError({
    code: 'WORKTREE_NOT_REMOVED',
    message: `${record.id} is destroyed, but git did not remove its worktree: ${stderr.trim().replace(/^fatal: /, '')}`,
    hint: `To remove it, run: git worktree remove --force ${quoteForShell(worktree)}`,
    details: { id: record.id, root: worktree },
  })
}

function answerOf(record: EnvironmentRecord, leftBehind: readonly string[]): Answer {
  return { json: { id: record.id, destroyed: true, leftBehind }, text: `${record.id} is destroyed` }
}
