// Where a repository's env keys stand: written in env files and here-documents, read in program text and settings, and
// given to its own services in compose files. Names and lines; a value only where facts may hold it.
import { findComposeProjects } from './compose-standing.ts'
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

const NAME = String.raw`["'\x60]([A-Za-z_][A-Za-z0-9_.]*)["'\x60]`
const CODE_READS: readonly RegExp[] = [
  /\b(?:process\.env|import\.meta\.env|Bun\.env)\.([A-Za-z_]\w*)/g,
  new RegExp(
    String.raw`\b(?:process\.env|import\.meta\.env|Bun\.env|os\.environ|ENV|environ)\[\s*${NAME}`,
    'g',
  ),
  new RegExp(
    String.raw`\b(?:Deno\.env\.get|os\.getenv|os\.environ\.get|environ\.get|getenv|Getenv|LookupEnv|env::var|env_var|var|dotenv_var|System\.get_env|System\.fetch_env!|System\.getenv|GetEnvironmentVariable|ENV\.fetch|getEnv|get_env|mustGetenv|MustGetEnv|GetEnv|requireEnv|env(?:\.\w+)?|config|envString|configService\.get(?:OrThrow)?(?:<\w+>)?|fromEnv)!?\(\s*${NAME}`,
    'g',
  ),
  /\b(?:env|envconfig|mapstructure|environment):"([A-Za-z_]\w*)/g,
  /\benv\(\s*"([A-Za-z_]\w*)"\s*\)/g,
]
/** Validated environments: `DATABASE_URL: z.string()`, and settings classes: `database_url: PostgresDsn`. */
const SCHEMAS: readonly RegExp[] = [
  /^\s*([A-Z][A-Z0-9_]+)\s*:\s*(?:z|Joi|yup|v|t|str|url|port|num|host|envalid|Type|S)\s*[.(]/gm,
]
/** `${KEY:default}`, ERB's ENV["KEY"], Symfony's %env(resolve:KEY)%. */
const SETTINGS_READS: readonly RegExp[] = [
  /\bENV(?:\.fetch)?[[(]\s*["']([A-Za-z_]\w*)["']/g,
  /%env\((?:\w+:)*([A-Za-z_]\w*)\)%/g,
  /\$\{(?:env[.:])?([A-Za-z_][A-Za-z0-9_]*)(?::[^}]*)?\}/g,
]
const CODE = /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kts?|cs|fs|php|exs?|scala|clj|prisma|vue|svelte)$/
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
    if (CODE.test(file.path)) found.push(...readsInCode(facts, file))
    else if (SETTINGS.test(file.path) && !/(^|\/)\.?(github|circleci|gitlab)/.test(file.path))
      found.push(...readsIn(facts, file, SETTINGS_READS, 'settings'))
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

/** Keys that a program's text reads from its environment, with their places. */
export function readsInCode(facts: RepoFacts, file: FactFile): EnvPlace[] {
  return CODE.test(file.path) ? readsIn(facts, file, [...CODE_READS, ...SCHEMAS], 'code') : []
}

function readsIn(
  facts: RepoFacts,
  file: FactFile,
  patterns: readonly RegExp[],
  how: EnvPlace['how'],
): EnvPlace[] {
  const found: EnvPlace[] = []
  const seen = new Set<string>()
  for (const pattern of patterns)
    for (const match of file.text.matchAll(pattern)) {
      const key = match[1] as string
      if (seen.has(key) || key.length < 3) continue
      seen.add(key)
      found.push({
        key,
        how,
        value: undefined,
        isCommented: false,
        isTest: isTestFile(file.path),
        evidence: evidenceAt(facts, file.path, lineAt(file.text, match.index + match[0].indexOf(key))),
      })
    }
  return found
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
