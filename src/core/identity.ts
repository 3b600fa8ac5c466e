// Who a worktree is: how an id is born, and what marker and record together mean. Pure.

import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { PenvError } from '../errors.ts'
import { type EnvironmentRecord, type Ledger, lookUp, recordsOf } from './ledger.ts'
import { quoteForShell } from './shell-words.ts'

/** In the worktree's private git directory; it moves with `git worktree move` and goes with `git worktree remove`. */
export interface Marker {
  id: string
  nonce: string
}

export interface WorktreePaths {
  root: string
  gitDir: string
  commonDir: string
}

export const ID_MAX_LENGTH = 27
const SLUG_MAX_LENGTH = 20
const HASH_LENGTH = 6
const HASH_MAX_LENGTH = 12

/** Lower-case `[a-z0-9_]` of any text, from a letter on; empty when nothing of it is left. */
export function slugOf(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  return /^[0-9]/.test(plain) ? `w${plain}` : plain
}

// Crockford's alphabet: no letter that reads like a digit.
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** SHA-256 of `text` in base32, 51 characters. */
export function hashOf(text: string): string {
  let bits = 0n
  for (const byte of createHash('sha256').update(text).digest()) bits = (bits << 8n) | BigInt(byte)
  let digits = ''
  for (let shift = 251n; shift > 0n; shift -= 5n) digits += BASE32[Number((bits >> shift) & 31n)]
  return digits
}

/**
 * The id of a new environment: a slug of the directory's name and a hash of its real path, longer where the
 * id is taken. `namespace` tells machines apart that share a database server.
 */
export function bearId(root: string, namespace: string, isTaken: (id: string) => boolean): string {
  const slug = slugOf(basename(root)) || 'w'
  const seed = namespace === '' ? root : `${namespace}\0${root}`
  // A path that is used again and again, and never destroyed, takes one length after the other.
  for (let round = 0; ; round++) {
    const hash = hashOf(round === 0 ? seed : `${seed}\0${round}`)
    for (let length = HASH_LENGTH; length <= HASH_MAX_LENGTH; length++) {
      const room = Math.min(SLUG_MAX_LENGTH, ID_MAX_LENGTH - 1 - length)
      const id = `${slug.slice(0, room).replace(/_+$/, '')}_${hash.slice(0, length)}`
      if (!isTaken(id)) return id
    }
  }
}

/** The record that a marker speaks of: same id and same nonce. */
export function recordOfMarker(ledger: Ledger, marker: Marker): EnvironmentRecord | undefined {
  const record = lookUp(ledger.environments, marker.id)
  return record?.nonce === marker.nonce ? record : undefined
}

export type Identity =
  /** The record is this worktree's; `moved` when its path has to follow. */
  | { kind: 'known'; record: EnvironmentRecord; moved: boolean }
  /** There is no record yet. `orphan` is the record that a re-created worktree left at this path. */
  | { kind: 'new'; orphan?: EnvironmentRecord }

/**
 * The table of marker and record.
 * @param isStillThere whether the worktree at the record's path carries this marker
 * @throws COPIED_WORKTREE when this folder is a copy of one that is still in use
 */
export function decideIdentity(
  ledger: Ledger,
  marker: Marker | undefined,
  here: WorktreePaths,
  isStillThere: (record: EnvironmentRecord) => boolean,
): Identity {
  const record = marker === undefined ? undefined : recordOfMarker(ledger, marker)
  if (record === undefined) {
    const orphan =
      marker === undefined ? recordsOf(ledger).find(other => other.root === here.root) : undefined
    return orphan === undefined ? { kind: 'new' } : { kind: 'new', orphan }
  }
  if (record.root === here.root)
    return { kind: 'known', record, moved: record.gitDir !== here.gitDir || record.repo !== here.commonDir }
  if (isStillThere(record)) throw copiedWorktree(record, here)
  return { kind: 'known', record, moved: true }
}

function copiedWorktree(record: EnvironmentRecord, here: WorktreePaths): PenvError {
  const ownGitDir = record.gitDir !== here.gitDir
  return new PenvError({
    code: 'COPIED_WORKTREE',
    message: `${here.root} is a copy of the worktree ${record.root}, whose environment ${record.id} is not shared`,
    hint: ownGitDir
      ? `To give the copy an environment of its own, run: rm ${quoteForShell(`${here.gitDir}/penv`)}`
      : 'To work isolated, run: git worktree add <path> -b <branch>',
    details: { id: record.id, root: record.root },
  })
}
