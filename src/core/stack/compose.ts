// Turns one compose document into services: includes, extends and overrides applied, variables resolved.
// What is commented out is no service; a reference that leads nowhere is a missing piece, never an error.
import {
  asList,
  type ComposeBuild,
  type ComposeEntry,
  readBuild,
  readEntries,
  readVolumes,
} from './compose-fields.ts'
import { identifyService } from './compose-identify.ts'
import { type ComposePort, readComposePort } from './compose-ports.ts'
import { asRecord, findLine, type RepoFacts, resolveFrom, valueAt } from './facts.ts'
import type { ImageIdentity } from './images.ts'
import { interpolate, type Variables } from './interpolate.ts'

export interface ComposeService {
  readonly name: string
  readonly file: string
  readonly line: number
  /** With its variables resolved; undefined where the service is only built, or nothing is left of the name. */
  readonly image: string | undefined
  readonly imageLine: number
  readonly identity: ImageIdentity | undefined
  readonly build: ComposeBuild | undefined
  readonly profiles: readonly string[]
  /** Scaled to nothing: part of the file, not of the run. */
  readonly isOff: boolean
  readonly ports: readonly ComposePort[]
  readonly environment: readonly ComposeEntry[]
  readonly envFiles: readonly string[]
  readonly command: string
  readonly dependsOn: readonly string[]
  readonly volumes: readonly ComposeEntry[]
  readonly labels: readonly ComposeEntry[]
  readonly containerName: { readonly name: string; readonly file: string; readonly line: number } | undefined
}

export type Services = ReadonlyMap<string, ComposeService>

const MAX_DEPTH = 8

/** The services of one file, with those that it includes. */
export function readComposeFile(
  facts: RepoFacts,
  path: string,
  known: Variables,
  depth = 0,
): Map<string, ComposeService> {
  const services = new Map<string, ComposeService>()
  if (depth > MAX_DEPTH) return services
  for (const document of facts.yaml.get(path) ?? []) {
    for (const target of includedFiles(valueAt(document.value, 'include'))) {
      const file = resolveFrom(path, target)
      if (file === undefined || !facts.yaml.has(file)) continue
      for (const [name, service] of readComposeFile(facts, file, known, depth + 1))
        services.set(name, service)
    }
    for (const name of Object.keys(asRecord(valueAt(document.value, 'services')) ?? {})) {
      const read = readComposeService(facts, path, name, known, 0)
      if (read === undefined) continue
      const below = services.get(name)
      services.set(name, below === undefined ? read : mergeServices(below, read))
    }
  }
  return services
}

function includedFiles(include: unknown): string[] {
  const entries = Array.isArray(include) ? include : include === undefined ? [] : [include]
  return entries.flatMap(entry => {
    const path = asRecord(entry)?.path ?? entry
    return (Array.isArray(path) ? path : [path]).filter((one): one is string => typeof one === 'string')
  })
}

