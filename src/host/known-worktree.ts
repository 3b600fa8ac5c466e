// The environment of a directory without asking git, for the common case of a worktree that the ledger knows.
// Whatever is unusual is left to git. Reads only.

import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { recordOfMarker, type WorktreePaths } from '../core/identity.ts'
import type { EnvironmentRecord, Ledger } from '../core/ledger.ts'
import { findGitDirOf } from './git.ts'
import { readLedger } from './ledger-files.ts'
import { readMarker } from './marker.ts'
import { findRealPath, type Here, isDirectory, isFile } from './paths.ts'

export interface KnownWorktree {
  record: EnvironmentRecord
  paths: WorktreePaths
  ledger: Ledger
}

/**
 * Known means: the nearest `.git` is a file, its private git directory carries a marker, and the ledger's record
 * of that marker has these very paths, which git gave when the record was made. Not so: another owner, another
 * file system, a nested repository, a submodule, git's discovery settings.
 */
export async function findKnownWorktree(here: Here): Promise<KnownWorktree | undefined> {
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
  return { record, paths: { root, gitDir, commonDir }, ledger }
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
