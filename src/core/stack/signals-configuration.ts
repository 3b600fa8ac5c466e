// Signals of addresses: URLs of servers in settings, task files and program text, and .NET connection strings.
// An address says what the program is told to reach, not that anybody starts it.
import { isCopied, plainPath } from './copied.ts'
import { type FactFile, lineAt, nameOf, type RepoFacts } from './facts.ts'
import { isIntegration, scopeOf } from './scope.ts'
import { type Signal, type SignalWeight, signalAt } from './signals.ts'
import { isOwnFile } from './signals-frameworks.ts'
import { findStoreUrls, storeByWord } from './store-names.ts'

const SETTINGS =
  /\.(toml|hjson|json5?|ini|cfg|conf|properties|ya?ml|exs|edn|env|mk|just|tf|nix)$|(^|\/)([Mm]akefile|GNUmakefile|\.?justfile|Procfile[\w.]*|\.envrc|Rakefile)$|(^|\/)(settings|config|conf|configuration|env|environment|constants?)([\w.-]*|\/[\w./-]+)\.(py|rb|php|[cm]?[jt]s|go|rs|java|kt|exs?|cs)$/
const NOT_SETTINGS =
  /(^|\/)(package\.json|composer\.json|tsconfig[\w.]*\.json|readme[\w.]*|changelog[\w.]*|contributing[\w.]*|[\w.-]*\.(md|rst|txt)|gemfile(\.lock)?|dockerfile[\w.]*|\.github\/.*|\.gitlab-ci\.yml|\.circleci\/.*|\.travis\.yml|mkdocs\.yml)$/i
const SCRIPT = /\.(sh|bash|zsh)$|(^|\/)(bin|scripts?)\/[\w-]+$/

export function configurationSignals(facts: RepoFacts): Signal[] {
  const composeFiles = new Set(
    [...facts.yaml]
      .filter(([, documents]) => documents.some(one => hasServices(one.value)))
      .map(([path]) => path),
  )
  return [...facts.files.values()].flatMap(file => {
    if (NOT_SETTINGS.test(file.path) || composeFiles.has(file.path) || isLockFile(file.path)) return []
    const scope = scopeOf(file.path)
    // What tests and examples point at says nothing about the program.
    if (scope === 'test' || scope === 'aside' || isIntegration(file.path)) return []
    const isSettings = SETTINGS.test(plainPath(file.path))
    const isOwn = isOwnFile(file.path) && !isOtherProfile(file.path)
    const urls = findStoreUrls(file.text).flatMap(url => {
      if (isCommentedOut(file, url.offset) || isPattern(url.url)) return []
      const weight: SignalWeight = !isOwn ? 'optional' : isSettings ? 'named' : 'code'
      const at = { file: file.path, line: lineAt(file.text, url.offset) }
      const why = isOwn
        ? `${file.path} points at it`
        : `${file.path} points at it, and is not of the default run`
      return signalAt(facts, at, {
        kind: url.kind,
        product: url.product,
        source: isSettings ? 'configuration' : 'source',
        weight,
        why,
        ...(isSettings && !isCopied(nameOf(file.path)) ? { inEffect: true as const } : {}),
      })
    })
    return [...(SCRIPT.test(file.path) && !isOwn ? [] : urls), ...connectionStrings(facts, file, isOwn)]
  })
}

function hasServices(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'services' in value
}

function isLockFile(path: string): boolean {
  return /\.lock$|-lock\.\w+$/.test(path)
}

/** Spring's other profiles: application-mysql.properties is a choice. */
function isOtherProfile(path: string): boolean {
  const profile = /(^|\/)(?:application|bootstrap)-([\w-]+)\.(?:ya?ml|properties)$/.exec(path)?.[2]
  return profile !== undefined && !/^(dev|development|local|default)$/.test(profile)
}

function isCommentedOut(file: FactFile, offset: number): boolean {
  const start = file.text.lastIndexOf('\n', offset - 1) + 1
  const before = file.text.slice(start, offset)
  return /^\s*(#|\/\/|;|--|\*|\/\*|%|<!--|""")|\s(\/\/|#)\s/.test(before)
}

/** `postgres://` in a comparison or a pattern names a scheme, not a place. */
function isPattern(url: string): boolean {
  const rest = url.replace(/^[^/]*:\/*/, '')
  return rest === '' && !url.startsWith('sqlite')
}

const CONNECTION =
  /"([\w:.-]*)"\s*:\s*"((?:Host|Server|Data Source|DataSource|Filename|User ID|Username|Database|localhost)[^"]*)"/gi

/** A section of a server's name, with the string in it: its value may be filled in later. */
const STORE_SECTION = /"(\w+)"\s*:\s*\{[^{}]*?"connectionString"\s*:/gi

/** `Host=…;Database=…` is Npgsql's way, `Server=…;Uid=…` MySQL's, `Data Source=app.db` SQLite's, the rest SQL Server's. */
function connectionStrings(facts: RepoFacts, file: FactFile, isOwn: boolean): Signal[] {
  if (!/(^|\/)appsettings[\w.]*\.json$/i.test(file.path)) return []
  const isDefault = isOwn && /(^|\/)appsettings(\.Development|\.Local)?\.json$/i.test(file.path)
  const sections = [...file.text.matchAll(STORE_SECTION)].flatMap(match => {
    const identity = storeByWord((match[1] as string).toLowerCase())
    if (identity === undefined || isCommentedOut(file, match.index)) return []
    const at = { file: file.path, line: lineAt(file.text, match.index) }
    const weight: SignalWeight = isDefault ? 'named' : 'optional'
    const why = `the section ${match[1]} has a connection string`
    return signalAt(facts, at, { ...identity, source: 'configuration', weight, why })
  })
  const strings = [...file.text.matchAll(CONNECTION)].flatMap(match => {
    const [, key, value] = match as unknown as [string, string, string]
    const identity = storeByWord(wordOf(key, value) ?? '')
    if (identity === undefined || isCommentedOut(file, match.index)) return []
    return signalAt(
      facts,
      { file: file.path, line: lineAt(file.text, match.index) },
      {
        ...identity,
        source: 'configuration',
        weight: isDefault ? 'named' : 'optional',
        why: `the connection string ${key}`,
        envKeys: [`ConnectionStrings__${key}`],
      },
    )
  })
  return [...strings, ...sections]
}

function wordOf(key: string, value: string): string | undefined {
  if (/redis/i.test(key) || /^localhost:6379/.test(value)) return 'redis'
  if (/^(data ?source|filename)\s*=\s*[^;]*\.(db|sqlite3?)\b/i.test(value)) return 'sqlite'
  if (
    /(^|;)\s*(uid|user)\s*=/i.test(value) &&
    /(^|;)\s*(port\s*=\s*3306|sslmode|allowuservariables|server)/i.test(value) &&
    /(^|;)\s*uid\s*=/i.test(value)
  )
    return 'mysql'
  if (/(^|;)\s*(host|username)\s*=/i.test(value) || /port\s*=\s*5432/i.test(value)) return 'postgres'
  if (
    /(^|;)\s*(trusted_connection|integrated security|trustservercertificate|multipleactiveresultsets|initial catalog|encrypt|user id)\s*=|localdb/i.test(
      value,
    )
  )
    return 'sqlserver'
  return undefined
}
