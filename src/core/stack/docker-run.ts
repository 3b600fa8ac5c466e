// Finds `docker run` in scripts and task files, with the image, the name and the ports that it is given.
import { type FactFile, filesMatching, lineAt, type RepoFacts } from './facts.ts'
import { interpolate } from './interpolate.ts'
import { type Scope, scopeOf } from './scope.ts'

export interface DockerRun {
  readonly file: string
  readonly line: number
  readonly image: string
  /** A fixed container name; one that a variable makes is none. */
  readonly name: string | undefined
  /** Host ports that are written as numbers. */
  readonly hostPorts: readonly number[]
  readonly scope: Scope
  /** It runs a client of the image, not the server. */
  readonly isClient: boolean
}

const SCRIPT =
  /(^|\/)(package\.json|[Mm]akefile[\w.]*|GNUmakefile|\.?justfile|[Tt]askfile[\w.-]*\.ya?ml|Vagrantfile|Tiltfile|Rakefile|mise\.toml|\.mise\.toml|\.envrc)$|\.(mk|just|sh|bash|zsh)$|(^|\/)(bin|scripts?|dev|tools|hack)\/[\w-]+$/
const RUN =
  /\b(?:docker|podman|nerdctl|\$\(DOCKER\)|\$\{?DOCKER\}?)\s+(?:container\s+)?(?:run|create)\s+((?:\\\n|[^\n;|&])*)/g
const TAKES_VALUE =
  /^(--(name|network|net|env|env-file|volume|publish|hostname|link|label|mount|user|workdir|platform|memory|restart|entrypoint|add-host|cpus|shm-size|pull|ip|dns|ulimit|log-driver|health-\S+|expose|cidfile|tmpfs)|-[a-z]*[evphulwm])$/

export function findDockerRuns(facts: RepoFacts): DockerRun[] {
  return filesMatching(facts, SCRIPT).flatMap(file => {
    const scope = scopeOf(file.path)
    if (scope === 'aside') return []
    const variables = assignmentsIn(file)
    return [...file.text.matchAll(RUN)].flatMap(match => {
      const line = lineAt(file.text, match.index)
      if (/^\s*#/.test(file.text.split('\n', line)[line - 1] as string)) return []
      const raw = (match[1] as string).replace(/\\\n/g, ' ').replace(/\$\((\w+)\)/g, '$${$1}')
      const args = wordsOf(interpolate(raw, variables).text)
      const image = imageOf(args)
      if (image === undefined) return []
      const isTest = scope === 'test' || /\b(tests?|ci|e2e)\b/i.test(targetOf(file, line))
      const name = optionsOf(wordsOf(raw), '--name').find(value => !value.includes('$'))
      return {
        file: file.path,
        line,
        image,
        name,
        hostPorts: optionsOf(wordsOf(raw), '-p', '--publish').flatMap(value => {
          const port = /^(?:[\d.]+:)?(\d+):\d+/.exec(value)?.[1]
          return port === undefined ? [] : [Number(port)]
        }),
        scope: isTest ? 'test' : scope,
        isClient: /\s(psql|pg_dump|mysql|redis-cli|mongosh?|createdb)\b|--rm\b.*\s(sh|bash)\b/.test(
          args.join(' '),
        ),
      }
    })
  })
}

/** `KEY=value`, `KEY := value` and `KEY ?= value` at the start of a line. */
function assignmentsIn(file: FactFile): Map<string, string> {
  const found = new Map<string, string>()
  for (const match of file.text.matchAll(
    /^\s*(?:export\s+|readonly\s+|local\s+)?(\w+)\s*[:?]?=\s*["']?([^\s"'#]+)/gm,
  ))
    found.set(match[1] as string, (match[2] as string).replace(/\$\((\w+)\)/g, '$${$1}'))
  for (const [key, value] of found) if (value.includes('$')) found.set(key, interpolate(value, found).text)
  return found
}

function wordsOf(args: string): string[] {
  return args.match(/"[^"]*"|'[^']*'|\S+/g) ?? []
}

/** The first word of the arguments that is neither an option nor an option's value. */
function imageOf(words: readonly string[]): string | undefined {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string
    if (!word.startsWith('-')) return word.replace(/^["'@]+|["',\\]+$/g, '')
    if (!word.includes('=') && TAKES_VALUE.test(word)) at++
  }
  return undefined
}

function optionsOf(words: readonly string[], ...names: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    const value = names.includes(word)
      ? words[at + 1]
      : names
          .map(name => (word.startsWith(`${name}=`) ? word.slice(name.length + 1) : undefined))
          .find(Boolean)
    return value === undefined ? [] : value.replace(/^["']|["']$/g, '')
  })
}

/** The Makefile target or npm script that a line belongs to. */
function targetOf(file: FactFile, line: number): string {
  const lines = file.text.split('\n')
  for (let at = line - 1; at >= 0; at--) {
    const text = lines[at] as string
    const target = /^([\w./-]+)\s*:(?!=)/.exec(text)?.[1] ?? /^\s*"([\w:.-]+)"\s*:/.exec(text)?.[1]
    if (target !== undefined) return target.replace(/[:_-]/g, ' ')
    if (/^\S/.test(text) && at < line - 1 && !/makefile|\.mk$/i.test(file.path)) break
  }
  return ''
}
