// Replaces a file whole or not at all, and lets only one of several writers that saw the same file succeed.
// It never opens the file itself for writing, and never leaves a temporary file behind.

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errnoOf } from './errno.ts'

/**
 * Writes a temporary file beside `file` and renames it over; a symlink there is replaced, not followed.
 * `checkBefore` runs last before the rename and may call it off. Returns whether the file was replaced; it
 * was not either when another writer has removed the temporary file.
 * Errors are those of the system calls.
 */
export function replaceFileAtomically(
  file: string,
  bytes: Uint8Array,
  mode: number,
  checkBefore?: (temporary: string) => boolean,
): boolean {
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    try {
      writeAll(descriptor, bytes)
      fchmodSync(descriptor, mode)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    if (checkBefore !== undefined && !checkBefore(temporary)) {
      removeFile(temporary)
      return false
    }
    return renameIfThere(temporary, file)
  } catch (error) {
    removeFile(temporary)
    throw error
  }
}

/**
 * Removes what other writers of `file` have begun, alive or dead. A writer that does this after it has made
 * its own temporary file, and only then looks whether the file is still the one it read, cannot overwrite
 * another's work: of two that saw the same file, the one that looked later has removed the other's temporary
 * file, or sees what that one wrote. This holds even where a lock let both in.
 */
export function removeTemporaries(file: string, own?: string): void {
  const directory = dirname(file)
  const start = `${basename(file)}.`
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(start) || !/^\d+\.[0-9a-f]{12}\.tmp$/.test(name.slice(start.length))) continue
    if (own === undefined || name !== basename(own)) removeFile(join(directory, name))
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  // A write may take less than it was given, and says so only in its result.
  for (let done = 0; done < bytes.length; ) {
    const count = writeSync(descriptor, bytes, done, bytes.length - done)
    if (count === 0) throw new Error('the system wrote nothing')
    done += count
  }
}

function renameIfThere(temporary: string, file: string): boolean {
  try {
    renameSync(temporary, file)
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    throw error
  }
}

function removeFile(file: string): void {
  try {
    unlinkSync(file)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}
