// Follows a repository's command through the commands and script files that it calls, so that what it really does can
// be recognised. Bounded in depth and length; what is not found is left as it is written.
import { posix } from 'node:path'
import { groupBy } from '../group-by.ts'
import type { Evidence, RepoFacts } from './facts.ts'

/** Commands and files that one command is followed into. */
const MAX_FOLLOWED = 40
const MAX_FOLLOWED_FURTHER = 32
const MAX_LENGTH = 30_000

/** Words that may stand between a runner and the name of what it runs. */
const FLAGS = String.raw`(?:(?:run|run-script|exec|task|workspace\s+\S+|(?:-w|--workspace|--filter|-F|-C|--dir|--prefix|--cwd)[ =]\S+|--?[\w-]+(?:=\S+)?)\s+)*`
const CALLS: readonly RegExp[] = [
  new RegExp(
    String.raw`(?:^|[\s;&|("'\`])(?:npm|pnpm|yarn|bun|deno|composer|turbo|lerna|nx|wireit|mise|make|just|task|poe|mix)\s+${FLAGS}([@\w:./-]+)`,
    'g',
  ),
  /\$[({]MAKE[)}]\s+(?:-\S+\s+)*([\w:./-]+)/g,
  /(?:^|\s)@([\w:.-]+)/gm,
  /npm:([\w:.-]+)/g,
]
/** Runners of several scripts at once: every word after them may be one. */
const MANY = /\b(?:run-s|run-p|npm-run-all|turbo(?:\s+run)?|make|just|task)\s+([^\n;&|]+)/g

/** What following a command needs to know of it. */
export interface NamedCommand {
  readonly name: string
  /** Where it is called; "" is the root. */
  readonly folder: string
  /** What the entry itself says, its prerequisites included as calls. */
  readonly direct: string
  readonly source: string
  readonly evidence: Evidence
}

/** The commands of a repository as a caller finds them: by name anywhere, and by name in one folder. */
export interface CommandIndex {
  readonly anywhere: ReadonlyMap<string, readonly NamedCommand[]>
  readonly inFolder: ReadonlyMap<string, readonly NamedCommand[]>
  /** The names that a command calls, found once. */
  readonly callsOf: (command: NamedCommand) => ReadonlySet<string>
}

export function indexCommands(commands: readonly NamedCommand[]): CommandIndex {
  const callable = commands.filter(({ source }) => source !== 'procfile')
  const calls = new Map<NamedCommand, Set<string>>()
  return {
    anywhere: groupBy(callable, ({ name }) => name),
    inFolder: groupBy(callable, ({ folder, name }) => placeOf(folder, name)),
    callsOf: command => {
      const known = calls.get(command) ?? calledNames(command.direct)
      calls.set(command, known)
      return known
    },
  }
}

function placeOf(folder: string, name: string): string {
  return `${folder}\n${name}`
}

/** What a command does; `withPrograms` reads the program files that it names, too. */
export function bodyOf(
  facts: RepoFacts,
  command: NamedCommand,
  index: CommandIndex,
  withPrograms: boolean,
  seen: Set<string> = new Set(),
): string {
  const key = `${command.folder}\n${command.source}\n${command.name}`
  if (seen.has(key) || seen.size > MAX_FOLLOWED) return ''
  seen.add(key)
  const parts = [command.direct]
  if (seen.size <= MAX_FOLLOWED_FURTHER) {
    // A runner of a workspace reaches the members' scripts; anything else only the same folder's.
    const reachesOthers =
      /\bturbo\b|\bnx\b|\blerna\b|--filter|-F\s|--workspace|\s-w\s|--prefix|-C\s|--dir|--cwd|workspace\s|\bcd\s/.test(
        command.direct,
      )
    for (const name of index.callsOf(command))
      for (const other of (reachesOthers
        ? index.anywhere.get(name)
        : index.inFolder.get(placeOf(command.folder, name))) ?? []) {
        if (seen.size > MAX_FOLLOWED) break
        parts.push(bodyOf(facts, other, index, withPrograms, seen))
      }
    if (withPrograms && (command.source !== 'file' || command.direct.length < 4_000))
      parts.push(...scriptTexts(facts, command, seen))
  }
  return parts.filter(Boolean).join('\n').slice(0, MAX_LENGTH)
}

function calledNames(text: string): Set<string> {
  const names = new Set<string>()
  for (const pattern of CALLS) for (const match of text.matchAll(pattern)) names.add(match[1] as string)
  for (const match of text.matchAll(MANY))
    for (const word of (match[1] as string).split(/\s+/)) if (/^[\w:.-]+$/.test(word)) names.add(word)
  return names
}

/** The program files that a command names: `tsx src/db/migrate.ts`, `sh scripts/setup.sh`, `node dist/x` is none. */
function scriptTexts(facts: RepoFacts, command: NamedCommand, seen: Set<string>): string[] {
  const found: string[] = []
  for (const match of command.direct.matchAll(/[\w@.-]*[\w/.-]*\w/g)) {
    const word = match[0]
    if (!/[/.]/.test(word) || /:\/\//.test(word)) continue
    const path = posix.normalize(posix.join(command.folder, word))
    const target = [path, `${path}.ts`, `${path}.js`]
      .map(one => facts.files.get(one))
      .find(one => one !== undefined)
    if (target === undefined || seen.has(target.path) || target.path === command.evidence.file) continue
    if (
      !/\.(?:[cm]?[jt]sx?|py|rb|sh|bash|exs?|php|go|rs|sql)$|(^|\/)(bin|scripts?)\/[\w-]+$/.test(target.path)
    )
      continue
    seen.add(target.path)
    found.push(target.text.slice(0, 8_000))
  }
  return found
}
