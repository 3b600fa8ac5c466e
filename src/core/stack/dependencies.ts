// What a repository's manifests ask for by name, in every ecosystem, with the line. A dependency is a hint and
// nothing more: whether a thing is used is for others to decide. Lock files are not read: they name everything.
import { asRecord, type FactFile, folderOf, lineAt, nameOf, type RepoFacts, valueAt } from './facts.ts'
import type { Ecosystem } from './package-manager.ts'

export interface Dependency {
  readonly ecosystem: Ecosystem
  /** Lower case. */
  readonly name: string
  readonly version: string | undefined
  /** Parts that are asked for: `redis` of `celery[redis]`, `postgres` of a crate's features. */
  readonly extras?: readonly string[]
  /** The manifest leaves it to whoever installs the program: an extra of Python's. */
  readonly isChoice?: true
  /** The folder of the manifest. */
  readonly folder: string
  readonly file: string
  readonly line: number
}

export function findDependencies(facts: RepoFacts): Dependency[] {
  const found: Dependency[] = []
  for (const file of facts.files.values()) {
    const name = nameOf(file.path)
    if (name === 'package.json') found.push(...fromTables(facts, file, 'node', NODE_TABLES))
    else if (name === 'composer.json')
      found.push(...fromTables(facts, file, 'php', ['require', 'require-dev']))
    else if (name === 'Cargo.toml') found.push(...fromTables(facts, file, 'rust', RUST_TABLES))
    else if (name === 'Pipfile')
      found.push(...fromTables(facts, file, 'python', ['packages', 'dev-packages']))
    else if (name === 'pyproject.toml') found.push(...fromPyproject(facts, file))
    else {
      const text = TEXT_MANIFESTS.find(([pattern]) => pattern.test(file.path))
      if (text !== undefined) found.push(...fromText(file, text[1], text[2]))
    }
  }
  return found
}

/** The dependency of that name which is nearest: in the folder, above it, else anywhere below it. */
export function findDependency(
  dependencies: readonly Dependency[],
  ecosystem: Ecosystem,
  name: RegExp,
  folder?: string,
): Dependency | undefined {
  const named = dependencies.filter(one => one.ecosystem === ecosystem && name.test(one.name))
  if (folder === undefined) return named[0]
  const isAbove = (one: Dependency) =>
    one.folder === '' || one.folder === folder || folder.startsWith(`${one.folder}/`)
  return named.filter(isAbove).sort((a, b) => b.folder.length - a.folder.length)[0]
}

const NODE_TABLES = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
const RUST_TABLES = ['dependencies', 'dev-dependencies', 'build-dependencies', 'workspace.dependencies']

function fromTables(
  facts: RepoFacts,
  file: FactFile,
  ecosystem: Ecosystem,
  tables: readonly string[],
): Dependency[] {
  const parsed = facts.json.get(file.path) ?? facts.toml.get(file.path)
  return tables.flatMap(table =>
    Object.entries(asRecord(valueAt(parsed, ...table.split('.'))) ?? {}).map(([name, wanted]) => {
      const version = typeof wanted === 'string' ? wanted : valueAt(wanted, 'version')
      const features = ecosystem === 'rust' ? valueAt(wanted, 'features') : undefined
      const at = file.text.search(new RegExp(`^\\s*["']?${escapeRegExp(name)}["']?\\s*[:=.]`, 'm'))
      return {
        ecosystem,
        name: name.toLowerCase(),
        version: typeof version === 'string' ? version : undefined,
        ...extrasOf(Array.isArray(features) ? features.join(',') : undefined),
        folder: folderOf(file.path),
        file: file.path,
        line: at < 0 ? 1 : lineAt(file.text, at + (/^\s*/.exec(file.text.slice(at))?.[0].length ?? 0)),
      }
    }),
  )
}

/** The standard tables and those of Poetry, uv and PDM. */
function fromPyproject(facts: RepoFacts, file: FactFile): Dependency[] {
  const parsed = facts.toml.get(file.path)
  const choices = Object.values(asRecord(valueAt(parsed, 'project', 'optional-dependencies')) ?? {}).flat()
  const lists = [
    valueAt(parsed, 'project', 'dependencies'),
    ...['dependency-groups', 'tool.pdm.dev-dependencies'].flatMap(table =>
      Object.values(asRecord(valueAt(parsed, ...table.split('.'))) ?? {}),
    ),
    choices,
    valueAt(parsed, 'tool', 'uv', 'dev-dependencies'),
  ]
  const poetry = valueAt(parsed, 'tool', 'poetry')
  const tables = [
    valueAt(poetry, 'dependencies'),
    valueAt(poetry, 'dev-dependencies'),
    ...Object.values(asRecord(valueAt(poetry, 'group')) ?? {}).map(group => valueAt(group, 'dependencies')),
  ]
  const wanted = [
    ...lists.flat().filter(one => typeof one === 'string'),
    ...tables.flatMap(table => Object.keys(asRecord(table) ?? {})),
  ]
  return wanted.flatMap(one => {
    const match = /^\s*([A-Za-z][\w.-]*)(?:\[([^\]]*)\])?\s*(?:[=<>~!]=?\s*([\w.]+))?/.exec(one)
    if (match === null) return []
    const at = file.text.search(new RegExp(`(?:^\\s*["']?|["'])${escapeRegExp(match[1] as string)}\\b`, 'm'))
    const line = at < 0 ? 1 : lineAt(file.text, at + (/^\s*/.exec(file.text.slice(at))?.[0].length ?? 0))
    return [
      {
        ecosystem: 'python' as const,
        name: (match[1] as string).toLowerCase(),
        version: match[3],
        ...extrasOf(match[2]),
        ...(choices.includes(one) ? { isChoice: true as const } : {}),
        folder: folderOf(file.path),
        file: file.path,
        line,
      },
    ]
  })
}

