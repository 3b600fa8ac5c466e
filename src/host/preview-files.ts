// Reads and writes the files of `.preview/` for init. Never overwrites a file that it was not told to overwrite, and
// never writes through a link.

import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PreviewEntry } from '../core/init/init-plan.ts'
import { PenvError } from '../errors.ts'
import { removeTemporaries, replaceFileAtomically } from './atomic-file.ts'
import { describeErrno } from './errno.ts'
import { SCRIPTS_DIRECTORY_NAME } from './paths.ts'

const SCRIPT_MODE = 0o755
const TEXT_MODE = 0o644

/**
 * What lies directly in `.preview/`, by name.
 * @throws SCRIPT_UNUSABLE where `.preview` is no directory of the repository's own.
 */
export function readPreviewFiles(root: string): Map<string, PreviewEntry> {
  const directory = requireOwnDirectory(root)
  const names = existsSync(directory) ? readdirSync(directory) : []
  return new Map(names.map(name => [name, readEntry(join(directory, name))]))
}

/** Writes one file of `.preview/` whole; scripts get their run bit. Errors are those of the system calls. */
export function writePreviewFile(root: string, name: string, text: string): void {
  const file = join(requireOwnDirectory(root), name)
  mkdirSync(dirname(file), { recursive: true })
  // Of an init that was killed.
  removeTemporaries(file)
  replaceFileAtomically(file, Buffer.from(text), isScript(name) ? SCRIPT_MODE : TEXT_MODE)
}

export function removePreviewFile(root: string, name: string): void {
  rmSync(join(requireOwnDirectory(root), name), { force: true })
}

export function isScript(name: string): boolean {
  return name.endsWith('.sh')
}

/** `.preview`, which may be missing, but must not lead elsewhere: init writes only into the repository. */
function requireOwnDirectory(root: string): string {
  const directory = join(root, SCRIPTS_DIRECTORY_NAME)
  const stats = lstatSync(directory, { throwIfNoEntry: false })
  if (stats === undefined || stats.isDirectory()) return directory
  throw new PenvError({
    code: 'SCRIPT_UNUSABLE',
    message: `cannot write scripts: ${SCRIPTS_DIRECTORY_NAME} is ${stats.isSymbolicLink() ? 'a link' : 'no directory'}`,
    hint: `To look at it, run: ls -ld ${SCRIPTS_DIRECTORY_NAME}`,
    details: { path: directory },
  })
}

function readEntry(file: string): PreviewEntry {
  try {
    if (!statSync(file).isFile()) return { problem: 'it is no file' }
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file)) }
  } catch (error) {
    return {
      problem:
        error instanceof TypeError ? 'it is no UTF-8 text' : `it cannot be read: ${describeErrno(error)}`,
    }
  }
}
