// The ledger's revision files: their names, which there are, and what each is worth as a backup. Only looks.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { RevisionSummary } from '../core/doctor/doctor-report.ts'
import { parseLedger, recordsOf } from '../core/ledger.ts'
import { quoteForShell } from '../core/shell-words.ts'
import { PenvError } from '../errors.ts'
import { errnoOf } from './errno.ts'

const REVISION_FILE = /^(\d{12})\.json$/

export function ledgerDirectory(stateDir: string): string {
  return join(stateDir, 'ledger')
}

export function revisionFile(stateDir: string, revision: number): string {
  return join(ledgerDirectory(stateDir), `${String(revision).padStart(12, '0')}.json`)
}

/** The numbers of the revisions that exist, in any order. Errors: LEDGER_UNREADABLE. */
export function listRevisions(stateDir: string): number[] {
  const directory = ledgerDirectory(stateDir)
  try {
    return readdirSync(directory).flatMap(name => {
      const match = REVISION_FILE.exec(name)
      return match ? [Number(match[1])] : []
    })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw ledgerUnreadable(directory, error)
  }
}

/** Newest first. What another process prunes meanwhile is left out. Errors: LEDGER_UNREADABLE. */
export function readRevisionSummaries(stateDir: string): RevisionSummary[] {
  const revisions = listRevisions(stateDir).sort((a, b) => b - a)
  return revisions.flatMap((revision, at) => {
    const file = revisionFile(stateDir, revision)
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats === undefined) return []
    const environments = countEnvironments(file)
    return {
      revision,
      writtenAt: stats.mtime.toISOString(),
      environments,
      restore:
        environments === null || at === 0
          ? null
          : composeRestoreCommand(stateDir, revision, revisions[0] as number),
    }
  })
}

/** null where it is no ledger. */
function countEnvironments(file: string): number | null {
  try {
    const parsed = parseLedger(readFileSync(file, 'utf8'))
    return 'ledger' in parsed ? recordsOf(parsed.ledger).length : null
  } catch {
    return null
  }
}

/** The commit rule by hand: a link to a number that is not taken. No number is ever used a second time. */
function composeRestoreCommand(stateDir: string, revision: number, highest: number): string {
  const [from, to] = [revision, highest + 1].map(number => quoteForShell(revisionFile(stateDir, number)))
  return `ln ${from} ${to}`
}

export function ledgerDamaged(stateDir: string, revision: number, damage: string): PenvError {
  const file = revisionFile(stateDir, revision)
  const earlier = listRevisions(stateDir).filter(number => number < revision)
  const whole = earlier
    .sort((a, b) => b - a)
    .find(number => countEnvironments(revisionFile(stateDir, number)) !== null)
  return new PenvError({
    code: 'LEDGER_DAMAGED',
    message: `the ledger is damaged: ${file}: ${damage}`,
    facts: [
      whole === undefined
        ? 'nothing was changed; there is no earlier revision that is whole'
        : `nothing was changed; the previous revision is ${revisionFile(stateDir, whole)}`,
    ],
    hint:
      whole === undefined
        ? `To set it aside and begin anew, run: mv ${quoteForShell(file)} ${quoteForShell(`${file}.damaged`)}`
        : `To restore the previous revision, run: ${composeRestoreCommand(stateDir, whole, revision)}`,
    details: { path: file, damage, previous: whole === undefined ? null : revisionFile(stateDir, whole) },
  })
}

export function ledgerUnreadable(path: string, cause: unknown): PenvError {
  const errno = errnoOf(cause)
  return new PenvError({
    code: 'LEDGER_UNREADABLE',
    message: `the ledger cannot be read: ${path} (${errno})`,
    facts: describeOwner(path),
    details: { path, errno },
    cause,
  })
}

/** Who may change it, for messages. */
export function describeOwner(path: string): string[] {
  try {
    const { uid, mode } = statSync(path)
    return [
      `owner: uid ${uid}, mode ${(mode & 0o777).toString(8)}; this process runs as uid ${process.geteuid?.()}`,
    ]
  } catch {
    return []
  }
}
