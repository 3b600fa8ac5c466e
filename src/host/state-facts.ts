// What the machine knows of the state directory, for doctor. Only looks.

import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { StateFacts } from '../core/doctor/judge-state.ts'
import { errnoOf } from './errno.ts'
import { ledgerDirectory } from './ledger-files.ts'
import { isDirectory } from './paths.ts'

// f_type of statfs(2) on Linux. 9p is what WSL mounts Windows drives with.
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  26985: 'NFS',
  4283649346: 'CIFS',
  4266872130: 'SMB',
  1702057286: 'FUSE',
  16914839: '9p',
  1397113167: 'AFS',
  12805120: 'Ceph',
}

export function readStateFacts(directory: string): StateFacts {
  const exists = isDirectory(directory)
  const nearest = exists ? directory : nearestExisting(directory)
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

function nearestExisting(path: string): string {
  const parent = dirname(path)
  return parent === path || existsSync(parent) ? parent : nearestExisting(parent)
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
    .filter(path => statSync(path, { throwIfNoEntry: false })?.uid !== uid)
    .slice(0, 3)
}
