// Finds the environment of a directory: git's place, the marker and the ledger joined by the identity table.
// Reads only.

import type { Whereabouts } from '../core/doctor/judge-environments.ts'
import { bearId, decideIdentity, type Marker, type WorktreePaths } from '../core/identity.ts'
import { type EnvironmentRecord, type Ledger, lookUp, recordsOf } from '../core/ledger.ts'
import { PenvError } from '../errors.ts'
import { findGitDirOf, findRootOfGitDir, locatePlace, type Place } from './git.ts'
import { findKnownWorktree } from './known-worktree.ts'
import { readLedger } from './ledger-files.ts'
import { readMarker } from './marker.ts'
import { type Env, type Here, snapshotRoot } from './paths.ts'

export type Found =
  | {
      kind: 'environment'
      id: string
      /** Undefined when nothing has been allocated yet. */
      record: EnvironmentRecord | undefined
      /** Where `.env.preview` and `.preview/` are: the worktree, or the snapshot when that is gone. */
      root: string
      /** Undefined inside a run, where the record alone answers. */
      paths: WorktreePaths | undefined
      ledger: Ledger
    }
  | { kind: 'main' | 'outside'; reason: string }

/** The environment that a command serves here; reads only. Errors: COPIED_WORKTREE, GIT_FAILED, those of the ledger. */
export async function findEnvironment(here: Here): Promise<Found> {
  // The ledger is needed only behind a worktree or inside a run: on a main checkout its state does not matter.
  const served = await findByRun(here)
  if (served !== undefined) {
    const { record, ledger } = served
    return {
      kind: 'environment',
      id: record.id,
      record,
      root: rootInRun(here, record),
      paths: undefined,
      ledger,
    }
  }
  return findEnvironmentOfPlace(here)
}

/** The same for commands that act on the directory they are called in, run or no run. */
export async function findEnvironmentOfPlace(here: Here): Promise<Found> {
  const known = await findKnownWorktree(here)
  if (known !== undefined)
    return { kind: 'environment', id: known.record.id, root: known.paths.root, ...known }
  const place = locatePlace(here.cwd, here.env)
  if (place.kind !== 'worktree') return { kind: place.kind, reason: reasonOf(place) }
  const marker = readMarker(place.gitDir)
  const ledger = await readLedger(here.stateDir)
  const identity = decideIdentity(ledger, marker, place, record => isWorktreeOf(record))
  const record = identity.kind === 'known' ? identity.record : undefined
  return {
    kind: 'environment',
    id: record?.id ?? idOfUnknown(ledger, marker, place, here.env),
    record,
    root: place.root,
    paths: place,
    ledger,
  }
}

export function reasonOf(place: Exclude<Place, { kind: 'worktree' }>): string {
  return place.kind === 'main'
    ? 'this is the main checkout, which has no environment'
    : `this is ${place.reason}`
}

function idOfUnknown(ledger: Ledger, marker: Marker | undefined, place: WorktreePaths, env: Env): string {
  const isTaken = (id: string) => lookUp(ledger.environments, id) !== undefined
  return marker !== undefined && !isTaken(marker.id)
    ? marker.id
    : bearId(place.root, env.PENV_NAMESPACE ?? '', isTaken)
}

/** Like `findEnvironment`, where only a worktree will do: NOT_A_WORKTREE otherwise. */
export async function requireEnvironment(
  here: Here,
  goal: string,
): Promise<Extract<Found, { kind: 'environment' }>> {
  const found = await findEnvironment(here)
  if (found.kind === 'environment') return found
  throw notAWorktree(found, goal)
}

export function notAWorktree(found: Exclude<Found, { kind: 'environment' }>, goal: string): PenvError {
  return new PenvError({
    code: 'NOT_A_WORKTREE',
    message: `cannot ${goal}: ${found.reason}`,
    details: { place: found.kind },
    ...(found.kind === 'main' ? { hint: 'To work isolated, run: git worktree add <path> -b <branch>' } : {}),
  })
}

/** Inside a lifecycle script the run's token names the environment, wherever the script has gone. */
export async function findByRun({
  env,
  stateDir,
}: Here): Promise<{ record: EnvironmentRecord; ledger: Ledger } | undefined> {
  const token = env.PENV_RUN
  if (!token) return undefined
  const ledger = await readLedger(stateDir)
  const record = recordsOf(ledger).find(candidate => candidate.run?.token === token)
  return record && { record, ledger }
}

function rootInRun({ env, stateDir }: Here, record: EnvironmentRecord): string {
  return env.PENV_GONE === '1' ? snapshotRoot(stateDir, record.id) : record.root
}

/** Whether the folder at the record's path still is the worktree that the record was made for. */
export function isWorktreeOf(record: EnvironmentRecord): boolean {
  const gitDir = findGitDirOf(record.root)
  return gitDir !== undefined && readMarker(gitDir)?.nonce === record.nonce
}

/** Where the worktree of a record is now: at its path, or where git has moved it; undefined when it is gone. */
export function findWorktreeOf(record: EnvironmentRecord): string | undefined {
  if (isWorktreeOf(record)) return record.root
  const moved = findRootOfGitDir(record.gitDir)
  return moved !== undefined && isWorktreeOf({ ...record, root: moved }) ? moved : undefined
}

/** The same for overviews: one worktree whose marker cannot be read is shown where it was, and hides no other. */
export function findWorktreeToShow(record: EnvironmentRecord): string | undefined {
  try {
    return findWorktreeOf(record)
  } catch {
    return record.root
  }
}

/** Where the worktree of a record is: `missing` is one that git still lists, on a disk that may come back. */
export function lookForWorktree(record: EnvironmentRecord): Whereabouts {
  const root = findWorktreeToShow(record)
  if (root !== undefined) return { kind: 'there', root }
  return isMarkedAs(record) ? { kind: 'missing' } : { kind: 'gone' }
}

function isMarkedAs({ gitDir, nonce }: EnvironmentRecord): boolean {
  try {
    return readMarker(gitDir)?.nonce === nonce
  } catch {
    return true
  }
}
