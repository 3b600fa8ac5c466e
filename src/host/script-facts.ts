// Reads the files of `.preview/` for doctor. Only looks.

import { readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { ScriptFacts } from '../core/doctor/judge-scripts.ts'
import { isDirectory, SCRIPTS_DIRECTORY_NAME } from './paths.ts'
import { listFiles } from './snapshot.ts'

const MAX_BYTES = 200_000

/** The shell scripts of `.preview/`, with paths relative to the root. */
export function readScriptFacts(root: string): ScriptFacts[] {
  const directory = join(root, SCRIPTS_DIRECTORY_NAME)
  if (!isDirectory(directory)) return []
  return listFiles(directory)
    .filter(file => file.endsWith('.sh') && statSync(file).size <= MAX_BYTES)
    .map(file => ({
      file: relative(root, file),
      text: readFileSync(file, 'utf8'),
      isExecutable: (statSync(file).mode & 0o111) !== 0,
    }))
}
