// Where a repository's env keys stand: written in env files and here-documents, read in program text and settings, and
// given to its own services in compose files. Names and lines; a value only where facts may hold it.
import { findComposeProjects } from './compose-standing.ts'
import { plainPath } from './copied.ts'
import {
  type Evidence,
  evidenceAt,
  type FactFile,
  isSecretKey,
  lineAt,
  maskSecrets,
  type RepoFacts,
} from './facts.ts'
import { scopeOf } from './scope.ts'

export interface EnvPlace {
  readonly key: string
  /** env-file, script: written there. code, settings: read there. compose: given to a service that is built here. */
  readonly how: 'env-file' | 'script' | 'code' | 'settings' | 'compose'
  readonly value: string | undefined
  readonly isCommented: boolean
  readonly isTest: boolean
  readonly evidence: Evidence
}

/** How each language reads a variable. One pattern has to look at every character of a file, so it is kept to its own. */
const READS_BY_LANGUAGE: readonly (readonly [file: RegExp, patterns: readonly RegExp[]])[] = [
  [
    /\.(?:[cm]?[jt]sx?|vue|svelte)$/,
    [
      /\b(?:process|meta|Bun)\.env(?:\??\.|\[\s*["'`])([A-Za-z_]\w*)/g,
      /\b(?:env|config|getEnv|requireEnv|envString|getOrThrow|get(?:<\w+>)?)\(\s*["'`]([A-Za-z_]\w*)["'`]/g,
      // Validated environments: `DATABASE_URL: z.string()`.
      /^\s*([A-Z][A-Z0-9_]+)\s*:\s*(?:z|Joi|yup|v|t|str|url|port|num|host|envalid|Type|S)\s*[.(]/gm,
    ],
  ],
  [/\.py$/, [/\b(?:getenv|environ(?:\.get)?|env(?:\.\w+)?|config)[([]\s*["']([A-Za-z_]\w*)["']/g]],
  [
    /\.go$/,
    [
      /\b(?:os\.)?\w*(?:[Ee]nv|EnvOrDefault)\w*\(\s*"([A-Za-z_]\w*)"/g,
      /\b(?:env|envconfig|mapstructure|environment):"([A-Za-z_]\w*)/g,
    ],
  ],
  [/\.rs$/, [/\b(?:env::var(?:_os)?|var|dotenv_var|env!|get_env)\(\s*"([A-Za-z_]\w*)"/g]],
  [/\.rb$/, [/\bENV(?:\.fetch)?[([]\s*["']([A-Za-z_]\w*)["']/g]],
  [
    /\.php$/,
    [/\b(?:env|getenv)\(\s*["']([A-Za-z_]\w*)["']/g, /\$_(?:ENV|SERVER)\[\s*["']([A-Za-z_]\w*)["']/g],
  ],
  [/\.exs?$/, [/\b(?:get_env|fetch_env!|env!)\(\s*"([A-Za-z_]\w*)"/g]],
  [
    /\.(?:java|kts?|scala|clj|cs|fs)$/,
    [/\b(?:getenv|GetEnvironmentVariable|env)\(\s*"([A-Za-z_]\w*)"/g, /\$\{([A-Z][A-Z0-9_]*)(?::[^}]*)?\}/g],
  ],
  [/\.prisma$/, [/\benv\(\s*"([A-Za-z_]\w*)"/g]],
]

export interface EnvRead {
  readonly key: string
  /** Where the name begins, and where the read ends. */
  readonly offset: number
  readonly end: number
}

/** The variables that a program text reads by name. */
export function findEnvReads(file: FactFile): EnvRead[] {
  const patterns = READS_BY_LANGUAGE.find(([path]) => path.test(file.path))?.[1] ?? []
  return patterns.flatMap(pattern => readsBy(file.text, pattern))
}

function readsBy(text: string, pattern: RegExp): EnvRead[] {
  return [...text.matchAll(pattern)].map(match => {
    const key = match[1] as string
    return { key, offset: match.index + match[0].lastIndexOf(key), end: match.index + match[0].length }
  })
}

/** `${KEY:default}`, ERB's ENV["KEY"], Symfony's %env(resolve:KEY)%. */
const SETTINGS_READS: readonly RegExp[] = [
  /\bENV(?:\.fetch)?[[(]\s*["']([A-Za-z_]\w*)["']/g,
  /%env\((?:\w+:)*([A-Za-z_]\w*)\)%/g,
  /\$\{(?:env[.:])?([A-Za-z_][A-Za-z0-9_]*)(?::[^}]*)?\}/g,
]
const SETTINGS = /\.(?:ya?ml|toml|properties|conf|ini|hocon|json5?|hcl)$/
const TASKS =
  /(^|\/)((GNU)?makefile|taskfile[\w.]*|\.?justfile|\.envrc|\.?mise\.toml|package\.json)$|\.(sh|bash|mk)$|(^|\/)(bin|scripts?)\/[\w.-]+$/i

export function findEnvPlaces(facts: RepoFacts): EnvPlace[] {
  const found: EnvPlace[] = []
  for (const env of facts.envFiles.values())
    for (const entry of env.entries)
      found.push({
        key: entry.key,
        how: 'env-file',
        value: entry.value,
        isCommented: entry.commented,
        isTest: isTestFile(env.path),
        evidence: evidenceAt(facts, env.path, entry.line),
      })
  const compose = findComposeProjects(facts)
  const composeFiles = new Set(compose.flatMap(project => project.files))
  for (const file of facts.files.values()) {
    const scope = scopeOf(file.path)
    if (scope === 'aside' || scope === 'production' || composeFiles.has(file.path)) continue
    if (TASKS.test(file.path)) found.push(...writtenIn(facts, file))
    const reads = findEnvReads(file)
    if (reads.length > 0) found.push(...readsIn(facts, file, reads, 'code'))
    else if (SETTINGS.test(plainPath(file.path)) && !/(^|\/)\.?(github|circleci|gitlab)/.test(file.path))
      found.push(
        ...readsIn(
          facts,
          file,
          SETTINGS_READS.flatMap(pattern => readsBy(file.text, pattern)),
          'settings',
        ),
      )
  }
  for (const project of compose) {
    if (project.standing !== 'run' && project.standing !== 'fallback') continue
    for (const service of project.services.values()) {
      if (service.identity !== undefined || service.build === undefined) continue
      for (const { key, value, line } of service.environment)
        found.push({
          key,
          how: 'compose',
          value: value === undefined || isSecretKey(key) ? undefined : maskSecrets(value),
          isCommented: false,
          isTest: false,
          evidence: evidenceAt(facts, service.file, line ?? service.line),
        })
    }
  }
  return found
}

export function isTestFile(path: string): boolean {
  return scopeOf(path) === 'test' || /(^|\/)conftest\.py$|(^|[.\-_/])test([.\-_]|$)/i.test(path)
}

function readsIn(
  facts: RepoFacts,
  file: FactFile,
  reads: readonly EnvRead[],
  how: EnvPlace['how'],
): EnvPlace[] {
  const seen = new Set<string>()
  return reads.flatMap(({ key, offset }) => {
    if (seen.has(key) || key.length < 3) return []
    seen.add(key)
    return [
      {
        key,
        how,
        value: undefined,
        isCommented: false,
        isTest: isTestFile(file.path),
        evidence: evidenceAt(facts, file.path, lineAt(file.text, offset)),
      },
    ]
  })
}

/** Assignments that a script makes, those of a here-document included: they end up in an env file or a shell. */
function writtenIn(facts: RepoFacts, file: FactFile): EnvPlace[] {
  return [
    ...file.text.matchAll(
      /^[ \t]*(#[ \t]*)?(?:-[ \t]+)?(?:export[ \t]+|@?echo[ \t]+["']?)?([A-Z][A-Z0-9_]{2,})(?:[ \t]*[:?]?=[ \t]*|:[ \t]+)["']?([^\n"']*)/gm,
    ),
  ].map(match => {
    const key = match[2] as string
    const value = (match[3] as string).trim()
    return {
      key,
      how: 'script',
      value: isSecretKey(key) ? undefined : maskSecrets(value),
      isCommented: match[1] !== undefined,
      isTest: false,
      evidence: evidenceAt(facts, file.path, lineAt(file.text, match.index)),
    }
  })
}
