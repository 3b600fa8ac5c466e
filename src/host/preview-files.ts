// Writes the files of `.preview/` and shows what a change of any file would look like. Never overwrites a file
// that it was not told to overwrite.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PenvError } from '../errors.ts'
import { replaceFileAtomically } from './atomic-file.ts'
import { errnoOf } from './errno.ts'
import { askGit } from './git.ts'
import type { Env } from './paths.ts'

const SCRIPT_MODE = 0o755
const TEXT_MODE = 0o644

/** Writes one file of `.preview/` whole; scripts get their run bit. */
export function writePreviewFile(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    replaceFileAtomically(file, Buffer.from(text), file.endsWith('.sh') ? SCRIPT_MODE : TEXT_MODE)
  } catch (error) {
    throw new PenvError({
      code: 'STATE_UNWRITABLE',
      message: `${file} was not written (${errnoOf(error)})`,
      details: { path: file, errno: errnoOf(error) },
      cause: error,
    })
  }
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
      writeFileSync(join(directory, side, path), text)
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
