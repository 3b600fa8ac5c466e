// `penv session`: for agent hooks at the start of a session. Tells the agent about its environment; silent where
// there is none; never fails, because a failing hook blocks its host.

import { join } from 'node:path'
import type { Answer, Context } from '../context.ts'
import { composeBriefing } from '../core/briefing.ts'
import { listEnvKeys } from '../core/env-entries.ts'
import { findStamp, readEnvVariables, renderExports } from '../core/env-file.ts'
import { PenvError } from '../errors.ts'
import { appendExports } from '../host/agent-env.ts'
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
    return silent(reason)
  }
}

async function describeSession(context: Context): Promise<Answer> {
  const found = await findEnvironmentOfPlace(context)
  if (found.kind !== 'environment') return silent(found.reason)
  const { id, root, paths } = found
  const record = found.record && withoutDeadRun(found.record)
  const envText = readEnvFile(join(root, ENV_FILE_NAME)) ?? ''
  // A copy of another environment's file says nothing about this one.
  const isOurs = findStamp(envText) === id
  const text = composeBriefing({
    id,
    root,
    branch: paths === undefined ? '' : readBranch(paths.gitDir),
    record,
    keys: isOurs ? listEnvKeys(envText) : [],
    hasScripts: isFile(join(root, SCRIPTS_DIRECTORY_NAME, 'provision.sh')),
  })
  if (text === '') return silent('no lifecycle scripts on this branch')
  const agentFile = context.env.CLAUDE_ENV_FILE
  if (agentFile && isOurs && record?.state === 'ready')
    appendExports(agentFile, renderExports(await readEnvVariables(envText)))
  return {
    // Gemini CLI and others read nothing of a hook but this field.
    json: {
      id,
      state: record?.state ?? 'none',
      text,
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: text },
    },
    text,
  }
}

function silent(reason: string): Answer {
  return { json: { skipped: true, reason }, text: '' }
}
