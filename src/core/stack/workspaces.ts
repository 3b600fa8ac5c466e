// Which folders of a repository are projects of their own: members of npm, pnpm, yarn, Go, Cargo, Maven, Gradle, uv,
// Rush, Nx, Mix and .NET workspaces. It matches globs against the listing and never looks at the disk.
import { posix } from 'node:path'
import { asRecord, type Evidence, evidenceAt, findLine, folderOf, type RepoFacts, valueAt } from './facts.ts'

export interface Workspace {
  readonly folder: string
  /** The name it goes by in its own manifest. */
  readonly name: string
  readonly kind: 'node' | 'go' | 'cargo' | 'maven' | 'gradle' | 'uv' | 'mix' | 'dotnet'
  /** Where it is declared a member. */
  readonly evidence: Evidence
}

export interface Workspaces {
  /** What orchestrates them: turbo, nx, lerna, rush, and the package managers' own workspaces. */
  readonly tools: readonly string[]
  readonly members: readonly Workspace[]
}

interface Declared {
  readonly tool: string
  readonly kind: Workspace['kind']
  readonly file: string
  readonly patterns: readonly string[]
  readonly manifest: RegExp
}

const NODE_MANIFEST = /(^|\/)package\.json$/

/** All of the names below; most paths of a repository are none, and one look rules them out. */
const ANY_MANIFEST =
  /(?:package\.json|project\.json|deno\.jsonc?|go\.mod|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?|pyproject\.toml|mix\.exs|\.[cf]sproj)$/

export function findWorkspaces(facts: RepoFacts): Workspaces {
  const declared = [...declaredForNode(facts), ...declaredForOthers(facts)]
  const tools = new Set(declared.map(entry => entry.tool))
  for (const [file, tool] of [
    ['turbo.json', 'turbo'],
    ['nx.json', 'nx'],
    ['lerna.json', 'lerna'],
    ['moon.yml', 'moon'],
  ] as const)
    if (facts.paths.some(path => path === file || (tool === 'moon' && path === '.moon/workspace.yml')))
      tools.add(tool)
  const members = new Map<string, Workspace>()
  const manifests = facts.paths.filter(path => ANY_MANIFEST.test(path))
  for (const entry of declared) {
    const base = folderOf(entry.file)
    const wanted = entry.patterns.filter(pattern => !pattern.startsWith('!')).map(globToRegExp)
    const unwanted = entry.patterns
      .filter(pattern => pattern.startsWith('!'))
      .map(pattern => globToRegExp(pattern.slice(1)))
    for (const path of manifests) {
      if (!entry.manifest.test(path)) continue
      const folder = folderOf(path)
      const inner = base === '' ? folder : folder.startsWith(`${base}/`) ? folder.slice(base.length + 1) : ''
      if (inner === '' || !wanted.some(glob => glob.test(inner)) || unwanted.some(glob => glob.test(inner)))
        continue
      const key = `${entry.kind} ${folder}`
      if (members.has(key)) continue
      const line = findLine(facts.files.get(entry.file), posix.basename(folder)) ?? 1
      const name = nameInManifest(facts, path) ?? posix.basename(folder)
      members.set(key, { folder, name, kind: entry.kind, evidence: evidenceAt(facts, entry.file, line) })
    }
  }
  return { tools: [...tools].sort(), members: [...members.values()] }
}

function declaredForNode(facts: RepoFacts): Declared[] {
  const found: Declared[] = []
  const add = (tool: string, file: string, patterns: unknown) => {
    if (Array.isArray(patterns) && patterns.length > 0)
      found.push({ tool, kind: 'node', file, patterns: patterns.map(String), manifest: NODE_MANIFEST })
  }
  for (const [file, value] of facts.json) {
    if (NODE_MANIFEST.test(file)) {
      const field = valueAt(value, 'workspaces')
      add('workspaces', file, Array.isArray(field) ? field : valueAt(field, 'packages'))
    }
    if (file === 'lerna.json') add('lerna', file, valueAt(value, 'packages'))
    if (file === 'deno.json' || file === 'deno.jsonc') {
      const field = valueAt(value, 'workspace')
      const patterns = (Array.isArray(field) ? field : valueAt(field, 'members')) as unknown
      if (Array.isArray(patterns))
        found.push({
          tool: 'deno',
          kind: 'node',
          file,
          patterns: patterns.map(String),
          manifest: /(^|\/)deno\.jsonc?$/,
        })
    }
    const projects = file === 'rush.json' ? valueAt(value, 'projects') : undefined
    if (Array.isArray(projects))
      add(
        'rush',
        file,
        projects.map(project => valueAt(project, 'projectFolder')),
      )
  }
  for (const [file, documents] of facts.yaml)
    if (/(^|\/)pnpm-workspace\.yaml$/.test(file))
      for (const document of documents) add('pnpm', file, valueAt(document.value, 'packages'))
  // Nx finds its projects by project.json, wherever they stand.
  if (facts.paths.includes('nx.json'))
    found.push({ tool: 'nx', kind: 'node', file: 'nx.json', patterns: ['**'], manifest: /\/project\.json$/ })
  return found
}

