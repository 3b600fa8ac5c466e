// The ledger's revision files on this machine: `<state>/ledger/000000000042.json`, and the loop that reads
// and changes them. Never repairs, replaces or skips a revision that it cannot read.

import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { emptyLedger, formatLedger, type Ledger, parseLedger } from '../core/ledger.ts'
import { type RevisionStore, type Transition, tryCommit, tryRead } from '../core/revisions.ts'
import { PenvError } from '../errors.ts'
import { errnoOf } from './errno.ts'
import { createFileExclusively, isLinkError, removeIfThere } from './exclusive-file.ts'
import {
  describeOwner,
  ledgerDamaged,
  ledgerDirectory,
  ledgerUnreadable,
  listRevisions,
  revisionFile,
} from './ledger-revisions.ts'

const BACKOFF_MS = 4
const BACKOFF_LIMIT_MS = 60

/** The ledger as it is now. Errors: LEDGER_DAMAGED, LEDGER_NEWER, LEDGER_UNREADABLE. */
export async function readLedger(stateDir: string): Promise<Ledger> {
  const store = openRevisionStore(stateDir)
  for (let tries = 0; ; tries++) {
    const attempt = tryRead(store)
    if (attempt.settled) return requireLedger(stateDir, attempt.revision, attempt.value)
    await backOff(tries)
  }
}

/**
 * Runs `transition` on the ledger until its result is committed. It must be pure and idempotent; returning
 * the ledger that it was given changes nothing. Errors: those of reading, LEDGER_UNWRITABLE, LEDGER_UNSUPPORTED.
 */
export async function changeLedger<T>(
  stateDir: string,
  transition: (ledger: Ledger) => { ledger: Ledger; value: T },
): Promise<T> {
  const store = openRevisionStore(stateDir)
  const change = (text: string | undefined, revision: number): Transition<T> => {
    const before = requireLedger(stateDir, revision, text)
    const { ledger, value } = transition(before)
    return { text: ledger === before ? undefined : formatLedger(ledger), value }
  }
  for (let tries = 0; ; tries++) {
    const attempt = tryCommit(store, change)
    if (attempt.settled) return attempt.value
    await backOff(tries)
  }
}

function openRevisionStore(stateDir: string): RevisionStore {
  const directory = ledgerDirectory(stateDir)
  return {
    list: () => listRevisions(stateDir),
    read(revision) {
      const file = revisionFile(stateDir, revision)
      try {
        return readFileSync(file, 'utf8')
      } catch (error) {
        // A link to nowhere is listed again and again; to start over would never end.
        if (errnoOf(error) === 'ENOENT' && !isSymbolicLink(file)) return undefined
        throw ledgerUnreadable(file, error)
      }
    },
    create(revision, text) {
      return createRevision(directory, revisionFile(stateDir, revision), text)
    },
    remove(revision) {
      removeIfThere(revisionFile(stateDir, revision))
    },
  }
}

/** All bytes are on the disk under a private name before `link` gives them their number. */
function createRevision(directory: string, file: string, text: string): boolean {
  refuseForeignState(directory)
  try {
    return createFileExclusively(join(directory, 'tmp'), file, text)
  } catch (error) {
    const errno = errnoOf(error)
    if (NO_HARD_LINKS.has(errno) && isLinkError(error))
      throw new PenvError({
        code: 'LEDGER_UNSUPPORTED',
        message: `the ledger cannot be kept in ${directory}: its file system has no hard links (${errno})`,
        hint: 'To keep it elsewhere, run: export PENV_HOME=<a directory on a local disk>',
        details: { path: directory, errno },
        cause: error,
      })
    const path = (error as NodeJS.ErrnoException).path ?? directory
    throw new PenvError({
      code: 'LEDGER_UNWRITABLE',
      message: `the ledger was not changed: ${path} cannot be written (${errno})`,
      facts: describeOwner(directory),
      details: { path, errno },
      cause: error,
    })
  }
}

/** Root by way of sudo, with HOME kept, would leave revisions that the owner of the directory cannot read. */
function refuseForeignState(directory: string): void {
  if (process.geteuid?.() !== 0) return
  let existing = directory
  while (!existsSync(existing)) existing = dirname(existing)
  const { uid } = statSync(existing)
  if (uid === 0) return
  throw new PenvError({
    code: 'LEDGER_UNWRITABLE',
    message: `the ledger was not changed: ${existing} belongs to uid ${uid}, and root would leave files there that their owner cannot read`,
    hint: 'To act as the owner, run the command without sudo',
    details: { path: existing, uid },
  })
}

// EXDEV: `tmp` is another file system; EMLINK: none allowed at all. EPERM is what Linux answers for FAT.
const NO_HARD_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EMLINK'])

function requireLedger(stateDir: string, revision: number, text: string | undefined): Ledger {
  if (text === undefined) return emptyLedger()
  const parsed = parseLedger(text)
  if ('ledger' in parsed) return parsed.ledger
  const file = revisionFile(stateDir, revision)
  if ('newerVersion' in parsed)
    throw new PenvError({
      code: 'LEDGER_NEWER',
      message: `the ledger was written by a newer penv: ${file} has version ${parsed.newerVersion}`,
      hint: 'To read it, run: npm install -g git-penv@latest',
      details: { path: file, version: parsed.newerVersion },
    })
  throw ledgerDamaged(stateDir, revision, parsed.damage)
}

function isSymbolicLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

async function backOff(tries: number): Promise<void> {
  const limit = Math.min(BACKOFF_LIMIT_MS, BACKOFF_MS * (tries + 1))
  await delay(1 + Math.random() * limit)
}
