// What the machine knows of the state directory, for doctor. Only looks.

import { accessSync, constants, existsSync, lstatSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { StateFacts } from '../core/doctor/judge-state.ts'
import { errnoOf } from './errno.ts'
import { ledgerDirectory } from './ledger-revisions.ts'
import { isDirectory } from './paths.ts'

// f_type of statfs(2) on Linux. 9p is what WSL mounts Windows drives with; FUSE may be sshfs as well as a local disk.
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  26985: 'a network file system (NFS)',
  4283649346: 'a network file system (CIFS)',
  4266872130: 'a network file system (SMB)',
  1397113167: 'a network file system (AFS)',
  12805120: 'a network file system (Ceph)',
  1702057286: 'a file system of FUSE',
  16914839: 'a file system of another host (9p)',
}

export function readStateFacts(directory: string): StateFacts {
  const nearest = nearestReachable(directory)
  const exists = nearest === directory && isDirectory(directory)
  const stats = statSync(nearest)
  const names = exists ? listNames(ledgerDirectory(directory)) : []
  const isRevision = (name: string) => /^\d{12}\.json$/.test(name)
  const uid = process.geteuid?.()
  return {
    directory,
    exists,
    unwritable: whyUnwritable(nearest),
    mode: exists ? stats.mode & 0o777 : undefined,
    isOwnedByUs: stats.uid === uid,
    networkFileSystem:
      process.platform === 'linux' ? NETWORK_FILE_SYSTEMS[Number(statfsSync(nearest).type) >>> 0] : undefined,
    strangers: names.filter(name => !isRevision(name) && name !== 'tmp').map(name => join('ledger', name)),
    revisions: names.filter(isRevision).length,
    foreignFiles: exists ? listForeign(directory, uid) : [],
  }
}

/** The path itself, or the nearest one above it that can be looked at. */
function nearestReachable(path: string): string {
  const parent = dirname(path)
  return parent === path || existsSync(path) ? path : nearestReachable(parent)
}

function whyUnwritable(directory: string): string | undefined {
  if (!isDirectory(directory)) return `${directory} is no directory`
  try {
    accessSync(directory, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return `${directory} (${errnoOf(error)})`
  }
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

/** Left behind by a call as another user: the owner of the state could not change them. */
function listForeign(directory: string, uid: number | undefined): string[] {
  return ['', 'ledger', 'envs', 'locks']
    .flatMap(part => listNames(join(directory, part)).map(name => join(directory, part, name)))
    .filter(path => {
      const owner = findOwner(path)
      return owner !== undefined && owner !== uid
    })
    .slice(0, 3)
}

/** Undefined for what has gone since it was listed, and for what may not be looked at. */
function findOwner(path: string): number | undefined {
  try {
    return lstatSync(path).uid
  } catch {
    return undefined
  }
}
