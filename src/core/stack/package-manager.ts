// Which package manager a folder uses, and how its scripts and tools are called with it.
// Decided from manifests and lock files only; it never assumes that a tool is installed globally.
import { groupBy } from '../group-by.ts'
import { type Evidence, evidenceAt, findLine, folderOf, type RepoFacts, valueAt } from './facts.ts'
import { makePipInstalls, type PipInstall } from './pip-install.ts'

export type Ecosystem = 'node' | 'python' | 'ruby' | 'php' | 'elixir' | 'rust' | 'go' | 'dotnet' | 'jvm'

export interface PackageManager {
  readonly ecosystem: Ecosystem
  readonly name: string
  /** Where its manifest or lock file stands, "" for the root. */
  readonly folder: string
  readonly lockFile: string | undefined
  /** Installs what the lock file says, without changing a tracked file; undefined where nothing says what. */
  readonly install: string | undefined
  /** What an install leaves in the project when it is complete; undefined where it lies outside the project. */
  readonly installed: string | undefined
  /** The virtual environment, below `folder`, that has to be in use; undefined where the manager sees to that. */
  readonly environment?: string
  /** Goes before the name of a script of the manifest; undefined where manifests have no scripts. */
  readonly run: string | undefined
  /** Goes before a tool that the manifest brings: `npx `, `poetry run `, or nothing. */
  readonly exec: string
  /** Only a manifest says so, as every member of a workspace has one: a manager further up goes first. */
  readonly isAssumed: boolean
  readonly evidence: Evidence
}

type Way = Pick<PackageManager, 'ecosystem' | 'install' | 'installed' | 'run' | 'exec'>

const INSTALLED: Partial<Record<Ecosystem, string>> = { node: 'node_modules', php: 'vendor' }
/** A folder is there from the first file on, and these only from the last. */
const INSTALLED_BY: Readonly<Record<string, string>> = {
  'npm ci': 'node_modules/.package-lock.json',
  'pnpm install --frozen-lockfile': 'node_modules/.modules.yaml',
}
const way = (ecosystem: Ecosystem, install: string, run: string | undefined, exec: string): Way => ({
  ecosystem,
  install,
  installed: INSTALLED_BY[install] ?? INSTALLED[ecosystem],
  run,
  exec,
})
/** What these change where a lock file is out of date is tracked. */
const LOCKED: Readonly<Record<string, string>> = {
  uv: 'uv sync --frozen',
  pipenv: 'pipenv sync --dev',
}
/** Without a lock file there is nothing to be true to, and none must be left behind. */
const UNLOCKED: Readonly<Record<string, string>> = {
  npm: 'npm install --no-package-lock',
  pnpm: 'pnpm install --no-lockfile',
  yarn: 'yarn install --no-lockfile',
  bun: 'bun install --no-save',
}
const WAYS: Readonly<Record<string, Way>> = {
  pnpm: way('node', 'pnpm install --frozen-lockfile', 'pnpm run ', 'pnpm exec '),
  yarn: way('node', 'yarn install', 'yarn run ', 'yarn '),
  bun: way('node', 'bun install --frozen-lockfile', 'bun run ', 'bunx '),
  npm: way('node', 'npm ci', 'npm run ', 'npx '),
  deno: way('node', 'deno install', 'deno task ', 'deno run -A npm:'),
  uv: way('python', 'uv sync', undefined, 'uv run '),
  poetry: way('python', 'poetry install', undefined, 'poetry run '),
  pdm: way('python', 'pdm install', 'pdm run ', 'pdm run '),
  pipenv: way('python', 'pipenv install --dev', 'pipenv run ', 'pipenv run '),
  rye: way('python', 'rye sync', 'rye run ', 'rye run '),
  hatch: way('python', 'hatch env create', 'hatch run ', 'hatch run '),
  // What it installs is decided in core/stack/pip-install.ts.
  pip: way('python', '', undefined, ''),
  bundler: way('ruby', 'bundle install', undefined, 'bundle exec '),
  composer: way('php', 'composer install', 'composer run-script ', 'vendor/bin/'),
  mix: way('elixir', 'mix deps.get', undefined, 'mix '),
  cargo: way('rust', 'cargo fetch', undefined, 'cargo '),
  go: way('go', 'go mod download', undefined, 'go run '),
  dotnet: way('dotnet', 'dotnet restore', undefined, 'dotnet '),
  maven: way('jvm', 'mvn -q dependency:go-offline', undefined, 'mvn '),
  gradle: way('jvm', 'gradle dependencies', undefined, 'gradle '),
}

