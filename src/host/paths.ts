// Where things live, and the few path operations that everything else stands on.

import { existsSync, mkdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { PenvError, usageError } from '../errors.ts'
import { errnoOf } from './errno.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** What every look at the machine starts from; gathered once in context.ts. */
export interface Here {
  cwd: string
  env: Env
  stateDir: string
}

/**
 * The state directory: PENV_HOME, else an absolute XDG_STATE_HOME, else the home directory of HOME, else of
 * the password database. Never the current directory, so a relative PENV_HOME is a usage error.
 */
export function findStateDirectory(env: Env): string {
  const { PENV_HOME: chosen, XDG_STATE_HOME: xdg, HOME: home } = env
  if (chosen) {
    if (!isAbsolute(chosen)) throw usageError(`PENV_HOME is not an absolute path: "${chosen}"`)
    return chosen
  }
  if (xdg && isAbsolute(xdg)) return join(xdg, 'penv')
  return join(home && isAbsolute(home) ? home : homeOfPasswordDatabase(), '.local', 'state', 'penv')
}

function homeOfPasswordDatabase(): string {
  try {
    const { homedir } = userInfo()
    if (isAbsolute(homedir)) return homedir
  } catch {
    // No entry for this user: containers with an arbitrary uid.
  }
  throw new PenvError({
    code: 'STATE_UNWRITABLE',
    message: 'no state directory: HOME is not set and the password database has no home for this user',
    hint: 'To choose one, run: export PENV_HOME=<an absolute directory>',
  })
}

export function environmentDirectory(stateDir: string, id: string): string {
  return join(stateDir, 'envs', id)
}

/** Stands in for the worktree once that is gone. */
export function snapshotRoot(stateDir: string, id: string): string {
  return join(environmentDirectory(stateDir, id), 'root')
}

export function dataDirectory(stateDir: string, id: string): string {
  return join(environmentDirectory(stateDir, id), 'data')
}

export function logDirectory(stateDir: string, id: string): string {
  return join(environmentDirectory(stateDir, id), 'logs')
}

export const ENV_FILE_NAME = '.env.preview'
export const SCRIPTS_DIRECTORY_NAME = '.preview'

/** Makes a directory, and those above it where they are missing. One that exists stays as it is. */
export function makePrivateDirectory(directory: string): void {
  // Not with `recursive`: on a read-only disk node answers ENOENT then, which names no cause.
  const parent = dirname(directory)
  if (parent !== directory && !existsSync(parent)) makePrivateDirectory(parent)
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST' || !isDirectory(directory)) throw error
  }
}

/** The one spelling of a path, through symlinks and on case-insensitive disks; undefined when it does not exist. */
export function findRealPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

export function isDirectory(path: string): boolean {
  return findStats(path)?.isDirectory() ?? false
}

export function isFile(path: string): boolean {
  return findStats(path)?.isFile() ?? false
}

/** Undefined where nothing is there; a path below a file is not there either. Throws every other error. */
function findStats(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}
