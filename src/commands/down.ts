// `penv down`: stops what the environment runs, by its own `down.sh`. Allocations and data stay.

import { type Answer, type Context, skip } from '../context.ts'
import { PenvError } from '../errors.ts'
import { changeRecordOfPlace } from '../host/environment-changes.ts'
import { findEnvironmentOfPlace } from '../host/environments.ts'
import { hasScript, prepareStage, requireUsableScripts, runLifecycleScript } from '../host/lifecycle.ts'
import { beginRun, type ChangeRecord } from '../host/runs.ts'
import { doRun } from '../host/staged-run.ts'

export async function down(context: Context, options: { timeoutMs?: number | undefined }): Promise<Answer> {
  const found = await findEnvironmentOfPlace(context)
  if (found.kind !== 'environment') return skip(context, found.reason)
  const { record } = found
  if (record === undefined) return skip(context, `${found.id} has never been up`)
  const begin: ChangeRecord = transition =>
    changeRecordOfPlace(context.stateDir, record, found.paths, transition)
  const begun = await beginRun(context, begin, {
    command: 'down',
    flags: '',
    state: undefined,
    force: context.flags.force,
    timeoutMs: options.timeoutMs,
    note: context.note,
  })
  if (begun.kind === 'joined') {
    if (begun.lastRun?.ok) return answerOf(record.id, true)
    throw new PenvError({
      code: 'DOWN_FAILED',
      message: begun.lastRun?.error?.message ?? 'the "penv down" that this one waited for has failed',
      details: { id: record.id, joined: true },
    })
  }
  return doRun(context, begun, { ok: undefined, failed: undefined }, async stage => {
    await prepareStage(context, stage)
    requireUsableScripts(stage, ['down'])
    const hasDown = hasScript(stage, 'down')
    if (hasDown) await runLifecycleScript(context, stage, 'down', options)
    else context.note('.preview/down.sh does not exist: nothing is stopped')
    return { value: answerOf(record.id, hasDown) }
  })
}

function answerOf(id: string, ran: boolean): Answer {
  return { json: { id, ran }, text: ran ? `${id} is down` : '' }
}