/** One service of a file, with what it extends; undefined where the file has none of that name. */
function readComposeService(
  facts: RepoFacts,
  path: string,
  name: string,
  known: Variables,
  depth: number,
): ComposeService | undefined {
  const document = facts.yaml.get(path)?.find(one => valueAt(one.value, 'services', name) !== undefined)
  const body = asRecord(valueAt(document?.value, 'services', name))
  if (document === undefined || body === undefined) return undefined
  const file = facts.files.get(path)
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const line =
    document.lines.get(`services/${name}`) ??
    findLine(file, new RegExp(`^\\s+["']?${escaped}["']?:`, 'm')) ??
    1
  const at = (...keys: (string | number)[]): number | undefined =>
    document.lines.get(['services', name, ...keys].join('/'))
  const text = (value: unknown) =>
    value === undefined || value === null ? '' : interpolate(String(value), known).text
  const image = typeof body.image === 'string' ? text(body.image).replace(/:$/, '') : ''
  const build = readBuild(body.build, path, text)
  const environment = readEntries(body.environment, 'environment', at, known)
  const here = (entry: ComposeEntry) => ({ ...entry, file: path })
  const own: ComposeService = {
    name,
    file: path,
    line,
    image: image === '' ? undefined : image,
    imageLine: at('image') ?? line,
    identity: undefined,
    build,
    profiles: asList(body.profiles).map(text),
    isOff: text(body.scale) === '0' || text(valueAt(body, 'deploy', 'replicas')) === '0',
    ports: asList(body.ports)
      .map((port, index) => readComposePort(port, known, at('ports', index)))
      .filter(port => port !== undefined)
      .map(port => ({ ...port, file: path })),
    environment: environment.map(here),
    envFiles: asList(body.env_file)
      .map(entry => text(asRecord(entry)?.path ?? entry))
      .flatMap(target => resolveFrom(path, target) ?? []),
    command: [body.entrypoint, body.command].flatMap(asList).map(text).join(' '),
    dependsOn: Array.isArray(body.depends_on)
      ? body.depends_on.map(String)
      : Object.keys(asRecord(body.depends_on) ?? {}),
    volumes: readVolumes(body.volumes, at, text).map(here),
    labels: readEntries(body.labels, 'labels', at, known).map(here),
    containerName:
      typeof body.container_name === 'string'
        ? { name: body.container_name, file: path, line: at('container_name') ?? line }
        : undefined,
  }
  const base = depth < MAX_DEPTH ? readExtended(facts, path, body.extends, known, depth, name) : undefined
  const merged = base === undefined ? own : mergeServices(base, own)
  return { ...merged, identity: identifyService(facts, merged) }
}

function readExtended(
  facts: RepoFacts,
  path: string,
  extended: unknown,
  known: Variables,
  depth: number,
  self: string,
): ComposeService | undefined {
  const target = asRecord(extended)
  const service = target?.service ?? (typeof extended === 'string' ? extended : undefined)
  if (typeof service !== 'string') return undefined
  const file =
    typeof target?.file === 'string' ? resolveFrom(path, interpolate(target.file, known).text) : path
  if (file === undefined || (file === path && service === self)) return undefined
  return readComposeService(facts, file, service, known, depth + 1)
}

/** Compose's own rule: single values are replaced, lists are appended, mappings are merged by key. */
export function mergeServices(base: ComposeService, over: ComposeService): ComposeService {
  const byKey = (a: readonly ComposeEntry[], b: readonly ComposeEntry[]) => [
    ...a.filter(entry => !b.some(other => other.key === entry.key)),
    ...b,
  ]
  const hasImage = over.image !== undefined
  return {
    ...over,
    image: over.image ?? base.image,
    // Evidence is the line that names the image, in the file that service was taken from.
    file: hasImage || over.build !== undefined || base.image === undefined ? over.file : base.file,
    line: hasImage || over.build !== undefined || base.image === undefined ? over.line : base.line,
    imageLine: hasImage || base.image === undefined ? over.imageLine : base.imageLine,
    identity: over.identity ?? base.identity,
    build: over.build ?? base.build,
    profiles: over.profiles.length > 0 ? over.profiles : base.profiles,
    isOff: over.isOff || base.isOff,
    ports: [...base.ports, ...over.ports],
    environment: byKey(base.environment, over.environment),
    envFiles: [...base.envFiles, ...over.envFiles],
    command: over.command || base.command,
    dependsOn: [...new Set([...base.dependsOn, ...over.dependsOn])],
    volumes: byKey(base.volumes, over.volumes),
    labels: byKey(base.labels, over.labels),
    containerName: over.containerName ?? base.containerName,
  }
}

/** Whether a plain `up` starts it; the profile that is the empty string is on by default. */
export function isEnabled(service: ComposeService): boolean {
  return !service.isOff && (service.profiles.length === 0 || service.profiles.includes(''))
}
