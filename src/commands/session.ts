// `penv session`: for agent hooks at the start of a session. Tells the agent about its environment; silent where
// there is none; never fails, because a failing hook blocks its host.

import { join } from 'node:path'
import type { Answer, Context } from '../context.ts'
import { composeBriefing } from '../core/briefing.ts'
import { listEnvKeys } from '../core/env-entries.ts'
import { PenvError } from '../errors.ts'
import { readEnvFile } from '../host/env-file.ts'
import { findEnvironmentOfPlace } from '../host/environments.ts'
import { readBranch } from '../host/git.ts'
import { ENV_FILE_NAME, isFile, SCRIPTS_DIRECTORY_NAME } from '../host/paths.ts'
import { withoutDeadRun } from '../host/runs.ts'

export async function session(context: Context): Promise<Answer> {
  try {
    return await describeSession(context)
  } catch (error) {
    const reason = error instanceof PenvError ? error.message : String(error)
    context.note(`no session text: ${reason}`)
    return { json: { skipped: true, reason }, text: '' }
  }
}

async function describeSession(context: Context): Promise<Answer> {
  const found = await findEnvironmentOfPlace(context)
  if (found.kind !== 'environment') return { json: { skipped: true, reason: found.reason }, text: '' }
  const { id, root, paths } = found
  const record = found.record && withoutDeadRun(found.record)
  const text = composeBriefing({
    id,
    root,
    branch: paths === undefined ? '' : readBranch(paths.gitDir),
    record,
    keys: listEnvKeys(readEnvFile(join(root, ENV_FILE_NAME)) ?? ''),
    hasScripts: isFile(join(root, SCRIPTS_DIRECTORY_NAME, 'provision.sh')),
  })
  return {
    json:
      text === ''
        ? { skipped: true, reason: 'no lifecycle scripts on this branch' }
        : { id, state: record?.state ?? 'none', text },
    text,
  }
}
