// `penv verify`: the engine's own checks, then the repository's `verify.sh`. Exit 1 when one fails.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Answer, type Context, skip } from '../context.ts'
import { findStamp, readEnvVariables } from '../core/env-file.ts'
import type { EnvironmentRecord } from '../core/ledger.ts'
import { findSharedResources, parseSharedList } from '../core/resources.ts'
import {
  type Check,
  checkAgainstLedger,
  checkEnvFile,
  checkPorts,
  checkSharedResources,
} from '../core/verify-checks.ts'
import { PenvError } from '../errors.ts'
import { readEnvFile } from '../host/env-file.ts'
import { changeRecordOfPlace } from '../host/environment-changes.ts'
import { findEnvironmentOfPlace } from '../host/environments.ts'
import { askGit, findMainCheckout } from '../host/git.ts'
import { readLedger } from '../host/ledger-files.ts'
import {
  hasScript,
  prepareStage,
  requireUsableScripts,
  runLifecycleScript,
  type Stage,
} from '../host/lifecycle.ts'
import { readMainVariables } from '../host/main-env.ts'
import { dataDirectory, ENV_FILE_NAME, findRealPath, isFile, SCRIPTS_DIRECTORY_NAME } from '../host/paths.ts'
import { findListeners } from '../host/processes.ts'
import { beginRun, type ChangeRecord } from '../host/runs.ts'
import { doRun } from '../host/staged-run.ts'

export async function verify(context: Context, options: { timeoutMs?: number | undefined }): Promise<Answer> {
  const found = await findEnvironmentOfPlace(context)
  if (found.kind !== 'environment') return skip(context, found.reason)
  const { record } = found
  if (record === undefined)
    throw new PenvError({
      code: 'VERIFY_FAILED',
      message: `verify failed: ${found.id} has never been up`,
      hint: 'To make it ready, run: penv up',
      details: { id: found.id, checks: [] },
    })
  const begin: ChangeRecord = transition =>
    changeRecordOfPlace(context.stateDir, record, found.paths, transition)
  const begun = await beginRun(context, begin, {
    command: 'verify',
    // Each verify runs its own: the world may have changed while it waited.
    flags: `${process.pid}`,
    state: undefined,
    force: context.flags.force,
    timeoutMs: options.timeoutMs,
    note: context.note,
  })
  if (begun.kind === 'joined') throw new PenvError({ code: 'BUG', message: 'a verify was joined' })
  return doRun(context, begun, { ok: undefined, failed: undefined }, async stage => ({
    value: await runChecks(context, stage, options),
  }))
}

async function runChecks(
  context: Context,
  stage: Stage,
  options: { timeoutMs?: number | undefined },
): Promise<Answer> {
  const { record } = stage
  const checks = await gatherChecks(context, stage)
  for (const { verdict, message } of checks)
    if (verdict !== 'ok' || context.flags.verbose) context.note(`${verdict}: ${message}`)
  const failed = checks.filter(({ verdict }) => verdict === 'fail')
  if (failed.length > 0)
    throw new PenvError({
      code: 'VERIFY_FAILED',
      message: `verify failed for ${record.id}: ${failed.length === 1 ? failed[0]?.message : `${failed.length} checks failed`}`,
      hint: 'To see its values, run: penv status',
      details: { id: record.id, checks },
    })
  await prepareStage(context, stage)
  requireUsableScripts(stage, ['verify'])
  const ranScript = hasScript(stage, 'verify')
  try {
    if (ranScript) await runLifecycleScript(context, stage, 'verify', options)
    else context.note(`${SCRIPTS_DIRECTORY_NAME}/verify.sh does not exist: only penv's own checks ran`)
  } catch (error) {
    throw withChecks(error, checks)
  }
  const unchecked = checks.filter(({ verdict }) => verdict === 'unchecked').length
  return {
    json: { id: record.id, ok: true, checks, script: ranScript },
    text: `${record.id} is isolated: ${checks.filter(({ verdict }) => verdict === 'ok').length} checks ok${unchecked > 0 ? `, ${unchecked} unchecked` : ''}${ranScript ? ', verify.sh ok' : ''}`,
  }
}

async function gatherChecks(context: Context, stage: Stage): Promise<Check[]> {
  const { record, root } = stage
  const text = readEnvFile(join(root, ENV_FILE_NAME))
  const stamp = text === undefined ? undefined : findStamp(text)
  const variables = text === undefined ? new Map<string, string>() : await readEnvVariables(text)
  const isTracked =
    askGit(['ls-files', '--error-unmatch', '--', ENV_FILE_NAME], root, context.env).status === 0
  const fileChecks = checkEnvFile(record.id, text, stamp, isTracked)
  // A file that is not ours says nothing about our values.
  const isOurs = stamp === record.id
  return [
    ...fileChecks,
    ...(isOurs ? checkAgainstLedger(await readLedger(context.stateDir), record, variables) : []),
    ...(isOurs ? await compareWithMain(context, stage, variables) : []),
    ...checkPorts(describePorts(record), ownDirectories(context, stage)),
  ]
}

async function compareWithMain(
  context: Context,
  { record, scriptsDir }: Stage,
  variables: ReadonlyMap<string, string>,
): Promise<Check[]> {
  const main = findMainCheckout(record.repo, context.env)
  if (main === undefined) return checkSharedResources([], [], false)
  const compared = await readMainVariables(main)
  const list = join(scriptsDir, 'shared')
  const allowed = isFile(list) ? parseSharedList(readFileSync(list, 'utf8')) : new Set<string>()
  return checkSharedResources(
    findSharedResources(variables, compared.variables, allowed),
    compared.files,
    true,
  )
}

function describePorts({ ports }: EnvironmentRecord) {
  const listeners = findListeners(Object.values(ports))
  return Object.entries(ports).map(([name, port]) => ({
    name,
    port,
    listeners: listeners.filter(listener => listener.port === port),
  }))
}

function ownDirectories({ stateDir }: Context, { record, root }: Stage): string[] {
  const data = dataDirectory(stateDir, record.id)
  return [root, findRealPath(data) ?? data]
}

function withChecks(error: unknown, checks: readonly Check[]): unknown {
  if (!(error instanceof PenvError)) return error
  const { code, message, facts, hint, details, exit, cause } = error
  return new PenvError({
    code,
    message,
    facts,
    ...(hint === undefined ? {} : { hint }),
    details: { ...details, checks },
    exit,
    cause,
  })
}
