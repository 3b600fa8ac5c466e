// The directories of one environment in the state directory: the snapshot of `.preview/`, logs, data, and
// the `penv` that its scripts find first on PATH. Never writes into the worktree.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { quoteForShell } from '../core/shell-words.ts'
import { PenvError } from '../errors.ts'
import { errnoOf } from './errno.ts'
import {
  environmentDirectory,
  isDirectory,
  logDirectory,
  makePrivateDirectory,
  SCRIPTS_DIRECTORY_NAME,
  snapshotRoot,
} from './paths.ts'

const KEPT_LOGS = 5

/** Copies `.preview/` of the worktree, so that teardown outlives it. Returns the hash of its content. */
export function takeSnapshot(stateDir: string, id: string, root: string): string {
  const source = join(root, SCRIPTS_DIRECTORY_NAME)
  const target = join(snapshotRoot(stateDir, id), SCRIPTS_DIRECTORY_NAME)
  const fresh = `${target}.new`
  try {
    makePrivateDirectory(snapshotRoot(stateDir, id))
    rmSync(fresh, { recursive: true, force: true })
    // Links are followed: what they point to may go with the worktree.
    cpSync(source, fresh, { recursive: true, dereference: true, filter: isCopyable })
    rmSync(target, { recursive: true, force: true })
    renameSync(fresh, target)
  } catch (error) {
    throw new PenvError({
      code: 'STATE_UNWRITABLE',
      message: `the snapshot of ${source} could not be written to ${target} (${errnoOf(error)})`,
      details: { path: target, errno: errnoOf(error) },
      cause: error,
    })
  }
  return hashScripts(target)
}

/** Not sockets, pipes or dangling links: nothing that a copy could hold. */
function isCopyable(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && (stats.isFile() || stats.isDirectory())
}

/** SHA-256 over the paths and bytes of all files of a scripts directory. */
export function hashScripts(directory: string): string {
  const hash = createHash('sha256')
  for (const file of listFiles(directory)) {
    const bytes = readFileSync(file)
    hash.update(`${relative(directory, file)}\0${bytes.length}\0`).update(bytes)
  }
  return hash.digest('hex')
}

/** All files below a directory, sorted; links are followed. */
export function listFiles(directory: string): string[] {
  return readdirSync(directory)
    .sort()
    .map(name => join(directory, name))
    .filter(isCopyable)
    .flatMap(path => (isDirectory(path) ? listFiles(path) : [path]))
}

/** A new log file for one script, named `<script>-<n>.log`; only the newest five stay. */
export function newLogFile(stateDir: string, id: string, script: string): string {
  const directory = logDirectory(stateDir, id)
  makePrivateDirectory(directory)
  const numbers = logNumbers(directory, script)
  for (const old of numbers.slice(0, Math.max(0, numbers.length - KEPT_LOGS + 1)))
    rmSync(join(directory, `${script}-${old}.log`), { force: true })
  return join(directory, `${script}-${(numbers.at(-1) ?? 0) + 1}.log`)
}

function logNumbers(directory: string, script: string): number[] {
  const pattern = new RegExp(`^${script}-(\\d+)\\.log$`)
  return readdirSync(directory)
    .flatMap(name => pattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}

export function scriptPidFile(stateDir: string, id: string): string {
  return join(environmentDirectory(stateDir, id), 'script.pid')
}

/** A directory with a `penv` that is this very program under this very node. */
export function makeLauncher(stateDir: string, id: string, program: string): string {
  const directory = join(environmentDirectory(stateDir, id), 'bin')
  makePrivateDirectory(directory)
  const launcher = join(directory, 'penv')
  const words = [process.execPath, program].map(quoteForShell).join(' ')
  const text = `#!/bin/sh\nexec ${words} "$@"\n`
  if (!existsSync(launcher) || readFileSync(launcher, 'utf8') !== text) {
    writeFileSync(`${launcher}.new`, text, { mode: 0o700 })
    chmodSync(`${launcher}.new`, 0o700)
    renameSync(`${launcher}.new`, launcher)
  }
  return launcher
}

/** The adapters that scripts source: the shipped ones, with the repository's own of `.preview/adapters/` over them. */
export function gatherAdapters(stateDir: string, id: string, shipped: string, scriptsDir: string): string {
  const own = join(scriptsDir, 'adapters')
  if (!isDirectory(own)) return shipped
  const directory = join(environmentDirectory(stateDir, id), 'adapters')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  for (const source of [shipped, own])
    if (isDirectory(source)) cpSync(source, directory, { recursive: true, dereference: true })
  return directory
}
