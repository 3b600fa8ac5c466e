// Keeps `.env.preview` out of git for all worktrees of a repository, through the common dir's info/exclude.
// It adds one line and never changes another; a repository that cannot be written is no error.

import { mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { removeTemporaries, replaceFileAtomically } from './atomic-file.ts'
import { errnoOf } from './errno.ts'

const PATTERN = '/.env.preview'
const MAX_ATTEMPTS = 200

export function excludeEnvFile(commonDir: string): 'added' | 'present' | 'unwritable' {
  try {
    const info = join(commonDir, 'info')
    mkdirSync(info, { recursive: true })
    const file = findTarget(join(info, 'exclude'))
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const text = readBytes(file)
      if (isExcluded(text)) return 'present'
      const bytes = Buffer.from(addLine(text), 'latin1')
      const isDone = replaceFileAtomically(file, bytes, modeOf(file), temporary => {
        removeTemporaries(file, temporary)
        return readBytes(file) === text
      })
      if (isDone) return 'added'
    }
    return 'unwritable'
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return 'unwritable'
  }
}

/** People link this file to one of their own: the line belongs there, and the link stays. */
function findTarget(file: string): string {
  try {
    return realpathSync.native(file)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return file
    throw error
  }
}

/** One character a byte, so that a line in any encoding is written back as it was. */
function readBytes(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return ''
    throw error
  }
}

function isExcluded(text: string): boolean {
  return text.split('\n').some(line => /^\/?\.env\.preview[ \r]*$/.test(line))
}

function addLine(text: string): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  return `${text}${text === '' || text.endsWith('\n') ? '' : eol}${PATTERN}${eol}`
}

function modeOf(file: string): number {
  return (statSync(file, { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777
}
