// The facts of a repository: what host/repo-facts.ts has read, as plain data, and small pure look-ups in it.
// Facts are never conclusions, and never hold the value of a real .env file or of a key that looks secret.
import { posix } from 'node:path'

/** A text file that was read. Line endings are \n, a BOM is gone, UTF-16 is decoded. */
export interface FactFile {
  readonly path: string
  readonly text: string
  /** The file was longer than the bound: `text` is its beginning. */
  readonly truncated: boolean
  /** The file on disk has CRLF line endings, which a shell does not survive. */
  readonly hasCrlf?: true
}

/** One parsed YAML document: merge keys and aliases are resolved in `value`. */
export interface YamlDocument {
  readonly value: unknown
  /** Line of each node by its path, joined with "/": `services/db/image`, `services/db/ports/0`. */
  readonly lines: ReadonlyMap<string, number>
}

/** One `KEY=value` line of an env file. */
export interface EnvEntry {
  readonly key: string
  readonly line: number
  /** Absent in real env files, and where the key looks secret. The password of a URL is masked. */
  readonly value?: string
  /** `# KEY=value`: an alternative that is switched off. */
  readonly commented: boolean
}

/** `.env`, `.env.local` (real) and `.env.example`, `.env.sample`, `env.dist` and the like (example). */
export interface EnvFile {
  readonly path: string
  /**
   * real: a person's own file, keys only. example: made to be shared.
   * committed: a `.env` that git tracks (Symfony, Vite), which every clone has, so its values are defaults.
   */
  readonly kind: 'real' | 'example' | 'committed'
  readonly entries: readonly EnvEntry[]
}

/** Something that could not be read as what it claims to be: a finding, never a crash. */
export interface Problem {
  readonly file: string
  readonly line?: number
  readonly reason: string
}

/** Where a finding was seen. `text` is the line, shortened, with passwords masked. */
export interface Evidence {
  readonly file: string
  readonly line: number
  readonly text?: string
}

export interface RepoFacts {
  /** All files, relative to the root with "/", sorted; without node_modules and other people's code. */
  readonly paths: readonly string[]
  /** The files that were read: configuration, manifests, scripts, migrations, and source up to a bound. */
  readonly files: ReadonlyMap<string, FactFile>
  readonly yaml: ReadonlyMap<string, readonly YamlDocument[]>
  readonly json: ReadonlyMap<string, unknown>
  readonly toml: ReadonlyMap<string, unknown>
  readonly envFiles: ReadonlyMap<string, EnvFile>
  /** Files in git's index; undefined where git could not be asked. */
  readonly tracked: ReadonlySet<string> | undefined
  /** git's `core.hooksPath`, as configured. */
  readonly hooksPath: string | undefined
  readonly problems: readonly Problem[]
  /** A bound of depth, files or bytes was met: what is not found may still be there. */
  readonly bounded: boolean
}

/**
 * The same facts without `.preview/`. What a repository is made of is not told by the scripts that were written from
 * it: else a second `penv init` would find what the first one wrote.
 */
export function withoutScripts(facts: RepoFacts): RepoFacts {
  const isOther = (path: string) => !path.startsWith('.preview/')
  const only = <T>(map: ReadonlyMap<string, T>) => new Map([...map].filter(([path]) => isOther(path)))
  return {
    ...facts,
    paths: facts.paths.filter(isOther),
    files: only(facts.files),
    yaml: only(facts.yaml),
    json: only(facts.json),
    toml: only(facts.toml),
    envFiles: only(facts.envFiles),
  }
}

/** The line (from 1) of the first text that contains or matches the needle, or undefined. */
export function findLine(file: FactFile | undefined, needle: string | RegExp): number | undefined {
  if (file === undefined) return undefined
  const at =
    typeof needle === 'string'
      ? file.text.indexOf(needle)
      : (new RegExp(needle.source, needle.flags.replace(/[gy]/g, '')).exec(file.text)?.index ?? -1)
  return at < 0 ? undefined : lineAt(file.text, at)
}

