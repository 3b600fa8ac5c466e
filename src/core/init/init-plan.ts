// Decides what becomes of each file of `.preview/`: what init would write, against what is there. Scripts that are
// there are kept, unless --force; of the two ways to use servers only one is ever in `.preview/`.
import { usageError } from '../../errors.ts'
import type { ComposeMode } from '../init-scripts.ts'

export type FileAction = 'create' | 'update' | 'keep' | 'current' | 'delete'

/** What is there under a name; something that is no readable text is never replaced. */
export type PreviewEntry = { readonly text: string } | { readonly problem: string }

export interface PlannedFile {
  /** Inside `.preview/`. */
  readonly name: string
  readonly action: FileAction
  readonly before: string | undefined
  /** Undefined: the file is deleted, or stays as it is. */
  readonly after: string | undefined
  /** Why not even --force replaces it. */
  readonly reason?: string
}

export type FileTexts = ReadonlyMap<string, string>
export type PreviewEntries = ReadonlyMap<string, PreviewEntry>

/** Which way the scripts that are there go, told by the file that only that way has. */
export function findStandingMode(existing: PreviewEntries): ComposeMode | undefined {
  if (existing.has('compose.yaml')) return 'own'
  return existing.has('servers.sh') ? 'shared' : undefined
}

/** @throws USAGE where scripts of the other way are there and may not be replaced. */
export function requireSameMode(
  standing: ComposeMode | undefined,
  wanted: ComposeMode,
  isForced: boolean,
): void {
  if (standing === undefined || standing === wanted || isForced) return
  const textOf = (mode: ComposeMode) =>
    mode === 'own' ? 'a compose project for each environment' : 'shared servers'
  throw usageError(
    `cannot write scripts for ${textOf(wanted)}: those in .preview/ are for ${textOf(standing)}`,
    `To replace them, run: penv init --compose ${wanted} --force`,
  )
}

/**
 * `other`: what init would write for the other way. With --force such a file goes where it still is as written; one
 * that was changed since stays, as a `keep`, for a person to look at.
 */
export function planPreviewFiles(
  wanted: FileTexts,
  other: FileTexts,
  existing: PreviewEntries,
  isForced: boolean,
): PlannedFile[] {
  const written = [...wanted].map(([name, after]) => planFile(name, after, existing.get(name), isForced))
  if (!isForced) return written
  const left = [...other].flatMap(([name, text]): PlannedFile[] => {
    const entry = existing.get(name)
    if (entry === undefined || wanted.has(name)) return []
    return 'text' in entry && entry.text === text
      ? [{ name, action: 'delete', before: text, after: undefined }]
      : [keep(name, entry)]
  })
  return [...written, ...left]
}

function planFile(
  name: string,
  after: string,
  entry: PreviewEntry | undefined,
  isForced: boolean,
): PlannedFile {
  if (entry === undefined) return { name, action: 'create', before: undefined, after }
  if ('problem' in entry) return keep(name, entry)
  const before = entry.text
  if (before === after) return { name, action: 'current', before, after }
  return isForced ? { name, action: 'update', before, after } : keep(name, entry)
}

function keep(name: string, entry: PreviewEntry): PlannedFile {
  return 'problem' in entry
    ? { name, action: 'keep', before: undefined, after: undefined, reason: entry.problem }
    : { name, action: 'keep', before: entry.text, after: entry.text }
}
