// Reads and writes the files of `.preview/` for init, and shows what a change of any file would look like. Never overwrites a file
// that it was not told to overwrite.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PenvError } from '../errors.ts'
import { replaceFileAtomically } from './atomic-file.ts'
import { errnoOf } from './errno.ts'
import { askGit } from './git.ts'
import { type Env, SCRIPTS_DIRECTORY_NAME } from './paths.ts'

const SCRIPT_MODE = 0o755
const TEXT_MODE = 0o644

/**
 * The files directly in `.preview/` by name. What is there and is no readable text (a directory, a link that leads
 * nowhere) counts as empty, so that it is kept.
 * @throws SCRIPT_UNUSABLE where `.preview` is no directory of the repository's own.
 */
export function readPreviewFiles(root: string): Map<string, string> {
  const directory = requireOwnDirectory(root)
  const names = existsSync(directory) ? readdirSync(directory) : []
  return new Map(names.map(name => [name, readTextOrNothing(join(directory, name))]))
}

/** Writes one file of `.preview/` whole; scripts get their run bit. */
export function writePreviewFile(root: string, name: string, text: string): void {
  changePreviewFile(root, name, file => {
    mkdirSync(dirname(file), { recursive: true })
    replaceFileAtomically(file, Buffer.from(text), modeOf(file))
  })
}

export function removePreviewFile(root: string, name: string): void {
  changePreviewFile(root, name, file => rmSync(file, { force: true }))
}

function changePreviewFile(root: string, name: string, change: (file: string) => void): void {
  const file = join(requireOwnDirectory(root), name)
  try {
    change(file)
  } catch (error) {
    throw new PenvError({
      code: 'SCRIPT_UNUSABLE',
      message: `cannot write ${join(SCRIPTS_DIRECTORY_NAME, name)} (${errnoOf(error)}); what was written before it is whole`,
      hint: 'To go on when it is writable, run: penv init',
      details: { path: file, errno: errnoOf(error) },
      cause: error,
    })
  }
}

/** `.preview`, which may be missing, but must not lead elsewhere: init writes only into the repository. */
function requireOwnDirectory(root: string): string {
  const directory = join(root, SCRIPTS_DIRECTORY_NAME)
  const stats = lstatSync(directory, { throwIfNoEntry: false })
  if (stats === undefined || stats.isDirectory()) return directory
  throw new PenvError({
    code: 'SCRIPT_UNUSABLE',
    message: `cannot write scripts: ${SCRIPTS_DIRECTORY_NAME} is ${stats.isSymbolicLink() ? 'a link' : 'no directory'}`,
    details: { path: directory },
  })
}

function readTextOrNothing(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // EISDIR, ENOENT of a dangling link, EACCES: something is there all the same.
    return ''
  }
}

function modeOf(file: string): number {
  return file.endsWith('.sh') ? SCRIPT_MODE : TEXT_MODE
}

/** A unified diff of one file, by git; undefined stands for a file that does not exist. */
export function diffTexts(
  path: string,
  before: string | undefined,
  after: string | undefined,
  env: Env,
): string {
  const directory = mkdtempSync(join(tmpdir(), 'penv-diff-'))
  try {
    for (const [side, text] of [
      ['a', before],
      ['b', after],
    ] as const) {
      if (text === undefined) continue
      mkdirSync(join(directory, side, dirname(path)), { recursive: true })
      writeFileSync(join(directory, side, path), text, { mode: modeOf(path) })
    }
    const sideOf = (side: string, text: string | undefined) =>
      text === undefined ? '/dev/null' : join(side, path)
    // Exit 1 means that there are differences.
    const args = [
      'diff',
      '--no-index',
      '--no-color',
      '--no-ext-diff',
      '--no-prefix',
      '--',
      sideOf('a', before),
      sideOf('b', after),
    ]
    return askGit(args, directory, env).stdout
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
