// Reads the compose projects of a repository: a base with its override, an overlay with what it lies over, and
// the files that stand for themselves. Which of them is started is decided in core/stack/compose-standing.ts.
import { type ComposeService, mergeServices, readComposeFile } from './compose.ts'
import { isClientJob } from './compose-identify.ts'
import { folderOf, nameOf, type RepoFacts, resolveFrom } from './facts.ts'
import { interpolate } from './interpolate.ts'
import { type Scope, scopeOf } from './scope.ts'

export interface ComposeProject {
  readonly file: string
  /** The file and, below it, the ones it is laid over. */
  readonly files: readonly string[]
  readonly scope: Scope
  readonly isBase: boolean
  readonly isOverlay: boolean
  readonly services: ReadonlyMap<string, ComposeService>
  /** Values that `${VAR}` has by default: of a committed .env beside the file, else of the example. */
  readonly variables: ReadonlyMap<string, string>
}

const BASE = /^(docker-)?compose\.ya?ml(\.(example|sample|dist|template))?$/i
const OVERRIDE = /^(docker-)?compose\.override\.ya?ml$/i

/** All compose projects; `standing` is set by core/stack/compose-standing.ts. */
export function readComposeProjects(facts: RepoFacts): ComposeProject[] {
  const projects = [...facts.yaml.keys()]
    .filter(path => !/(^|\/)\.(github|circleci|gitea|forgejo|woodpecker)\//.test(path))
    .flatMap(path => readProject(facts, path) ?? [])
  // A file that others extend or include is theirs: nobody starts it for itself.
  return projects.filter(
    project =>
      project.isBase ||
      !projects.some(
        other =>
          other !== project &&
          !other.files.includes(project.file) &&
          [...other.services.values()].some(service => service.file === project.file),
      ),
  )
}

function readProject(facts: RepoFacts, file: string): ComposeProject | undefined {
  if (OVERRIDE.test(nameOf(file)) && baseBeside(facts, file) !== undefined) return undefined
  const variables = variablesFor(facts, file)
  const own = readComposeFile(facts, file, variables)
  const usable = [...own.values()].filter(isStartable)
  const base = BASE.test(nameOf(file)) ? undefined : baseBeside(facts, file)
  const below =
    base === undefined ? new Map<string, ComposeService>() : readComposeFile(facts, base, variables)
  const isOverlay =
    base !== undefined &&
    [...own.values()].some(
      service =>
        (below.has(service.name) && !isStartable(service)) ||
        service.dependsOn.some(name => !own.has(name) && below.has(name)),
    )
  if (usable.length === 0 && !isOverlay) return undefined
  const services = new Map(isOverlay ? below : own)
  const files = isOverlay ? [file, base as string] : [file]
  if (isOverlay) layOver(services, own)
  const override = BASE.test(nameOf(file)) ? overrideBeside(facts, file) : undefined
  if (override !== undefined) {
    files.push(override)
    layOver(services, readComposeFile(facts, override, variables))
  }
  for (const [name, service] of services)
    if (isClientJob(service, services)) services.set(name, { ...service, identity: undefined })
  return {
    file,
    files,
    scope: scopeOf(file),
    isBase: BASE.test(nameOf(file)),
    isOverlay,
    services,
    variables,
  }
}

function isStartable(service: ComposeService): boolean {
  return service.image !== undefined || service.build !== undefined || service.identity !== undefined
}

function layOver(services: Map<string, ComposeService>, over: ReadonlyMap<string, ComposeService>): void {
  for (const [name, service] of over) {
    const below = services.get(name)
    services.set(name, below === undefined ? service : mergeServices(below, service))
  }
}

/** Compose prefers compose.yaml, then compose.yml, then the older names. */
function baseBeside(facts: RepoFacts, file: string): string | undefined {
  return ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml']
    .map(name => resolveFrom(file, name) as string)
    .find(path => facts.yaml.has(path))
}

function overrideBeside(facts: RepoFacts, file: string): string | undefined {
  return [
    'compose.override.yaml',
    'compose.override.yml',
    'docker-compose.override.yml',
    'docker-compose.override.yaml',
  ]
    .map(name => resolveFrom(file, name) as string)
    .find(path => facts.yaml.has(path))
}

function variablesFor(facts: RepoFacts, file: string): Map<string, string> {
  // Compose takes these from the caller; their values here only keep paths recognisable.
  const known = new Map([
    ['HOME', '~'],
    ['PWD', '.'],
  ])
  const near = [...facts.envFiles.values()].filter(
    env => env.kind !== 'real' && (folderOf(env.path) === folderOf(file) || folderOf(env.path) === ''),
  )
  // What is nearer and more real is laid over what is further away.
  near.sort((a, b) => rank(a.path, a.kind, file) - rank(b.path, b.kind, file))
  for (const env of near)
    for (const entry of env.entries)
      if (!entry.commented && entry.value !== undefined) known.set(entry.key, entry.value)
  for (const [key, value] of known) if (value.includes('$')) known.set(key, interpolate(value, known).text)
  return known
}

function rank(path: string, kind: string, file: string): number {
  const scope = scopeOf(path)
  return (
    (nameOf(path) === '.env' ? 4 : 0) +
    (kind === 'committed' ? 2 : 0) +
    (folderOf(path) === folderOf(file) ? 8 : 0) -
    (scope === 'production' || scope === 'test' ? 16 : 0)
  )
}
