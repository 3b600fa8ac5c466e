// Changes the record of an environment: identity decided, marker written, ledger committed. Holds the order in
// which they are written.

import { statSync } from 'node:fs'
import { withReleased } from '../core/allocate.ts'
import { bearId, decideIdentity, type Marker, recordOfMarker, type WorktreePaths } from '../core/identity.ts'
import {
  type EnvironmentRecord,
  type Ledger,
  lookUp,
  recordsOf,
  withoutEntry,
  withRecord,
} from '../core/ledger.ts'
import { PenvError } from '../errors.ts'
import { findByRun, isWorktreeOf, notAWorktree, reasonOf } from './environments.ts'
import { locatePlace, readBranch } from './git.ts'
import { findKnownWorktree } from './known-worktree.ts'
import { changeLedger, readLedger } from './ledger-files.ts'
import { plantMarker, readMarker, renameMarker } from './marker.ts'
import type { Here } from './paths.ts'

/**
 * Changes the record of the environment here, making it (and its marker) when there is none. The marker is
 * written first: a kill in between leaves a worktree that knows its id, and the next command goes on from it.
 * `transition` gets a ledger that holds the record, and must be idempotent.
 * @param located where `findEnvironment` has just found the worktree, so that git is not asked again
 */
export async function changeEnvironment<T>(
  here: Here,
  goal: string,
  transition: (ledger: Ledger, record: EnvironmentRecord) => { ledger: Ledger; value: T },
  located?: WorktreePaths,
): Promise<T> {
  const served = await findByRun(here)
  if (served !== undefined) return changeRecord(here.stateDir, served.record, transition)
  return changeEnvironmentOfPlace(here, goal, transition, located)
}

/** The same for the directory alone, run or no run. */
export async function changeEnvironmentOfPlace<T>(
  here: Here,
  goal: string,
  transition: (ledger: Ledger, record: EnvironmentRecord) => { ledger: Ledger; value: T },
  located?: WorktreePaths,
): Promise<T> {
  const place = located ?? (await locateWorktree(here, goal))
  refuseForeignOwner(place.root)
  for (;;) {
    const ledger = await readLedger(here.stateDir)
    const marker = readMarker(place.gitDir)
    const seen = marker && recordOfMarker(ledger, marker)
    decideIdentity(ledger, marker, place, isWorktreeOf)
    const isTaken = (id: string) => lookUp(ledger.environments, id) !== undefined
    if (marker === undefined) {
      plantMarker(place.gitDir, bearId(place.root, here.env.PENV_NAMESPACE ?? '', isTaken))
      continue
    }
    if (seen === undefined && isTaken(marker.id)) {
      renameMarker(place.gitDir, marker, bearId(place.root, here.env.PENV_NAMESPACE ?? '', isTaken))
      continue
    }
    const outcome = await commitAs(here.stateDir, marker, place, seen?.root, transition)
    if (outcome !== undefined) return outcome.value
  }
}

async function locateWorktree(here: Here, goal: string): Promise<WorktreePaths> {
  const known = await findKnownWorktree(here)
  if (known !== undefined) return known.paths
  const place = locatePlace(here.cwd, here.env)
  if (place.kind === 'worktree') return place
  throw notAWorktree({ kind: place.kind, reason: reasonOf(place) }, goal)
}

/** Undefined when the ledger no longer is what the identity was decided on. */
function commitAs<T>(
  stateDir: string,
  marker: Marker,
  place: WorktreePaths,
  seenRoot: string | undefined,
  transition: (ledger: Ledger, record: EnvironmentRecord) => { ledger: Ledger; value: T },
): Promise<{ value: T } | undefined> {
  const now = new Date().toISOString()
  const branch = readBranch(place.gitDir)
  return changeLedger<{ value: T } | undefined>(stateDir, ledger => {
    const holder = lookUp(ledger.environments, marker.id)
    if (holder !== undefined && holder.nonce !== marker.nonce) return { ledger, value: undefined }
    if (holder !== undefined && holder.root !== place.root && holder.root !== seenRoot)
      return { ledger, value: undefined }
    const record =
      holder === undefined ? newRecord(marker, place, branch, now) : followWorktree(holder, place)
    const prepared =
      record === holder
        ? ledger
        : withRecord(holder === undefined ? withoutFinished(ledger, place) : ledger, record)
    const result = transition(prepared, record)
    // A new record in which nothing was allocated is not worth a commit: a failed command leaves no trace.
    const isUnused = holder === undefined && result.ledger === prepared
    if (isUnused || result.ledger === ledger) return { ledger, value: { value: result.value } }
    const changed = lookUp(result.ledger.environments, record.id)
    const stamped =
      changed === undefined
        ? result.ledger
        : withRecord(result.ledger, { ...changed, branch, updatedAt: now })
    return { ledger: stamped, value: { value: result.value } }
  })
}

