// `penv env`: merges variables into `.env.preview`, or prints what is in it.

import { join } from 'node:path'
import type { Answer, Context } from '../context.ts'
import { readEnvVariables, renderExports } from '../core/env-file.ts'
import { parsePair, parsePairs } from '../core/env-pairs.ts'
import { requireEnvKey } from '../core/env-value.ts'
import { mergeEnvFile, readEnvFile } from '../host/env-file.ts'
import { changeEnvironment, refuseForeignOwner } from '../host/environment-changes.ts'
import { envLockDirectory, mirrorEnvFile } from '../host/environment-files.ts'
import { findEnvironment, notAWorktree, requireEnvironment } from '../host/environments.ts'
import { excludeEnvFile } from '../host/git-exclude.ts'
import { ENV_FILE_NAME } from '../host/paths.ts'
import { readPipedText } from '../host/piped-input.ts'

export interface EnvOptions {
  unset?: string[]
  export?: boolean
}

export async function env(context: Context, words: readonly string[], options: EnvOptions): Promise<Answer> {
  const unset = options.unset ?? []
  unset.forEach(requireEnvKey)
  const given = words.map(parsePair)
  // With arguments stdin is never read: a script's stdin may never end.
  const piped = given.length === 0 && unset.length === 0 ? await readPipedText() : ''
  const found = await findEnvironment(context)
  if (found.kind !== 'environment') throw notAWorktree(found, 'use .env.preview')
  if (given.length === 0 && unset.length === 0 && piped.trim() === '')
    return printVariables(join(found.root, ENV_FILE_NAME), options)
  const set = given.length > 0 ? new Map(given) : parsePairs(piped)
  if (found.record === undefined) await keepRecord(context)
  const { id, root, record, paths } = await requireEnvironment(context, 'use .env.preview')
  refuseForeignOwner(root)
  const repo = paths?.commonDir ?? record?.repo
  if (repo !== undefined && excludeEnvFile(repo) === 'unwritable')
    context.note(
      `${ENV_FILE_NAME} is not kept out of git: ${join(repo, 'info', 'exclude')} cannot be written`,
    )
  const file = join(root, ENV_FILE_NAME)
  const { keys } = await mergeEnvFile({
    file,
    lockDir: envLockDirectory(context.stateDir),
    id,
    changes: { set, unset },
  })
  await mirrorEnvFile(context.stateDir, id, root)
  return { json: { id, file, set: [...set.keys()], unset, keys }, text: '' }
}

/** A file that is stamped with an id needs a record of that id, or nothing would ever clean it up. */
async function keepRecord(context: Context): Promise<void> {
  await changeEnvironment(context, 'use .env.preview', (ledger, record) => ({
    ledger: { ...ledger },
    value: record.id,
  }))
}

async function printVariables(file: string, options: EnvOptions): Promise<Answer> {
  const text = readEnvFile(file) ?? ''
  const variables = await readEnvVariables(text)
  const lines = [...variables].map(([key, value]) => `${key}=${value}`)
  return {
    json: Object.fromEntries(variables),
    text: options.export ? renderExports(variables) : lines.join('\n'),
  }
}
