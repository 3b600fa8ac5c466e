// `penv bootstrap`: builds the template of this worktree's schema by hand, or drops those of the repository.

import { type Answer, type Context, skip } from '../context.ts'
import { PenvError } from '../errors.ts'
import { changeEnvironmentOfPlace } from '../host/environment-changes.ts'
import { findEnvironmentOfPlace } from '../host/environments.ts'
import { readLedger } from '../host/ledger-files.ts'
import { prepareStage, type Stage } from '../host/lifecycle.ts'
import { isFile } from '../host/paths.ts'
import { beginRun } from '../host/runs.ts'
import { doRun } from '../host/staged-run.ts'
import { dropTemplate, obtainTemplate, templatesOf } from '../host/templates.ts'

export interface BootstrapOptions {
  drop?: boolean
  timeoutMs?: number | undefined
}

export async function bootstrap(context: Context, options: BootstrapOptions): Promise<Answer> {
  const found = await findEnvironmentOfPlace(context)
  if (found.kind !== 'environment') return skip(context, found.reason)
  const script = `${found.root}/.preview/bootstrap.sh`
  if (!isFile(script))
    throw new PenvError({
      code: 'NO_SCRIPTS',
      message: `no template is built here: ${script} does not exist`,
      details: { root: found.root },
    })
  const begun = await beginRun(
    context,
    transition => changeEnvironmentOfPlace(context, 'run "penv bootstrap"', transition),
    {
      command: 'bootstrap',
      flags: `${process.pid}`,
      state: undefined,
      force: context.flags.force,
      timeoutMs: options.timeoutMs,
      note: context.note,
    },
  )
  if (begun.kind === 'joined') throw new PenvError({ code: 'BUG', message: 'a bootstrap was joined' })
  return doRun(context, begun, { ok: undefined, failed: undefined }, async stage => {
    await prepareStage(context, stage)
    return {
      value: options.drop ? await dropAll(context, stage, options) : await build(context, stage, options),
    }
  })
}

async function build(context: Context, stage: Stage, { timeoutMs }: BootstrapOptions): Promise<Answer> {
  const startedAt = Date.now()
  const template = await obtainTemplate(context, stage, {
    timeoutMs,
    rebuild: context.flags.force,
    force: context.flags.force,
    mayBuild: true,
  })
  if (template === undefined)
    throw new PenvError({ code: 'BUG', message: 'bootstrap.sh exists, but no template came of it' })
  const took = template.built
    ? `built in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`
    : template.isFresh
      ? 'up to date'
      : 'older than this branch, newer migrations follow on up'
  return {
    json: { template: template.name, fresh: template.isFresh, built: template.built },
    text: `${template.name}: ${took}`,
  }
}

async function dropAll(context: Context, stage: Stage, options: BootstrapOptions): Promise<Answer> {
  const templates = templatesOf(await readLedger(context.stateDir)).filter(
    template => template.repo === stage.record.repo && template.state === 'ready',
  )
  for (const { name } of templates) await dropTemplate(context, stage, name, options)
  const names = templates.map(({ name }) => name)
  return { json: { dropped: names }, text: names.map(name => `${name}: dropped`).join('\n') }
}
