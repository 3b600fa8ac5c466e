// Reads and changes one `.env.preview` on disk, together with other processes that do the same.
// It never takes a file that it cannot read for an empty one, and never writes into another environment's file.

import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, unlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type EnvChanges, findStamp, mergeEnvText, readEnvVariables, STAMP_KEY } from '../core/env-file.ts'
import { busyFile, foreignFile, unclosedQuote, unusableFile } from '../core/env-file-errors.ts'
import { PenvError, usageError } from '../errors.ts'
import { removeTemporaries, replaceFileAtomically } from './atomic-file.ts'
import { describeErrno, errnoOf } from './errno.ts'
import { makePrivateDirectory } from './paths.ts'

export interface EnvFilePlace {
  file: string
  /** In the state directory: a lock beside the file would dirty the worktree. */
  lockDir: string
  /** The environment whose file this is. */
  id: string
}

const LOCK_STALE_MS = 2000
const LOCK_RETRIES = 1000
const LOCK_RETRY_MS = 25
const MAX_ATTEMPTS = 200

/** The text, or undefined where there is no file. Anything else that stands in the way is `ENV_FILE`. */
export function readEnvFile(file: string): string | undefined {
  const bytes = readRegularFile(file)
  if (bytes === undefined) return undefined
  const text = bytes.toString('utf8')
  // Written back, such bytes would come out as others.
  if (!Buffer.from(text).equals(bytes)) throw unusableFile('read', file, 'it is not UTF-8 text')
  return text
}

/**
 * Sets and unsets variables and stamps the file with the id; 0600 afterwards in any case.
 * `changed` is whether the text is another one now.
 */
export async function mergeEnvFile(
  place: EnvFilePlace & { changes: EnvChanges },
): Promise<{ changed: boolean; keys: string[] }> {
  const { file, id, changes } = place
  if (changes.unset.includes(STAMP_KEY) || (changes.set.get(STAMP_KEY) ?? id) !== id)
    throw usageError(`${STAMP_KEY} says whose file .env.preview is; it cannot be changed`)
  const stamped = { ...changes, set: new Map([[STAMP_KEY, id], ...changes.set]) }
  mergeEnvText('', stamped)
  const changed = await changeFile(place, async text => {
    const owner = findStamp(text ?? '')
    if (owner !== undefined && owner !== id) throw foreignFile(file, owner, id)
    const merged = mergeEnvText(text ?? '', stamped)
    const seen = await readEnvVariables(merged)
    for (const [key, value] of stamped.set) if (seen.get(key) !== value) throw unclosedQuote(key)
    return merged
  })
  return { changed, keys: [...changes.set.keys(), ...changes.unset] }
}

/** Replaces a copy of another environment's file by a new one with nothing but our stamp. */
export function startEnvFileAfresh(place: EnvFilePlace): Promise<boolean> {
  return changeFile(place, async text => {
    const owner = findStamp(text ?? '')
    if (text === undefined || owner === undefined || owner === place.id) return undefined
    return mergeEnvText('', { set: new Map([[STAMP_KEY, place.id]]), unset: [] })
  })
}

/** Whether there was a file with our stamp, which is gone now. Begun and abandoned writes go too. */
export function removeEnvFileIfOurs({ file, id }: { file: string; id: string }): boolean {
  const text = readEnvFile(file)
  if (text === undefined || findStamp(text) !== id) return false
  try {
    removeTemporaries(file)
    unlinkSync(file)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    throw failedCall('remove', file, error)
  }
  return true
}

/** Copies byte for byte, 0600; false where there is nothing to copy. */
export function copyEnvFile(from: string, to: string): boolean {
  const bytes = readRegularFile(from)
  if (bytes === undefined) return false
  try {
    replaceFileAtomically(to, bytes, 0o600)
  } catch (error) {
    throw failedCall('write', to, error)
  }
  return true
}

/** Reads, decides and replaces until nobody else was faster. Undefined from `decide`: leave it as it is. */
async function changeFile(
  { file, lockDir }: EnvFilePlace,
  decide: (text: string | undefined) => Promise<string | undefined>,
): Promise<boolean> {
  const release = await lockFile(file, lockDir)
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const text = readEnvFile(file)
      const wanted = await decide(text)
      if (wanted === undefined) return false
      const changed = wanted !== text
      if (!changed && isPrivateFile(file)) return false
      if (replaceWhereUnchanged(file, text, wanted)) return changed
    }
  } finally {
    await release()
  }
  throw busyFile(file)
}

function replaceWhereUnchanged(file: string, text: string | undefined, wanted: string): boolean {
  try {
    return replaceFileAtomically(file, Buffer.from(wanted), 0o600, temporary => {
      removeTemporaries(file, temporary)
      return readEnvFile(file) === text
    })
  } catch (error) {
    if (error instanceof PenvError) throw error
    throw failedCall('write', file, error)
  }
}

function isPrivateFile(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  return stats?.isFile() === true && (stats.mode & 0o7777) === 0o600
}

function readRegularFile(file: string): Buffer | undefined {
  let descriptor: number | undefined
  try {
    // Not blocking: a pipe of this name would wait for a writer.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    if (!fstatSync(descriptor).isFile()) throw unusableFile('read', file, 'it is not a regular file')
    return readFileSync(descriptor)
  } catch (error) {
    if (error instanceof PenvError) throw error
    if (errnoOf(error) === 'ENOENT') return undefined
    throw failedCall('read', file, error)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/**
 * Only keeps writers out of each other's way: that none is lost is decided by `replaceWhereUnchanged`, since a
 * lock whose holder was stopped is taken over while the holder still believes in it.
 */
async function lockFile(file: string, lockDir: string): Promise<() => Promise<void>> {
  const name = createHash('sha256').update(resolve(file)).digest('hex').slice(0, 20)
  // The default: a bundler gives a CommonJS module no names.
  const { lock } = (await import('proper-lockfile')).default
  try {
    makePrivateDirectory(lockDir)
    const release = await lock(file, {
      lockfilePath: join(lockDir, `${name}.lock`),
      realpath: false,
      stale: LOCK_STALE_MS,
      retries: {
        retries: LOCK_RETRIES,
        factor: 1,
        minTimeout: LOCK_RETRY_MS,
        maxTimeout: 4 * LOCK_RETRY_MS,
        randomize: true,
      },
      onCompromised: () => {},
    })
    return () => release().catch(ignoreLostLock)
  } catch (error) {
    if (errnoOf(error) === 'ELOCKED') throw busyFile(file)
    throw new PenvError({
      code: 'STATE_UNWRITABLE',
      message: `cannot lock "${file}" in "${lockDir}": ${describeErrno(error)}`,
      details: { file, lockDir, errno: errnoOf(error) },
      cause: error,
    })
  }
}

function ignoreLostLock(error: unknown): void {
  const code = errnoOf(error)
  if (code !== 'ERELEASED' && code !== 'ENOTACQUIRED' && code !== 'ENOENT') throw error
}

function failedCall(verb: 'read' | 'write' | 'remove', file: string, error: unknown): PenvError {
  return unusableFile(verb, file, describeErrno(error), errnoOf(error), error)
}
