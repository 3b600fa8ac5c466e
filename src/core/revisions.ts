// The commit rule of the ledger over a directory of numbered revisions. No lock: creating revision n+1
// exclusively is the commit, and a second look decides whether it counts. The file operations are an
// argument, so that a test can run this very code through every interleaving (test/core/revisions.test.ts).

/** What the rule needs of a store. Each call is one atomic step of the machine. */
export interface RevisionStore {
  /** The revision numbers that exist, in any order. */
  list(): number[]
  /** The whole text, or undefined when that revision does not exist. */
  read(revision: number): string | undefined
  /** Makes the revision whole and durable; false when it exists already. */
  create(revision: number, text: string): boolean
  /** Removes a revision; one that is gone already is fine. */
  remove(revision: number): void
}

/** `text` undefined: the transition has nothing to change. */
export interface Transition<T> {
  text: string | undefined
  value: T
}

/** `settled: false` means that another process was faster: start over. */
export type Attempt<T> = { settled: true; revision: number; value: T } | { settled: false }

/** Older revisions are the backups. */
export const KEPT_REVISIONS = 32

/** Reads the highest revision; revision 0 with no text is the empty ledger. */
export function tryRead(store: RevisionStore): Attempt<string | undefined> {
  const revision = highestOf(store.list())
  const text = revision === 0 ? undefined : store.read(revision)
  if (revision !== 0 && text === undefined) return { settled: false }
  // Second look. A process that slept here may have read a number that was used, pruned and used again by
  // another sleeper; such a file is never the highest.
  if (highestOf(store.list()) !== revision) return { settled: false }
  return { settled: true, revision, value: text }
}

/**
 * One try of a change. `change` must be idempotent: when it was committed but overtaken before the second
 * look, it runs again on a ledger that already holds its effect.
 */
export function tryCommit<T>(
  store: RevisionStore,
  change: (text: string | undefined, revision: number) => Transition<T>,
  kept = KEPT_REVISIONS,
): Attempt<T> {
  const seen = tryRead(store)
  if (!seen.settled) return seen
  const { text, value } = change(seen.value, seen.revision)
  if (text === undefined) return { settled: true, revision: seen.revision, value }
  const next = seen.revision + 1
  if (!store.create(next, text)) return { settled: false }
  // Second look. "Does n still exist?" would not do: only the highest revision is ever believed.
  const revisions = store.list()
  if (highestOf(revisions) !== next) return { settled: false }
  for (const old of revisions.sort((a, b) => b - a).slice(kept)) store.remove(old)
  return { settled: true, revision: next, value }
}

function highestOf(revisions: readonly number[]): number {
  return revisions.reduce((highest, revision) => Math.max(highest, revision), 0)
}
