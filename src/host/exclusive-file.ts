// Makes a file appear whole, on the disk, and only where no other process was first: a temporary file gets the
// name by link(2). Never opens or replaces the file itself.

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { errnoOf } from './errno.ts'
import { makePrivateDirectory } from './paths.ts'

const STRAY_TEMP_MS = 600_000

/**
 * False when the file exists already, or when the temporary file was taken for a stray one while this process
 * was stopped: either way, start over. Temporary files live in the directory `temporary`, on the same file
 * system. Other errors are those of the system calls.
 */
export function createFileExclusively(temporary: string, file: string, text: string): boolean {
  const temp = join(temporary, `${process.pid}-${randomBytes(8).toString('hex')}`)
  try {
    makePrivateDirectory(temporary)
    writeDurably(temp, text)
    linkSync(temp, file)
    syncDirectory(dirname(file))
    removeStrayTemps(temporary)
    return true
  } catch (error) {
    if (isLinkError(error) && ['EEXIST', 'ENOENT'].includes(errnoOf(error))) return false
    throw error
  } finally {
    removeIfThere(temp)
  }
}

export function isLinkError(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.syscall === 'link'
}

export function removeIfThere(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // Gone already, or not ours to remove: what is left over here is harmless.
  }
}

function writeDurably(file: string, text: string): void {
  const bytes = Buffer.from(text)
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    for (let written = 0; written < bytes.length; ) {
      const count = writeSync(descriptor, bytes, written)
      if (count === 0) throw shortWrite()
      written += count
    }
    if (fstatSync(descriptor).size !== bytes.length) throw shortWrite()
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function shortWrite(): Error {
  return Object.assign(new Error('short write'), { code: 'ENOSPC' })
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Temps of killed processes. One that a stopped process still wants is no loss: its link fails and it starts over. */
function removeStrayTemps(temporary: string): void {
  const now = Date.now()
  try {
    for (const name of readdirSync(temporary)) {
      const file = join(temporary, name)
      const stats = statSync(file, { throwIfNoEntry: false })
      if (stats !== undefined && now - stats.mtimeMs > STRAY_TEMP_MS) removeIfThere(file)
    }
  } catch {
    // What could not be tidied now is tidied next time; the file itself has its name already.
  }
}