function newRecord(marker: Marker, place: WorktreePaths, branch: string, now: string): EnvironmentRecord {
  return {
    ...marker,
    repo: place.commonDir,
    gitDir: place.gitDir,
    root: place.root,
    branch,
    state: 'allocated',
    createdAt: now,
    updatedAt: now,
    ports: {},
    indexes: {},
    names: {},
  }
}

function followWorktree(record: EnvironmentRecord, place: WorktreePaths): EnvironmentRecord {
  const isHere =
    record.root === place.root && record.gitDir === place.gitDir && record.repo === place.commonDir
  return isHere ? record : { ...record, root: place.root, gitDir: place.gitDir, repo: place.commonDir }
}

/** Changes a record that is known by id and nonce; NO_ENVIRONMENT when it was destroyed meanwhile. */
export async function changeRecord<T>(
  stateDir: string,
  { id, nonce }: Pick<EnvironmentRecord, 'id' | 'nonce'>,
  transition: (ledger: Ledger, record: EnvironmentRecord) => { ledger: Ledger; value: T },
): Promise<T> {
  const now = new Date().toISOString()
  return changeLedger(stateDir, ledger => {
    const record = lookUp(ledger.environments, id)
    if (record?.nonce !== nonce)
      throw new PenvError({
        code: 'NO_ENVIRONMENT',
        message: `${id} was destroyed meanwhile`,
        details: { id },
      })
    const result = transition(ledger, record)
    const changed = lookUp(result.ledger.environments, id)
    if (result.ledger === ledger || changed === undefined) return result
    return { ...result, ledger: withRecord(result.ledger, { ...changed, updatedAt: now }) }
  })
}

/** Releases all that a record holds. A record that is gone already is what was wanted. */
export async function removeRecord(
  stateDir: string,
  { id, nonce }: Pick<EnvironmentRecord, 'id' | 'nonce'>,
): Promise<void> {
  await changeLedger(stateDir, before => {
    const record = lookUp(before.environments, id)
    return { ledger: record?.nonce === nonce ? withoutRecord(before, record) : before, value: undefined }
  })
}

function withoutRecord(ledger: Ledger, { id, ports }: EnvironmentRecord): Ledger {
  const environments = withoutEntry(ledger.environments, id)
  return withReleased({ ...ledger, environments }, id, Object.values(ports))
}

/**
 * A new record begins where an earlier one may have been left by a destroy that was killed before its last step:
 * torn down, its files and its marker gone. Nothing else would ever release it.
 */
function withoutFinished(ledger: Ledger, { root, gitDir }: WorktreePaths): Ledger {
  return recordsOf(ledger)
    .filter(record => record.tornDown && record.root === root && record.gitDir === gitDir)
    .reduce(withoutRecord, ledger)
}

/**
 * Changes the record of the worktree at `place`, following a move. Unlike `changeEnvironmentOfPlace` it never
 * makes one: an environment that was destroyed meanwhile stays gone (NO_ENVIRONMENT).
 */
export function changeRecordOfPlace<T>(
  stateDir: string,
  record: EnvironmentRecord,
  place: WorktreePaths | undefined,
  transition: (ledger: Ledger, record: EnvironmentRecord) => { ledger: Ledger; value: T },
): Promise<T> {
  if (place === undefined) return changeRecord(stateDir, record, transition)
  refuseForeignOwner(place.root)
  const branch = readBranch(place.gitDir)
  return changeRecord(stateDir, record, (ledger, current) => {
    const here = { ...followWorktree(current, place), branch }
    const prepared = withRecord(ledger, here)
    const result = transition(prepared, here)
    return result.ledger === prepared ? { ledger, value: result.value } : result
  })
}

/** Root by way of sudo must not leave files that their owner cannot remove. */
export function refuseForeignOwner(root: string): void {
  const { uid } = statSync(root)
  if (process.geteuid?.() !== 0 || uid === 0) return
  throw new PenvError({
    code: 'USAGE',
    message: `${root} belongs to uid ${uid}, and root would leave files there that their owner cannot change`,
    hint: 'To act as the owner, run the command without sudo',
    details: { root, uid },
  })
}