/** Manifests that are programs or lists: one pattern each. Servers for tests are no dependency of the program. */
const TEXT_MANIFESTS: readonly (readonly [RegExp, Ecosystem, RegExp])[] = [
  [
    /(^|\/)requirements([\w.-]*\.txt|\/[^/]+\.txt)$/,
    'python',
    /^\s*(?<name>[A-Za-z][\w.-]*)(?:\[(?<extras>[^\]]*)\])?\s*(?:[=<>~!]=?\s*(?<version>[\w.]+))?/gm,
  ],
  [
    /(^|\/)setup\.(py|cfg)$/,
    'python',
    /^\s*["']?(?<name>[A-Za-z][\w.-]*)(?:\[(?<extras>[^\]]*)\])?\s*(?:[=<>~!]=\s*(?<version>[\w.]+))?[^=\n]*["',]?$/gm,
  ],
  [
    /(^|\/)(Gemfile|gems\.rb)$|\.gemspec$/,
    'ruby',
    /^\s*(?:gem|\w+\.add_(?:\w+_)?dependency)[\s(]+["'](?<name>[\w-]+)["']/gm,
  ],
  [
    /(^|\/)go\.mod$/,
    'go',
    /^\s*(?:require\s+|tool\s+)?(?<name>[\w.-]+\.[a-z]+\/\S+)\s+(?<version>v\S+)(?!.*\/\/ indirect)\s*$/gm,
  ],
  [/(^|\/)mix\.exs$/, 'elixir', /\{:(?<name>\w+),\s*(?:"[~>= ]*(?<version>[\w.]+)")?/g],
  [
    /\.[cf]sproj$|(^|\/)Directory\.Packages\.props$/,
    'dotnet',
    /<Package(?:Reference|Version)\s+Include="(?<name>[\w.]+)"(?:\s+Version="(?<version>[\w.]+)")?/g,
  ],
  [
    /(^|\/)pom\.xml$/,
    'jvm',
    /(?<!<groupId>\s*org\.testcontainers\s*<\/groupId>\s*)<artifactId>\s*(?<name>[\w.-]+)\s*<\/artifactId>/g,
  ],
  [
    /(^|\/)(build\.gradle(\.kts)?|libs\.versions\.toml)$/,
    'jvm',
    /["'](?!org\.testcontainers)(?:[\w.-]+:)?(?<name>[\w.-]+)(?::(?<version>[\w.$-]+))?["']/g,
  ],
  [
    /\.sbt$|(^|\/)project\/\w+\.scala$|\.sc$/,
    'jvm',
    /%%?\s*"(?<name>[\w.-]+)"\s*%(?![^\n,]*%\s*"?test\b)|"[\w.-]+::?:?(?<milled>[\w.-]+):/gi,
  ],
  [
    /(^|\/)(deps\.edn|project\.clj|bb\.edn)$/,
    'jvm',
    /[{[\s](?:[\w.-]+\/)?(?<name>[\w.-]+)\s+(?:\{:mvn\/version\s+)?"(?<version>[\w.-]+)"/g,
  ],
]

function fromText(file: FactFile, ecosystem: Ecosystem, pattern: RegExp): Dependency[] {
  return [...file.text.matchAll(pattern)].map(match => ({
    ecosystem,
    name: (match.groups?.name ?? match.groups?.milled ?? '').toLowerCase(),
    version: match.groups?.version,
    ...extrasOf(match.groups?.extras),
    folder: folderOf(file.path).replace(/(^|\/)requirements$/, ''),
    file: file.path,
    line: lineAt(file.text, (match.index ?? 0) + match[0].search(/\S/)),
  }))
}

function extrasOf(text: string | undefined): { extras?: string[] } {
  return text === undefined ? {} : { extras: text.split(',').map(one => one.trim().toLowerCase()) }
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
