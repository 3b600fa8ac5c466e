// What init needs of the facts beyond the findings: the compose project of a developer's run with its credentials as
// they are written, and the addresses that env examples give. It resolves nothing of a real .env file.
import type { ComposePort } from '../stack/compose-ports.ts'
import { findComposeProjects } from '../stack/compose-standing.ts'
import {
  asRecord,
  type EnvFile,
  folderOf,
  nameOf,
  type RepoFacts,
  valueAt,
  withoutScripts,
} from '../stack/facts.ts'
import type { ServiceKind } from '../stack/images.ts'
import { scopeOf } from '../stack/scope.ts'

/** A setting of a server: what is written, or the variable that holds it with what it is without. */
export type Setting =
  | { readonly value: string; readonly variable: undefined }
  | { readonly value: string | undefined; readonly variable: string }

export interface ComposeServer {
  readonly name: string
  /** Undefined where the image holds no server that is known. */
  readonly kind: ServiceKind | undefined
  readonly product: string | undefined
  /** Started from an image, by default, and not once only. */
  readonly isServer: boolean
  readonly isBuilt: boolean
  readonly ports: readonly ComposePort[]
  readonly hasContainerName: boolean
  readonly command: string
  readonly settings: ReadonlyMap<string, Setting>
  readonly needs: readonly string[]
  /** Folders of this machine that lie outside the worktree. */
  readonly outerMounts: readonly string[]
}

export interface ComposeSource {
  /** In the order of `-f`: what comes later lies over it. */
  readonly files: readonly string[]
  readonly servers: readonly ComposeServer[]
  /** Volumes and networks with a name of their own, which two projects would share. */
  readonly fixed: readonly { readonly section: 'volumes' | 'networks'; readonly key: string }[]
  /** Those that the project does not make itself, and that no override can give another name. */
  readonly external: readonly { readonly section: 'volumes' | 'networks'; readonly key: string }[]
  /** Files that `env_file` names, and that git does not have. */
  readonly missingEnvFiles: readonly string[]
}

export interface InitSources {
  readonly compose: ComposeSource | undefined
  /** `KEY=value` of env examples and committed env files, the first of each key. */
  readonly examples: readonly { readonly key: string; readonly value: string }[]
  /** All keys of env files, real ones included: what a comparison with the main checkout looks at. */
  readonly keys: ReadonlySet<string>
  /** Where the main checkout's values stand, by path; of two files that say something, the later one goes first. */
  readonly mainFiles: readonly string[]
  readonly exampleFiles: readonly string[]
  /** Keys that a new worktree's app lacks: those of examples and of a developer's own env files. */
  readonly untracked: readonly string[]
}

export function readInitSources(all: RepoFacts): InitSources {
  const facts = withoutScripts(all)
  const envs = [...facts.envFiles.values()].filter(env => {
    const scope = scopeOf(env.path.replace(/[.\-_](example|sample|template|dist|defaults?)/gi, ''))
    return scope === 'development' || scope === 'neutral'
  })
  const examples = new Map<string, string>()
  for (const env of envs)
    for (const entry of env.entries)
      if (!entry.commented && entry.value !== undefined && !examples.has(entry.key))
        examples.set(entry.key, entry.value)
  return {
    compose: readComposeSource(facts),
    examples: [...examples].map(([key, value]) => ({ key, value })),
    keys: new Set(envs.flatMap(env => env.entries.filter(entry => !entry.commented).map(entry => entry.key))),
    mainFiles: mainFilesOf(envs),
    exampleFiles: envs.filter(env => env.kind === 'example').map(env => env.path),
    untracked: [
      ...new Set(
        envs
          .filter(env => env.kind !== 'committed')
          .flatMap(env => env.entries.filter(entry => !entry.commented).map(entry => entry.key)),
      ),
    ],
  }
}

/** The root's files go before those of folders, a developer's own before examples, and `.env.local` before `.env`. */
function mainFilesOf(envs: readonly EnvFile[]): string[] {
  const examples = new Set(envs.filter(env => env.kind === 'example').map(env => env.path))
  const real = envs.map(({ path, kind }) => (kind === 'example' ? realNameOf(path) : path))
  const rank = (path: string) =>
    examples.has(path) ? 0 : /\.local$/.test(path) ? 3 : /(^|\/)\.env$/.test(path) ? 1 : 2
  const depth = (path: string) => path.split('/').length
  return [...new Set([...examples, ...real, '.env'])]
    .filter(path => /^[\w./@+-]+$/.test(path))
    .sort((a, b) => depth(b) - depth(a) || rank(a) - rank(b) || a.localeCompare(b))
}

