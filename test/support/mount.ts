// A tiny file system of its own, for tests that need a full or a read-only disk.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Why such a test cannot run here; undefined where it can. It goes into the title of the test. */
export function findMountObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'tmpfs needs Linux'
  if (process.getuid?.() !== 0) return 'mounting needs root'
  const directory = mkdtempSync(join(tmpdir(), 'penv-mount-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', directory])
  if (status === 0) execFileSync('umount', [directory])
  rmdirSync(directory)
  return status === 0 ? undefined : 'mount is refused here'
}

export function withTmpfs(
  size: string,
  use: (directory: string, makeReadOnly: () => void) => void | Promise<void>,
) {
  const directory = mkdtempSync(join(tmpdir(), 'penv-mount-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory])
  const makeReadOnly = () => execFileSync('mount', ['-o', 'remount,ro', directory])
  return Promise.resolve(use(directory, () => void makeReadOnly())).finally(() => {
    execFileSync('umount', [directory])
    rmdirSync(directory)
  })
}

/** Puts a file system of its own over an existing directory. */
export async function mountAt(directory: string, use: () => Promise<void>): Promise<void> {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory])
  try {
    await use()
  } finally {
    execFileSync('umount', [directory])
  }
}
