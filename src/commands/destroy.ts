// `penv destroy`: teardown first, then the environment's files, the marker, and last the record. Slots become
// free only after teardown has succeeded, or with --force, which names what it leaves behind.

import { type Answer, type Context, skip } from '../context.ts'
import type { WorktreePaths } from '../core/identity.ts'
import { type EnvironmentRecord, recordsOf, requireRecord, withRecord } from '../core/ledger.ts'
import { PenvError } from '../errors.ts'
import { changeRecord, changeRecordOfPlace, removeRecord } from '../host/environment-changes.ts'
import { restoreEnvFile } from '../host/environment-files.ts'
import { removeEnvironmentFiles } from '../host/environment-removal.ts'
import { findEnvironmentOfPlace, findWorktreeOf } from '../host/environments.ts'
import { listenForInterrupts } from '../host/interrupts.ts'
import { readLedger } from '../host/ledger-files.ts'
import {
  hasScript,
  prepareStage,
  requireUsableScripts,
  runLifecycleScript,
  type Stage,
  setStage,
  withKeptScript,
} from '../host/lifecycle.ts'
import { type Begun, beginRun, type ChangeRecord, endRun, type RunResult } from '../host/runs.ts'
import { refuseUncommittedWork, removeWorktree } from '../host/worktree-removal.ts'

export interface DestroyOptions {
  /** Undefined: the environment of this worktree. */
  id?: string | undefined
  worktree?: boolean
  timeoutMs?: number | undefined
}

export async function destroy(context: Context, options: DestroyOptions): Promise<Answer> {
  const target = await findTarget(context, options)
  if ('nothing' in target) return target.nothing
  const { record, paths, worktree } = target
  if (options.worktree && worktree !== undefined && !context.flags.force)
    refuseUncommittedWork(context, record.id, worktree)
  const change: ChangeRecord = transition => changeRecord(context.stateDir, record, transition)
  // From the worktree itself the record follows a move before anything runs.
  const begin: ChangeRecord = transition => changeRecordOfPlace(context.stateDir, record, paths, transition)
  const begun = await beginDestroy(context, begin, options)
  if (begun.kind === 'joined') {
    if (begun.record === undefined) return answerOf(record, [])
    throw new PenvError({
      code: 'TEARDOWN_FAILED',
      message: begun.lastRun?.error?.message ?? 'the "penv destroy" that this one waited for has failed',
      details: { ...begun.lastRun?.error?.details, id: record.id, joined: true },
    })
  }
  const interrupts = listenForInterrupts()
  const stage = withKeptScript(context, setStage(context, begun.record, begun.run, interrupts), 'teardown')
  let leftBehind: string[] = []
  let result: RunResult | undefined = { ok: false, state: 'teardown-failed' }
  try {
    leftBehind = await tearDown(context, stage, change, options)
    leftBehind.push(...removeEnvironmentFiles(context.stateDir, stage, context.flags.force))
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
  if (options.worktree && worktree !== undefined)
    removeWorktree(context, record, worktree, context.flags.force)
  return answerOf(record, leftBehind)
}

interface Target {
  record: EnvironmentRecord
  /** Where this worktree is, when the command was called in it. */
  paths: WorktreePaths | undefined
  /** The folder that `--worktree` removes. */
  worktree: string | undefined
}

async function findTarget(context: Context, options: DestroyOptions): Promise<Target | { nothing: Answer }> {
  if (options.id !== undefined) {
    const record = requireRecord(await readLedger(context.stateDir), options.id)
    return { record, paths: undefined, worktree: findWorktreeOf(record) }
  }
  const found = await findEnvironmentOfPlace(context)
  if (found.kind !== 'environment') return { nothing: skip(context, found.reason) }
  const { id, root, paths, record } = found
  if (record !== undefined) return { record, paths, worktree: root }
  // A destroy that was killed behind the removal of the marker: only the record is left.
  const rest = recordsOf(found.ledger).find(
    other => other.tornDown && other.root === root && other.gitDir === paths?.gitDir,
  )
  if (rest !== undefined) return { record: rest, paths: undefined, worktree: root }
  const reason = `${id} holds nothing, so there is nothing to destroy`
  if (!options.worktree || paths === undefined) return { nothing: skip(context, reason) }
  if (!context.flags.force) refuseUncommittedWork(context, id, root)
  removeWorktree(context, { id, repo: paths.commonDir }, root, context.flags.force)
  return { nothing: skip(context, `${reason}; its worktree is removed`) }
}

async function beginDestroy(context: Context, begin: ChangeRecord, options: DestroyOptions): Promise<Begun> {
  try {
    return await beginRun(context, begin, {
      command: 'destroy',
      flags: '',
      state: 'destroying',
      force: context.flags.force,
      timeoutMs: options.timeoutMs,
      note: context.note,
    })
  } catch (error) {
    // Another destroy was faster: what was asked for has happened.
    if (error instanceof PenvError && error.code === 'NO_ENVIRONMENT')
      return { kind: 'joined', lastRun: undefined, record: undefined }
    throw error
  }
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

function answerOf(record: EnvironmentRecord, leftBehind: readonly string[]): Answer {
  return { json: { id: record.id, destroyed: true, leftBehind }, text: `${record.id} is destroyed` }
}
