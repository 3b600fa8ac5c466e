// Lists the files of a checkout: by asking git, else by walking. It opens no file and follows no link to a folder,
// and is bounded, so that a loop or a huge tree costs a bounded time.
import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { folderOf, nameOf } from '../core/stack/facts.ts'
import { isComposePath, isEnvPath, isSkippedFolder } from '../core/stack/relevant.ts'
import { SCRIPTS_DIRECTORY_NAME } from './paths.ts'

/** Runs git in the checkout with its location variables scrubbed; undefined when git fails. */
export type AskGit = (args: readonly string[]) => Promise<string | undefined>

export interface RepoListing {
  readonly paths: readonly string[]
  readonly tracked: ReadonlySet<string> | undefined
  readonly bounded: boolean
}

const MAX_PATHS = 120_000
const MAX_DEPTH = 12
const MAX_FOLDERS = 12_000
/** Folders in which files that git ignores (.env, a local override) are looked for. */
const MAX_IGNORED_FOLDERS = 1_500
const IGNORED_DEPTH = 4

export async function listRepo(root: string, askGit: AskGit | undefined): Promise<RepoListing> {
  const listing = await askGit?.([
    // A monitor is a program of the checkout, or a daemon that would go on running.
    ...['-c', 'core.fsmonitor=false'],
    ...['ls-files', '-z', '-t', '--cached', '--others', '--exclude-standard'],
  ])
  if (listing === undefined) return walk(root)
  const tracked = new Set<string>()
  const kept = new Set<string>()
  const isSkipped = makeSkipTest()
  // "H path" is in the index, as are all other tags but "? path".
  for (const entry of listing.split('\0')) {
    const path = entry.slice(2)
    if (path === '') continue
    if (!entry.startsWith('?')) tracked.add(path)
    // A folder at the end is another repository.
    if (!path.endsWith('/') && !isSkipped(folderOf(path))) kept.add(path)
  }
  const all = [...kept]
  const paths = new Set(all.slice(0, MAX_PATHS))
  for (const path of listIgnored(root, all)) paths.add(path)
  return { paths: [...paths].sort(), tracked, bounded: all.length > MAX_PATHS }
}

/** Whether a folder or one above it holds other people's code; each folder is looked at once. */
function makeSkipTest(): (folder: string) => boolean {
  const known = new Map<string, boolean>([['', false]])
  const isSkipped = (folder: string): boolean => {
    let answer = known.get(folder)
    if (answer === undefined) {
      answer = isSkippedFolder(nameOf(folder), true) || isSkipped(folderOf(folder))
      known.set(folder, answer)
    }
    return answer
  }
  return isSkipped
}

/** Env and compose files that git ignores: they decide a developer's run, and git does not list them. Scripts too. */
function listIgnored(root: string, paths: readonly string[]): string[] {
  const hasScripts = lstatSync(join(root, SCRIPTS_DIRECTORY_NAME), { throwIfNoEntry: false })?.isDirectory()
  const folders = new Set<string>(hasScripts ? ['', SCRIPTS_DIRECTORY_NAME] : [''])
  for (const path of paths)
    for (let folder = folderOf(path); !folders.has(folder); folder = folderOf(folder)) folders.add(folder)
  const found: string[] = []
  const depths = new Map([...folders].map(folder => [folder, folder === '' ? 0 : folder.split('/').length]))
  const nearest = [...depths].filter(([, depth]) => depth <= IGNORED_DEPTH).sort((a, b) => a[1] - b[1])
  for (const [folder] of nearest.slice(0, MAX_IGNORED_FOLDERS))
    for (const entry of readFolder(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      const isWanted = folder === SCRIPTS_DIRECTORY_NAME || isEnvPath(path) || isComposePath(path)
      if (!entry.isDirectory() && isWanted) found.push(path)
    }
  return found
}

function walk(root: string): RepoListing {
  const paths: string[] = []
  let bounded = false
  let level = ['']
  let folders = 0
  for (let depth = 0; level.length > 0; depth++) {
    const next: string[] = []
    for (const folder of level) {
      if (++folders > MAX_FOLDERS || paths.length >= MAX_PATHS || depth > MAX_DEPTH) {
        bounded = true
        break
      }
      for (const entry of readFolder(join(root, folder))) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`
        // A link to a folder is no folder here, so that loops end and nothing is seen twice.
        if (entry.isDirectory()) {
          if (!isSkippedFolder(entry.name, false)) next.push(path)
        } else if (entry.isFile() || entry.isSymbolicLink()) paths.push(path)
      }
    }
    level = bounded ? [] : next
  }
  return { paths: paths.slice(0, MAX_PATHS).sort(), tracked: undefined, bounded }
}

/** A folder that cannot be listed counts as empty: facts are what could be read. */
function readFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch {
    return []
  }
}
