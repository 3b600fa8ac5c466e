// Reads a repository into facts: listing, texts, parsed YAML, JSON and TOML, keys of env files. It runs nothing of
// the repository, writes nothing, never keeps a value of a real .env file, and what cannot be read is a problem in
// the facts, not an error. Owns the yaml library.

import { realpathSync } from 'node:fs'
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseAllDocuments } from 'yaml'
import { readEnvLines } from '../core/stack/env-lines.ts'
import type { EnvFile, FactFile, Problem, RepoFacts, YamlDocument } from '../core/stack/facts.ts'
import { parseLooseJson } from '../core/stack/loose-json.ts'
import { isEnvExample, type Reading, readingOf } from '../core/stack/relevant.ts'
import { boundText, findParseObstacle } from '../core/stack/text-bounds.ts'
import { parseToml, tomlErrorLine } from '../core/toml.ts'
import { readFactFile } from './repo-text.ts'
import { type AskGit, listRepo } from './repo-walk.ts'

const MAX_FILES = { config: 2_000, 'maybe-compose': 600, source: 1_200 }
const MAX_TOTAL_BYTES = { config: 8e6, 'maybe-compose': 4e6, source: 5e6 }
const MAX_FILE_BYTES = { config: 400_000, 'maybe-compose': 200_000, source: 60_000 }
const MAX_YAML_BYTES = 1_000_000
/** Aliases may multiply a document; real ones stay far below this, a bomb does not. */
const MAX_ALIASES = 2_000

interface Collected {
  files: Map<string, FactFile>
  yaml: Map<string, readonly YamlDocument[]>
  json: Map<string, unknown>
  toml: Map<string, unknown>
  envFiles: Map<string, EnvFile>
  problems: Problem[]
  yamlBytes: number
}

/** `askGit` runs git in `root`; without it, or where it fails, the folders are walked. */
export async function readRepoFacts(root: string, askGit?: AskGit): Promise<RepoFacts> {
  const [listing, hooksPath] = await Promise.all([
    listRepo(root, askGit),
    askGit?.(['config', '--get', 'core.hooksPath']) ?? Promise.resolve(undefined),
  ])
  const wanted = listing.paths.flatMap(path => {
    const reading = readingOf(path)
    return reading === undefined ? [] : [{ path, reading }]
  })
  wanted.sort((a, b) => a.reading.rank - b.reading.rank)
  const real = realRoot(root)
  const got: Collected = {
    files: new Map(),
    yaml: new Map(),
    json: new Map(),
    toml: new Map(),
    envFiles: new Map(),
    problems: [],
    yamlBytes: 0,
  }
  let bounded = listing.bounded
  const count = { config: 0, 'maybe-compose': 0, source: 0 }
  const bytes = { config: 0, 'maybe-compose': 0, source: 0 }
  for (const { path, reading } of wanted) {
    const role = reading.role
    if (count[role] >= MAX_FILES[role] || bytes[role] >= MAX_TOTAL_BYTES[role]) {
      bounded = true
      continue
    }
    count[role]++
    const file = readFactFile(real, path, MAX_FILE_BYTES[role], reading.as !== 'text', got.problems)
    if (file === undefined) continue
    bytes[role] += file.text.length
    collect(got, file, reading, listing.tracked)
  }
  const { yamlBytes: _, ...facts } = got
  return {
    ...facts,
    paths: listing.paths,
    tracked: listing.tracked,
    hooksPath: hooksPath?.trim() || undefined,
    bounded,
  }
}

