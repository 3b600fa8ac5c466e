// The marker: `penv` in a worktree's private git directory, one line of JSON with id and nonce.

import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Marker } from '../core/identity.ts'
import { PenvError } from '../errors.ts'
import { errnoOf } from './errno.ts'

function markerFile(gitDir: string): string {
  return join(gitDir, 'penv')
}

/** The marker, or undefined when there is none. One that cannot be read is an error, never "none". */
export function readMarker(gitDir: string): Marker | undefined {
  const file = markerFile(gitDir)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw markerError(file, `it cannot be read (${errnoOf(error)})`, error)
  }
  const marker = parseMarker(text)
  if (marker === undefined) throw markerError(file, 'it is not a marker of penv', undefined)
  return marker
}

function parseMarker(text: string): Marker | undefined {
  try {
    const value = JSON.parse(text) as Partial<Marker> | null
    if (
      typeof value?.id === 'string' &&
      typeof value.nonce === 'string' &&
      /^[a-z][a-z0-9_]{2,26}$/.test(value.id)
    )
      return { id: value.id, nonce: value.nonce }
  } catch {
    // Not JSON: not a marker.
  }
  return undefined
}

/** Puts a new marker in place, unless another process was faster; returns the one that counts. */
export function plantMarker(gitDir: string, id: string): Marker {
  const file = markerFile(gitDir)
  const marker = { id, nonce: randomBytes(12).toString('hex') }
  const temp = writeTemp(gitDir, marker)
  try {
    linkSync(temp, file)
    return marker
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return readMarker(gitDir) ?? plantMarker(gitDir, id)
    throw markerError(file, `it cannot be written (${errnoOf(error)})`, error)
  } finally {
    unlinkSync(temp)
  }
}

/** Gives the same worktree another id: the old one is held by somebody else's record. */
export function renameMarker(gitDir: string, marker: Marker, id: string): void {
  renameSync(writeTemp(gitDir, { ...marker, id }), markerFile(gitDir))
}

/** Removes the marker if it is this one. */
export function removeMarker(gitDir: string, marker: Marker): void {
  try {
    const found = readMarker(gitDir)
    if (found?.nonce === marker.nonce) unlinkSync(markerFile(gitDir))
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

function writeTemp(gitDir: string, marker: Marker): string {
  const temp = join(gitDir, `penv.${process.pid}-${randomBytes(6).toString('hex')}`)
  try {
    writeFileSync(temp, `${JSON.stringify(marker)}\n`, { mode: 0o600, flag: 'wx' })
    return temp
  } catch (error) {
    throw markerError(markerFile(gitDir), `it cannot be written (${errnoOf(error)})`, error)
  }
}

function markerError(file: string, why: string, cause: unknown): PenvError {
  return new PenvError({
    code: 'STATE_UNWRITABLE',
    message: `the marker of this worktree is unusable: ${file}: ${why}`,
    details: { path: file },
    cause,
  })
}
