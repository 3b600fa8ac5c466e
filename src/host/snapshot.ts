// The directories of one environment in the state directory: the snapshot of `.preview/`, logs, data, and
// the `penv` that its scripts find first on PATH. Never writes into the worktree.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
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
    copyTree(source, fresh)
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

/** Copies what `listFiles` lists, modes too. */
function copyTree(source: string, target: string): void {
  mkdirSync(target, { recursive: true })
  for (const file of listFiles(source)) {
    const copy = join(target, relative(source, file))
    mkdirSync(dirname(copy), { recursive: true })
    copyFileSync(file, copy)
  }
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

/**
 * All files below a directory, sorted; links are followed, but not to a directory around them. Not sockets,
 * pipes, dangling links or links in a circle: nothing that a copy could hold.
 */
export function listFiles(directory: string, above: readonly string[] = []): string[] {
  const here = realpathSync.native(directory)
  if (above.includes(here) || above[0]?.startsWith(here === '/' ? here : `${here}/`)) return []
  return readdirSync(directory)
    .sort()
    .map(name => join(directory, name))
    .flatMap(path => {
      const stats = followLink(path)
      if (stats?.isDirectory()) return listFiles(path, [...above, here])
      return stats?.isFile() ? [path] : []
    })
}

function followLink(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (errnoOf(error) === 'ELOOP') return undefined
    throw error
  }
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
  for (const source of [shipped, own]) if (isDirectory(source)) copyTree(source, directory)
  return directory
}
