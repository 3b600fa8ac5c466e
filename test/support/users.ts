// Another user than root, for tests of file modes and of homes: root may read and write whatever it likes.

import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Result } from './sandbox.ts'

const isRoot = process.getuid?.() === 0

/** Two users that need no entry in the password database. Both are ourselves where we are not root. */
export const ALICE = 64_001
export const BOB = 64_002

const asUser = (uid: number) =>
  isRoot ? ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'] : []

/** Why a test with other users cannot run here; undefined where it can. It goes into the title of the test. */
export function findUserObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'setpriv needs Linux'
  if (!isRoot) return 'becoming another user needs root'
  const [command = '', ...args] = [...asUser(ALICE), process.execPath, '-e', '0']
  const { status } = spawnSync(command, args, { cwd: tmpdir() })
  return status === 0 ? undefined : 'another user cannot start node here'
}

/** Gives a tree of files to a user; links are not followed. */
export function giveTo(uid: number, path: string): void {
  if (!isRoot) return
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) return
  chownSync(path, uid, uid)
  if (stats.isDirectory()) for (const name of readdirSync(path)) giveTo(uid, join(path, name))
}

/** A copy of the program that any user may read: the repository may lie in a private directory. */
export function publishProgram(program: string, directory: string): string {
  const copy = join(realpathSync(directory), 'penv-for-all.cjs')
  copyFileSync(program, copy)
  chmodSync(copy, 0o755)
  chmodSync(directory, 0o755)
  return copy
}

/** Runs a program of node as a user, and waits. */
export function runAs(
  uid: number,
  argv: readonly string[],
  options: { cwd: string; env: Record<string, string>; input?: string },
): Result {
  const [command = '', ...args] = [...asUser(uid), process.execPath, ...argv]
  const { status, stdout, stderr } = spawnSync(command, args, {
    input: '',
    ...options,
    encoding: 'utf8',
  })
  return { exit: status ?? -1, stdout, stderr, json: () => JSON.parse(stdout) as never }
}
