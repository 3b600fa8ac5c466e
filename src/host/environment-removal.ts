// Removes what penv itself holds for an environment, in the order that a killed destroy can be continued from. Never
// removes a file that carries another environment's stamp or marker.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { quoteForShell } from '../core/shell-words.ts'
import { PenvError } from '../errors.ts'
import { removeEnvFileIfOurs } from './env-file.ts'
import { errnoOf } from './errno.ts'
import type { Stage } from './lifecycle.ts'
import { removeMarker } from './marker.ts'
import { ENV_FILE_NAME, environmentDirectory } from './paths.ts'

/**
 * `.env.preview` if it is ours, then everything of ours in the state directory, then the marker. Returns what
 * `force` leaves behind. Errors: ENV_FILE, STATE_UNWRITABLE.
 */
export function removeEnvironmentFiles(stateDir: string, stage: Stage, force: boolean): string[] {
  const { record, root, gone } = stage
  const leftBehind: string[] = []
  // A folder that git has forgotten may still hold our file.
  const file = join(gone ? record.root : root, ENV_FILE_NAME)
  try {
    removeEnvFileIfOurs({ file, id: record.id })
  } catch (error) {
    if (!force || !(error instanceof PenvError)) throw error
    leftBehind.push(`file ${file}`)
  }
  const directory = environmentDirectory(stateDir, record.id)
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
  return leftBehind
}