/** `.env.example`, `env.dist` and `example.env` are copied to `.env`, `.env.local.sample` to `.env.local`. */
function realNameOf(example: string): string {
  const word = '(?:example|sample|template|dist|defaults?)'
  const name = nameOf(example)
    .replace(new RegExp(`[._-]${word}\\b`, 'i'), '')
    .replace(new RegExp(`^\\.?${word}[._-]`, 'i'), '')
    .replace(/^\.?env/, '.env')
  const folder = folderOf(example)
  return folder === '' ? name : `${folder}/${name}`
}

function readComposeSource(facts: RepoFacts): ComposeSource | undefined {
  const projects = findComposeProjects(facts).filter(one => one.standing === 'run')
  const project = projects.find(one => one.isBase) ?? projects[0]
  if (project === undefined) return undefined
  const files = project.isOverlay ? [...project.files].reverse() : [...project.files]
  const servers = [...project.services.values()]
    .filter(service => service.profiles.length === 0 && !service.isOff)
    .map(service => ({
      name: service.name,
      kind: service.identity?.kind,
      product: service.identity?.product,
      isServer: service.identity !== undefined,
      isBuilt: service.build !== undefined && service.identity === undefined,
      ports: service.ports,
      hasContainerName: service.containerName !== undefined,
      command: service.command,
      settings: settingsOf(facts, service.name, files, service.envFiles),
      needs: service.dependsOn,
      outerMounts: service.volumes.map(volume => volume.key).filter(isOuter),
    }))
  const named = files.flatMap(file =>
    (facts.yaml.get(file) ?? []).flatMap(document => namedThings(document.value)),
  )
  const envFiles = [...project.services.values()]
    .filter(service => service.profiles.length === 0 && !service.isOff)
    .flatMap(service => service.envFiles)
  return {
    files,
    servers,
    missingEnvFiles: [...new Set(envFiles)].filter(
      path => facts.tracked?.has(path) === false || !facts.paths.includes(path),
    ),
    fixed: named.filter(one => !one.isExternal).map(({ section, key }) => ({ section, key })),
    external: named.filter(one => one.isExternal).map(({ section, key }) => ({ section, key })),
  }
}

/** Outside the worktree, and not one of the machine's own: sockets, time zone, devices. */
function isOuter(mount: string): boolean {
  return (
    /^(~|\$\{?HOME\b|\.\.\/|\/)/.test(mount) &&
    !/^\/(var\/run|run|etc|dev|sys|proc|tmp\/\.X11-unix)(\/|$)|^\/$/.test(mount)
  )
}

function namedThings(
  document: unknown,
): { section: 'volumes' | 'networks'; key: string; isExternal: boolean }[] {
  return (['volumes', 'networks'] as const).flatMap(section =>
    Object.entries(asRecord(valueAt(document, section)) ?? {}).flatMap(([key, value]) => {
      const isExternal = valueAt(value, 'external') !== undefined && valueAt(value, 'external') !== false
      return isExternal || valueAt(value, 'name') !== undefined ? [{ section, key, isExternal }] : []
    }),
  )
}

/** The environment as it is written: a variable stays a variable, so that its value can be asked for when it is needed. */
function settingsOf(
  facts: RepoFacts,
  service: string,
  files: readonly string[],
  envFiles: readonly string[],
): Map<string, Setting> {
  const settings = new Map<string, Setting>()
  for (const path of envFiles)
    for (const entry of facts.envFiles.get(path)?.entries ?? [])
      if (!entry.commented) settings.set(entry.key, { variable: entry.key, value: entry.value })
  for (const file of files)
    for (const document of facts.yaml.get(file) ?? []) {
      const environment = valueAt(document.value, 'services', service, 'environment')
      const pairs = Array.isArray(environment)
        ? environment
            .map(one => /^([^=]+)(?:=([\s\S]*))?$/.exec(String(one)))
            .flatMap(match => (match === null ? [] : [[match[1] as string, match[2]] as const]))
        : Object.entries(asRecord(environment) ?? {})
      for (const [key, value] of pairs) settings.set(key.trim(), settingOf(key.trim(), value))
    }
  return settings
}

function settingOf(key: string, raw: unknown): Setting {
  // `- KEY` and `KEY:` without a value are taken from the environment.
  if (raw === undefined || raw === null) return { variable: key, value: undefined }
  const text = String(raw)
  const variable = /^\$\{?([A-Za-z_]\w*)(?::?([-?+])([^}]*))?\}?$/.exec(text)
  if (variable === null) return { variable: undefined, value: text.replaceAll('$$', '$') }
  return { variable: variable[1] as string, value: variable[2] === '-' ? variable[3] : undefined }
}