/** Lock files and manifests that name one manager, strongest first inside an ecosystem. */
const SIGNS: readonly (readonly [file: RegExp, name: string])[] = [
  [/^pnpm-lock\.yaml$/, 'pnpm'],
  [/^yarn\.lock$/, 'yarn'],
  [/^bun\.lockb?$/, 'bun'],
  [/^(package-lock|npm-shrinkwrap)\.json$/, 'npm'],
  [/^deno\.lock$/, 'deno'],
  [/^pnpm-workspace\.yaml$/, 'pnpm'],
  [/^\.yarnrc\.yml$/, 'yarn'],
  [/^bunfig\.toml$/, 'bun'],
  [/^deno\.jsonc?$/, 'deno'],
  [/^uv\.lock$/, 'uv'],
  [/^poetry\.lock$/, 'poetry'],
  [/^pdm\.lock$/, 'pdm'],
  [/^Pipfile(\.lock)?$/, 'pipenv'],
  [/^requirements[\w.-]*\.txt$/, 'pip'],
  [/^setup\.(py|cfg)$/, 'pip'],
  [/^Gemfile(\.lock)?$/, 'bundler'],
  [/^composer\.(lock|json)$/, 'composer'],
  [/^mix\.(lock|exs)$/, 'mix'],
  [/^Cargo\.(lock|toml)$/, 'cargo'],
  [/^go\.(sum|mod)$/, 'go'],
  [/\.(csproj|fsproj|sln|slnx)$/, 'dotnet'],
  [/^packages\.lock\.json$/, 'dotnet'],
  [/^pom\.xml$/, 'maven'],
  [/^(build|settings)\.gradle(\.kts)?$/, 'gradle'],
]
/** Most paths of a repository are none of these; one look rules them out. */
/** Kept apart by purpose, in a folder beside the project. */
const REQUIREMENTS = /(^|\/)requirements\/(?:base|local|dev|develop|development)\.txt$/
const MAYBE_SIGN = new RegExp(SIGNS.map(([pattern]) => `(?:${pattern.source})`).join('|'))
const ASSUMED = 98
const LOCKS =
  /^(pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|package-lock\.json|npm-shrinkwrap\.json|deno\.lock|uv\.lock|poetry\.lock|pdm\.lock|Pipfile\.lock|requirements\.txt|Gemfile\.lock|composer\.lock|mix\.lock|Cargo\.lock|go\.sum|packages\.lock\.json|gradle\.lockfile)$/

/** Several detectors ask, and facts never change. */
const foundIn = new WeakMap<RepoFacts, readonly PackageManager[]>()

/** The managers of all folders that have a manifest of their own; one for each ecosystem and folder. */
export function findPackageManagers(facts: RepoFacts): readonly PackageManager[] {
  const known = foundIn.get(facts) ?? readPackageManagers(facts)
  foundIn.set(facts, known)
  return known
}