/** The line (from 1) that holds the character at this offset. */
export function lineAt(text: string, offset: number): number {
  const starts = lineStarts(text)
  let low = 0
  let high = starts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((starts[middle] as number) <= offset) low = middle
    else high = middle
  }
  return low + 1
}

/** Detectors ask for many lines of one text in a row, so the last text's lines are remembered. */
let lastText = ''
let lastStarts: readonly number[] = [0]

function lineStarts(text: string): readonly number[] {
  if (text === lastText) return lastStarts
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  lastText = text
  lastStarts = starts
  return starts
}

/** Evidence for a line of a file, with the line's own text where the file was read. */
export function evidenceAt(facts: RepoFacts, file: string, line: number): Evidence {
  const whole = facts.files.get(file)?.text
  const start = whole === undefined ? undefined : lineStarts(whole)[line - 1]
  const end = start === undefined ? -1 : (whole as string).indexOf('\n', start)
  const text = whole?.slice(start ?? whole.length, end < 0 ? undefined : end).trim()
  if (text === undefined || text === '') return { file, line }
  return { file, line, text: maskSecrets(text.length > 160 ? `${text.slice(0, 159)}…` : text) }
}

const SECRET_WORD = 'pass(?:w(?:or)?d|wd|phrase)?|pwd|secret|token|api_?key|private_?key|credentials?'
const SECRET_ASSIGNED = new RegExp(
  String.raw`([A-Za-z0-9_.-]*(?:${SECRET_WORD})[A-Za-z0-9_.-]*["']?\s*[=:]\s*)(?!\s*$)\S.*`,
  'i',
)
const SECRET_ARGUMENT = new RegExp(
  String.raw`((?:--?\w*(?:${SECRET_WORD})|requirepass)\s+)["']?[^\s"'-]\S*`,
  'gi',
)

/** Replaces the passwords of URLs, and what is assigned to keys that look secret or follows such an option. */
export function maskSecrets(text: string): string {
  if (!/:\/\/|pass|pwd|secret|token|key|credential/i.test(text)) return text
  return text
    .replace(/([a-z][a-z0-9+.-]*:\/\/[^\s:@/'"]*:)[^\s@/'"]+(@)/gi, '$1***$2')
    .replace(SECRET_ARGUMENT, '$1***')
    .replace(SECRET_ASSIGNED, '$1***')
}

/** A key whose value must not be kept, whatever file it stands in. */
export function isSecretKey(key: string): boolean {
  return /passw(or)?d|passphrase|secret|token|api_?key|private_?key|credential|salt|(^|_)(pass|pwd|key)($|_)/i.test(
    key,
  )
}

/** The files that were read whose path matches. */
export function filesMatching(facts: RepoFacts, pattern: RegExp): FactFile[] {
  return [...facts.files.values()].filter(file => pattern.test(file.path))
}

/** The last component of a path. */
export function nameOf(path: string): string {
  return posix.basename(path)
}

/** The directory of a path, "" for the root. */
export function folderOf(path: string): string {
  const folder = posix.dirname(path)
  return folder === '.' ? '' : folder
}

/** A path written in `from`'s folder, relative to the root; undefined where it leaves the repository. */
export function resolveFrom(from: string, target: string): string | undefined {
  const joined = posix.normalize(posix.join(folderOf(from), target))
  return joined.startsWith('..') || posix.isAbsolute(target) ? undefined : joined
}

/** A value inside parsed YAML, JSON or TOML, by keys; undefined where anything on the way is missing. */
export function valueAt(value: unknown, ...keys: readonly (string | number)[]): unknown {
  let at: unknown = value
  for (const key of keys) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<string | number, unknown>)[key]
  }
  return at
}

/** A plain object of parsed data, or undefined: never an array, never null. */
export function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}