function collect(
  got: Collected,
  file: FactFile,
  reading: Reading,
  tracked: ReadonlySet<string> | undefined,
): void {
  const { path, text } = file
  if (reading.as === 'env') {
    const kind = isEnvExample(path) ? 'example' : tracked?.has(path) ? 'committed' : 'real'
    got.envFiles.set(path, { path, kind, entries: readEnvLines(text, kind !== 'real') })
    return
  }
  if (reading.role === 'maybe-compose' && !looksLikeCompose(text)) return
  got.files.set(path, { ...file, text: boundText(text) })
  if (reading.as === 'text') return
  if (file.truncated) {
    got.problems.push({
      file: path,
      reason: `longer than ${MAX_FILE_BYTES[reading.role]} bytes: read only in part`,
    })
    return
  }
  try {
    if (reading.as === 'yaml') readYaml(got, file)
    else if (reading.as === 'json') got.json.set(path, parseLooseJson(text))
    else got.toml.set(path, parseToml(text))
  } catch (error) {
    // The parsers' messages quote the text, which may hold a secret; only YAML's and the line are repeated.
    const at = tomlErrorLine(error)
    const line = at === undefined ? {} : { line: at }
    const why = reading.as === 'yaml' ? `: ${firstLine(error)}` : ''
    got.problems.push({ file: path, ...line, reason: `not valid ${reading.as.toUpperCase()}${why}` })
  }
}

function looksLikeCompose(text: string): boolean {
  return (
    /^["']?services["']?:\s*(#.*)?$/m.test(text) && /[\s{,]["']?(image|build|extends)["']?\s*:/.test(text)
  )
}

function readYaml(got: Collected, { path, text }: FactFile): void {
  // Workflows are many and long; only the ones that start servers say something about a stack.
  if (/(^|\/)workflows\//.test(path) && !/^[ \t]+services:/m.test(text)) return
  got.yamlBytes += text.length
  if (got.yamlBytes > MAX_YAML_BYTES) {
    got.problems.push({ file: path, reason: 'not parsed: the YAML of this repository is over the bound' })
    return
  }
  const obstacle = findParseObstacle(text)
  if (obstacle !== undefined) {
    got.problems.push({ file: path, reason: `not parsed: ${obstacle}` })
    return
  }
  // Rails writes ERB into YAML; as text it would break the syntax around it.
  const plain = text.includes('<%')
    ? text.replace(/<%(.{0,2000}?)%>/gs, (_, code: string) => code.replace(/[^\w\n]/g, '_'))
    : text
  const counter = new LineCounter()
  const parsed = parseAllDocuments(plain, {
    merge: true,
    uniqueKeys: false,
    lineCounter: counter,
    logLevel: 'silent',
    prettyErrors: false,
  })
  const documents: YamlDocument[] = []
  for (const document of Array.isArray(parsed) ? parsed : []) {
    const failure = document.errors[0]
    if (failure !== undefined)
      got.problems.push({
        file: path,
        line: counter.linePos(failure.pos[0]).line,
        reason: `not valid YAML: ${firstLine(failure)}`,
      })
    const lines = new Map<string, number>()
    mapLines(document.contents, '', counter, lines, 0)
    documents.push({ value: document.toJS({ maxAliasCount: MAX_ALIASES }), lines })
  }
  got.yaml.set(path, documents)
}

function mapLines(
  node: unknown,
  at: string,
  counter: LineCounter,
  lines: Map<string, number>,
  depth: number,
): void {
  if (depth > 12 || lines.size > 20_000) return
  if (isMap(node))
    for (const pair of node.items as Pair<unknown, unknown>[]) {
      const key = isScalar(pair.key) ? String(pair.key.value) : isAlias(pair.key) ? pair.key.source : ''
      const path = at === '' ? key : `${at}/${key}`
      const start = (pair.key as Node | null)?.range?.[0]
      if (start !== undefined) lines.set(path, counter.linePos(start).line)
      mapLines(pair.value, path, counter, lines, depth + 1)
    }
  else if (isSeq(node))
    for (const [number, item] of node.items.entries()) {
      const path = `${at}/${number}`
      const start = (item as Node | null)?.range?.[0]
      if (start !== undefined) lines.set(path, counter.linePos(start).line)
      mapLines(item, path, counter, lines, depth + 1)
    }
}

function realRoot(root: string): string {
  try {
    return realpathSync.native(root)
  } catch {
    return root
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]?.trim() ?? ''
}