function readPackageManagers(facts: RepoFacts): PackageManager[] {
  const byPlace = new Map<string, { name: string; rank: number; file: string; line: number }>()
  const locks = new Map<string, string>()
  const note = (folder: string, name: string, rank: number, file: string, line = 1) => {
    const place = `${WAYS[name]?.ecosystem} ${folder}`
    const held = byPlace.get(place)
    if (held === undefined || rank < held.rank) byPlace.set(place, { name, rank, file, line })
  }
  for (const path of facts.paths) {
    const folder = folderOf(path)
    if (REQUIREMENTS.test(path)) note(folderOf(folder), 'pip', 30, path)
    const file = folder === '' ? path : path.slice(folder.length + 1)
    if (file !== 'package.json' && file !== 'pyproject.toml' && !MAYBE_SIGN.test(file)) continue
    const rank = SIGNS.findIndex(([pattern]) => pattern.test(file))
    if (rank >= 0) note(folder, (SIGNS[rank] as (typeof SIGNS)[number])[1], rank + 10, path)
    if (LOCKS.test(file)) locks.set(`${folder}\n${SIGNS[rank]?.[1]}`, path)
    if (file === 'package.json') noteNodeManifest(facts, path, note)
    if (file === 'pyproject.toml') notePyproject(facts, path, note)
  }
  const wrappers = new Set(facts.paths.filter(path => path === 'mvnw' || path === 'gradlew'))
  const hasPip = [...byPlace.values()].some(one => one.name === 'pip')
  const pipInstalls = hasPip ? makePipInstalls(facts) : undefined
  return [...byPlace].map(([place, { name, rank, file, line }]) => {
    const folder = place.slice(place.indexOf(' ') + 1)
    const found = WAYS[name] as Way
    const lockFile = locks.get(`${folder}\n${name}`)
    const wrapper = name === 'maven' ? 'mvnw' : name === 'gradle' ? 'gradlew' : undefined
    const hasWrapper = wrapper !== undefined && wrappers.has(wrapper)
    return {
      ...found,
      ...(hasWrapper ? { exec: `./${wrapper} ` } : {}),
      name,
      folder,
      isAssumed: rank >= ASSUMED,
      ...(name === 'pip' && pipInstalls !== undefined
        ? pipWay(pipInstalls(folder))
        : { install: (lockFile === undefined ? UNLOCKED : LOCKED)[name] ?? found.install }),
      lockFile,
      evidence: evidenceAt(facts, file, line),
    }
  })
}

/** As the instructions of most projects say it, called so that no other environment's pip can answer. */
function pipWay({ what, environment }: PipInstall): Pick<PackageManager, 'install' | 'environment'> {
  return what === undefined
    ? { install: undefined }
    : { install: `python3 -m pip install -q ${what}`, environment }
}

type Note = (folder: string, name: string, rank: number, file: string, line?: number) => void

function noteNodeManifest(facts: RepoFacts, path: string, note: Note): void {
  const manifest = facts.json.get(path)
  const declared = [
    valueAt(manifest, 'packageManager'),
    valueAt(manifest, 'devEngines', 'packageManager', 'name'),
  ]
  for (const value of declared) {
    const name = /^(npm|pnpm|yarn|bun)(@|$)/.exec(String(value))?.[1]
    if (name !== undefined)
      note(folderOf(path), name, 0, path, findLine(facts.files.get(path), /"packageManager"/))
  }
  const only = /only-allow\s+(npm|pnpm|yarn|bun)/.exec(String(valueAt(manifest, 'scripts', 'preinstall')))
  if (only !== null)
    note(folderOf(path), only[1] as string, 1, path, findLine(facts.files.get(path), 'only-allow'))
  note(folderOf(path), 'npm', ASSUMED + 1, path)
}

function notePyproject(facts: RepoFacts, path: string, note: Note): void {
  const tools = valueAt(facts.toml.get(path), 'tool')
  for (const [rank, name] of ['uv', 'poetry', 'pdm', 'rye', 'hatch'].entries()) {
    // A hatch section without environments only says how the package is built.
    const key = name === 'hatch' ? ['hatch', 'envs'] : [name]
    if (valueAt(tools, ...key) !== undefined)
      note(folderOf(path), name, 40 + rank, path, findLine(facts.files.get(path), `[tool.${name}`))
  }
  note(folderOf(path), 'pip', ASSUMED, path)
}

/** Answers which manager of an ecosystem serves a folder, "" for the root. */
export type PackageManagerLookup = (ecosystem: Ecosystem, folder: string) => PackageManager | undefined

/**
 * The manager of an ecosystem for a folder: its own, else the nearest above it, else (for the root) none.
 * A workspace's member without a lock file belongs to the lock file above it.
 */
export function makePackageManagerLookup(facts: RepoFacts): PackageManagerLookup {
  const placeOf = (ecosystem: Ecosystem, folder: string) => `${ecosystem} ${folder}`
  const places = groupBy(findPackageManagers(facts), ({ ecosystem, folder }) => placeOf(ecosystem, folder))
  return (ecosystem, folder) => {
    let assumed: PackageManager | undefined
    for (let at = folder; ; at = folderOf(at)) {
      const here = places.get(placeOf(ecosystem, at)) ?? []
      const own = here.find(entry => !entry.isAssumed)
      if (own !== undefined) return own
      assumed ??= here[0]
      if (at === '') return assumed
    }
  }
}
