// Finds the environment of a directory, and changes its record: git's place, the marker and the ledger
// joined by the identity table. Holds the order in which the three are written.

import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { bearId, decideIdentity, type Marker, recordOfMarker, type WorktreePaths } from '../core/identity.ts'
import { type EnvironmentRecord, type Ledger, lookUp, recordsOf, withRecord } from '../core/ledger.ts'
import { PenvError } from '../errors.ts'
import { findGitDirOf, findRootOfGitDir, locatePlace, type Place, readBranch } from './git.ts'
import { changeLedger, readLedger } from './ledger-files.ts'
import { plantMarker, readMarker, renameMarker } from './marker.ts'
import { type Env, findRealPath, type Here, isDirectory, isFile, snapshotRoot } from './paths.ts'

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
  if (known !== undefined) return known
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

function reasonOf(place: Exclude<Place, { kind: 'worktree' }>): string {
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
async function findByRun({
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

/**
 * The environment without asking git, for the common case: the nearest `.git` is a file, its private git
 * directory carries a marker, and the ledger's record of that marker has these very paths, which git gave
 * when the record was made. Whatever is unusual is left to git: another owner, another file system, a nested
 * repository, a submodule, git's discovery settings.
 */
async function findKnownWorktree(here: Here): Promise<Found | undefined> {
  const { env, stateDir } = here
  if (env.GIT_CEILING_DIRECTORIES || env.GIT_DISCOVERY_ACROSS_FILESYSTEM) return undefined
  const root = findNearestGitFile(here.cwd)
  const gitDir = root === undefined ? undefined : findGitDirOf(root)
  if (root === undefined || gitDir === undefined || !isOwnedByUs(root) || !isOwnedByUs(gitDir))
    return undefined
  const commonDir = readCommonDir(gitDir)
  if (commonDir === undefined) return undefined
  const marker = readMarker(gitDir)
  if (marker === undefined) return undefined
  const ledger = await readLedger(stateDir)
  const record = recordOfMarker(ledger, marker)
  if (record?.root !== root || record.gitDir !== gitDir || record.repo !== commonDir) return undefined
  return { kind: 'environment', id: record.id, record, root, paths: { root, gitDir, commonDir }, ledger }
}

function findNearestGitFile(cwd: string): string | undefined {
  let directory = findRealPath(cwd)
  const device = directory === undefined ? undefined : statSync(directory).dev
  while (directory !== undefined && statSync(directory).dev === device) {
    if (isFile(join(directory, '.git'))) return directory
    if (isDirectory(join(directory, '.git'))) return undefined
    // Git takes a directory of this shape for a bare repository.
    if (isFile(join(directory, 'HEAD')) && isDirectory(join(directory, 'objects'))) return undefined
    const parent = dirname(directory)
    directory = parent === directory ? undefined : parent
  }
  return undefined
}

function isOwnedByUs(path: string): boolean {
  return statSync(path).uid === process.geteuid?.()
}

function readCommonDir(gitDir: string): string | undefined {
  try {
    return findRealPath(resolve(gitDir, readFileSync(join(gitDir, 'commondir'), 'utf8').trim()))
  } catch {
    return undefined
  }
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

/**
 * Changes the record of the environment here, making it (and its marker) when there is none. The marker is
 * written first: a kill in between leaves a worktree that knows its id, and the next command goes on from it.
 * `transition` gets a ledger that holds the record, and must be idempotent.
 */
export async function changeEnvironment<T>(
  here: Here,
  goal: string,
  transition: (ledger: Ledger, record: EnvironmentRecord) => { ledger: Ledger; value: T },
): Promise<T> {
  const served = await findByRun(here)
  if (served !== undefined) return changeRecord(here.stateDir, served.record, transition)
  return changeEnvironmentOfPlace(here, goal, transition)
}

/** The same for the directory alone, run or no run. */
export async function changeEnvironmentOfPlace<T>(
  here: Here,
  goal: string,
  transition: (ledger: Ledger, record: EnvironmentRecord) => { ledger: Ledger; value: T },
): Promise<T> {
  const place = locatePlace(here.cwd, here.env)
  if (place.kind !== 'worktree') throw notAWorktree({ kind: place.kind, reason: reasonOf(place) }, goal)
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
    const prepared = record === holder ? ledger : withRecord(ledger, record)
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
