// `.env.preview` of an environment over its life: begun with a stamp, mirrored into the snapshot, put back
// for teardown. What another environment's stamp says is never acted on.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findStamp } from '../core/env-file.ts'
import { PenvError } from '../errors.ts'
import { copyEnvFile, mergeEnvFile, readEnvFile, startEnvFileAfresh } from './env-file.ts'
import { ENV_FILE_NAME, isDirectory, snapshotRoot } from './paths.ts'

export function envLockDirectory(stateDir: string): string {
  return join(stateDir, 'locks')
}

/** Makes sure that the file is there and ours. True when it was another environment's copy and began anew. */
export async function startEnvFile(stateDir: string, id: string, root: string): Promise<boolean> {
  const target = { file: join(root, ENV_FILE_NAME), lockDir: envLockDirectory(stateDir), id }
  try {
    await mergeEnvFile({ ...target, changes: { set: new Map(), unset: [] } })
    return false
  } catch (error) {
    if (!(error instanceof PenvError) || error.code !== 'ENV_FOREIGN') throw error
    await startEnvFileAfresh(target)
    return true
  }
}

/** Keeps the snapshot's copy as the worktree has it now. Only our own file is copied. */
export async function mirrorEnvFile(stateDir: string, id: string, root: string): Promise<void> {
  const mirror = snapshotRoot(stateDir, id)
  const file = join(root, ENV_FILE_NAME)
  if (root === mirror || !isDirectory(mirror)) return
  const text = readEnvFile(file)
  if (text !== undefined && findStamp(text) === id) await copyEnvFile(file, join(mirror, ENV_FILE_NAME))
}

/**
 * Before teardown: the file as the last run left it, where it is missing or not ours, and at least a stamped
 * one, so that a script may source it.
 */
export async function restoreEnvFile(stateDir: string, id: string, root: string): Promise<void> {
  const file = join(root, ENV_FILE_NAME)
  const mirror = join(snapshotRoot(stateDir, id), ENV_FILE_NAME)
  const text = readEnvFile(file)
  const isOurs = text !== undefined && findStamp(text) === id
  if (!isOurs && file !== mirror && existsSync(mirror)) await copyEnvFile(mirror, file)
  await startEnvFile(stateDir, id, root)
}
