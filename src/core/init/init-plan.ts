// Decides what becomes of each file of `.preview/`: what init would write, against what is there. Scripts that are
// there are kept, unless --force; of the two ways to use servers only one is ever in `.preview/`.
import { usageError } from '../../errors.ts'
import type { ComposeMode } from '../init-scripts.ts'

export type FileAction = 'create' | 'update' | 'keep' | 'current' | 'delete'

export interface PlannedFile {
  /** Inside `.preview/`. */
  readonly name: string
  readonly action: FileAction
  readonly before: string | undefined
  /** Undefined: the file is deleted. */
  readonly after: string | undefined
}

export type FileTexts = ReadonlyMap<string, string>

/** Which way the scripts that are there go, told by the file that only that way has. */
export function findStandingMode(existing: FileTexts): ComposeMode | undefined {
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
  existing: FileTexts,
  isForced: boolean,
): PlannedFile[] {
  const written = [...wanted].map(([name, after]): PlannedFile => {
    const before = existing.get(name)
    const action =
      before === undefined ? 'create' : before === after ? 'current' : isForced ? 'update' : 'keep'
    return { name, action, before, after }
  })
  if (!isForced) return written
  const left = [...other].flatMap(([name, text]): PlannedFile[] => {
    const before = existing.get(name)
    if (before === undefined || wanted.has(name)) return []
    return before === text
      ? [{ name, action: 'delete', before, after: undefined }]
      : [{ name, action: 'keep', before, after: before }]
  })
  return [...written, ...left]
}
