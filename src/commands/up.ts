// `penv up`: provisions the environment of this worktree, and seeds it where asked. A second `up` meanwhile
// joins the first.

import { join } from 'node:path'
import { type Answer, type Context, skip } from '../context.ts'
import { describeHoldings } from '../core/holdings.ts'
import { type EnvironmentRecord, type LastRun, lookUp } from '../core/ledger.ts'
import { SCRIPT_NAMES } from '../core/script-failure.ts'
import { type ErrorCode, PenvError } from '../errors.ts'
import { changeEnvironmentOfPlace } from '../host/environment-changes.ts'
import { mirrorEnvFile, startEnvFile } from '../host/environment-files.ts'
import { findEnvironmentOfPlace } from '../host/environments.ts'
import { excludeEnvFile } from '../host/git-exclude.ts'
import { readLedger } from '../host/ledger-files.ts'
import {
  hasScript,
  listWithoutRunBit,
  prepareStage,
  requireUsableScripts,
  runLifecycleScript,
  type Stage,
} from '../host/lifecycle.ts'
import { ENV_FILE_NAME, isFile, SCRIPTS_DIRECTORY_NAME } from '../host/paths.ts'
import { beginRun } from '../host/runs.ts'
import { takeSnapshot } from '../host/snapshot.ts'
import { doRun } from '../host/staged-run.ts'
import { type ChosenTemplate, obtainTemplate } from '../host/templates.ts'

export interface UpOptions {
  seed?: boolean
  migrate?: boolean
  timeoutMs?: number | undefined
}

export async function up(context: Context, options: UpOptions): Promise<Answer> {
  const found = await findEnvironmentOfPlace(context)
  if (found.kind !== 'environment') return skip(context, found.reason)
  const script = join(found.root, SCRIPTS_DIRECTORY_NAME, 'provision.sh')
  if (!isFile(script)) throw noScripts(found.root)
  const startedAt = Date.now()
  const begun = await beginRun(
    context,
    transition => changeEnvironmentOfPlace(context, 'run "penv up"', transition),
    {
      command: 'up',
      flags: [...(options.seed ? ['seed'] : []), ...(options.migrate === false ? ['no-migrate'] : [])].join(
        ' ',
      ),
      state: 'provisioning',
      force: context.flags.force,
      timeoutMs: options.timeoutMs,
      note: context.note,
    },
  )
  if (begun.kind === 'joined') return answerOfJoined(begun.lastRun, begun.record)
  await doRun(context, begun, { ok: 'ready', failed: 'failed' }, async stage => {
    const mirror = () => mirrorEnvFile(context.stateDir, stage.record.id, stage.root)
    const { scripts, template } = await provision(context, stage, options).catch(async error => {
      // What a script wrote before it failed, teardown has to know too; the failure itself is what counts.
      await mirror().catch(() => {})
      throw error
    })
    await mirror()
    return { value: undefined, fields: { scripts, ...(template === undefined ? {} : { template }) } }
  })
  const record = lookUp((await readLedger(context.stateDir)).environments, begun.record.id) ?? begun.record
  return answerOf(record, Date.now() - startedAt, false)
}

/** Returns the hash of the scripts that ran, and the template that was offered to them. */
async function provision(
  context: Context,
  stage: Stage,
  options: UpOptions,
): Promise<{ scripts: string; template: string | undefined }> {
  const { record, root } = stage
  await prepareStage(context, stage)
  requireUsableScripts(stage, ['provision', 'seed'])
  const withoutRunBit = listWithoutRunBit(stage, SCRIPT_NAMES)
  if (withoutRunBit.length > 0)
    context.note(
      `without a run bit, and run all the same: ${withoutRunBit.join(' ')}; to set it, run: chmod +x ${SCRIPTS_DIRECTORY_NAME}/*.sh`,
    )
  if (options.seed && !hasScript(stage, 'seed'))
    context.note(`${SCRIPTS_DIRECTORY_NAME}/seed.sh does not exist: nothing is seeded`)
  const scripts = takeSnapshot(context.stateDir, record.id, root)
  if (excludeEnvFile(record.repo) === 'unwritable')
    context.note(
      `${ENV_FILE_NAME} is not kept out of git: ${join(record.repo, 'info', 'exclude')} cannot be written`,
    )
  const replaced = await startEnvFile(context.stateDir, record.id, root)
  if (replaced) context.note(`${ENV_FILE_NAME} was a copy of another environment's: started afresh`)
  const template = await findTemplate(context, stage, options)
  const told = {
    seed: options.seed === true,
    noMigrate: options.migrate === false,
    timeoutMs: options.timeoutMs,
    ...(template === undefined ? {} : { template: template.name, isTemplateFresh: template.isFresh }),
  }
  await runLifecycleScript(context, stage, 'provision', told)
  if (options.seed && hasScript(stage, 'seed')) await runLifecycleScript(context, stage, 'seed', told)
  return { scripts, template: template?.name }
}

/** Correctness never depends on cloning: without a template, provision.sh creates and migrates from nothing. */
async function findTemplate(
  context: Context,
  stage: Stage,
  { migrate, timeoutMs }: UpOptions,
): Promise<ChosenTemplate | undefined> {
  // An environment that was ready once has its database: a template would come too late for it.
  const mayBuild = migrate !== false && stage.record.scripts === undefined
  try {
    return await obtainTemplate(context, stage, { timeoutMs, mayBuild, force: context.flags.force })
  } catch (error) {
    if (!(error instanceof PenvError) || error.code !== 'BOOTSTRAP_FAILED') throw error
    context.note(`no template: ${error.message.split(';')[0]}; going on without one`)
    return undefined
  }
}

function noScripts(root: string): PenvError {
  return new PenvError({
    code: 'NO_SCRIPTS',
    message: `no lifecycle scripts: ${root} has no ${SCRIPTS_DIRECTORY_NAME}/provision.sh on this branch`,
    hint: 'To write them from what the repository is made of, run: penv init',
    details: { root },
  })
}

function answerOfJoined(lastRun: LastRun | undefined, record: EnvironmentRecord | undefined): Answer {
  if (lastRun?.ok && record !== undefined) return answerOf(record, undefined, true)
  throw new PenvError({
    code: (lastRun?.error?.code ?? 'PROVISION_FAILED') as ErrorCode,
    message: lastRun?.error?.message ?? 'the "penv up" that this one waited for has failed',
    hint: 'To retry, run: penv up',
    details: { ...lastRun?.error?.details, joined: true },
  })
}

function answerOf(record: EnvironmentRecord, elapsedMs: number | undefined, joined: boolean): Answer {
  const holdings = describeHoldings(record)
  const time = elapsedMs === undefined ? '' : ` in ${(elapsedMs / 1000).toFixed(1)} s`
  return {
    json: {
      id: record.id,
      state: record.state,
      root: record.root,
      branch: record.branch,
      ...holdings.json,
      joined,
    },
    text: [`${record.id} is ready${time}`, ...holdings.lines].join('\n'),
  }
}
