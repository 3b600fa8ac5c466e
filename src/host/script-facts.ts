// Reads the files of `.preview/` for doctor. Only looks, and never fails: what cannot be read is told as such.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptFacts } from '../core/doctor/judge-scripts.ts'
import { errnoOf } from './errno.ts'
import { SCRIPTS_DIRECTORY_NAME } from './paths.ts'

const MAX_BYTES = 200_000

/** The files directly in `.preview/`, with paths relative to the root. Larger ones are no scripts. */
export function readScriptFacts(root: string): ScriptFacts[] {
  return listNames(join(root, SCRIPTS_DIRECTORY_NAME)).flatMap((name): ScriptFacts[] => {
    const file = join(SCRIPTS_DIRECTORY_NAME, name)
    try {
      const stats = statSync(join(root, file))
      if (!stats.isFile() || stats.size > MAX_BYTES) return []
      const text = readFileSync(join(root, file), 'utf8')
      return [{ file, text, isExecutable: (stats.mode & 0o111) !== 0 }]
    } catch (error) {
      return [{ file, text: undefined, problem: errnoOf(error), isExecutable: true }]
    }
  })
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory).sort()
  } catch {
    return []
  }
}