function declaredForOthers(facts: RepoFacts): Declared[] {
  const found: Declared[] = []
  for (const [file, value] of facts.toml) {
    const cargo = asRecord(valueAt(value, 'workspace'))
    if (/(^|\/)Cargo\.toml$/.test(file) && cargo !== undefined)
      found.push({
        tool: 'cargo',
        kind: 'cargo',
        file,
        patterns: [...strings(cargo.members), ...strings(cargo.exclude).map(one => `!${one}`)],
        manifest: /(^|\/)Cargo\.toml$/,
      })
    const uv = asRecord(valueAt(value, 'tool', 'uv', 'workspace'))
    if (uv !== undefined)
      found.push({
        tool: 'uv',
        kind: 'uv',
        file,
        patterns: [...strings(uv.members), ...strings(uv.exclude).map(one => `!${one}`)],
        manifest: /(^|\/)pyproject\.toml$/,
      })
  }
  for (const { path, text } of facts.files.values()) {
    const add = (tool: string, kind: Workspace['kind'], manifest: RegExp, patterns: string[]) =>
      patterns.length > 0 && found.push({ tool, kind, file: path, patterns, manifest })
    const name = posix.basename(path)
    if (name === 'go.work') {
      const block = [...text.matchAll(/^use\s+(?:\(([^)]*)\)|(\S+))/gm)].flatMap(match =>
        (match[1] ?? match[2] ?? '').split(/\s+/),
      )
      add('go.work', 'go', /(^|\/)go\.mod$/, block.filter(Boolean))
    } else if (name === 'pom.xml')
      add('maven', 'maven', /(^|\/)pom\.xml$/, matches(text, /<module>\s*([^<\s]+)\s*<\/module>/g))
    else if (/^settings\.gradle(\.kts)?$/.test(name)) {
      const included = [
        ...text.matchAll(/^\s*include(?:\s*\(([^)]*)\)|\s+([^\n]*(?:,[ \t]*\n[^\n]*)*))/gm),
      ].flatMap(match => matches((match[1] ?? match[2]) as string, /["']:?([^"']+)["']/g))
      add(
        'gradle',
        'gradle',
        /(^|\/)build\.gradle(\.kts)?$/,
        included.map(one => one.replaceAll(':', '/')),
      )
    } else if (name === 'mix.exs') {
      const apps = /apps_path:\s*"([^"]+)"/.exec(text)?.[1]
      if (apps !== undefined) add('mix', 'mix', /(^|\/)mix\.exs$/, [`${apps}/*`])
    }
  }
  // A solution's own format is not worth a parser: what it holds are the projects below it.
  const solution = facts.paths.find(path => /^[^/]+\.slnx?$/.test(path))
  if (solution !== undefined)
    found.push({ tool: 'sln', kind: 'dotnet', file: solution, patterns: ['**'], manifest: /\.[cf]sproj$/ })
  return found
}

function nameInManifest(facts: RepoFacts, manifest: string): string | undefined {
  const value = facts.json.get(manifest) ?? facts.toml.get(manifest)
  const name =
    valueAt(value, 'name') ?? valueAt(value, 'package', 'name') ?? valueAt(value, 'project', 'name')
  return typeof name === 'string' && name !== '' ? name : undefined
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : []
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(match => match[1] as string)
}

/** `packages/*`, `apps/**`, `{a,b}`, `./x/`: what workspace declarations use, anchored on both ends. */
export function globToRegExp(glob: string): RegExp {
  const plain = glob.replace(/^\.\//, '').replace(/\/+$/, '')
  const source = plain.replace(/\*\*\/?|[*?{},]|[.+^$()|[\]\\]/g, part => {
    if (part.startsWith('**')) return part.endsWith('/') ? '(?:[^/]+/)*' : '.*'
    if (part === '*') return '[^/]*'
    if (part === '?') return '[^/]'
    if (part === '{') return '(?:'
    if (part === '}') return ')'
    return part === ',' ? '|' : `\\${part}`
  })
  try {
    return new RegExp(`^${source}$`)
  } catch {
    return /^$/
  }
}
