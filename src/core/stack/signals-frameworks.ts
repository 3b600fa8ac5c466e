// Signals of a framework's own configuration, which decides what an app cannot start without:
// Laravel, Django, Phoenix, Spring. Rails is in core/stack/signals-rails.ts, ORMs in core/stack/signals-orms.ts.
import { asRecord, type FactFile, filesMatching, lineAt, type RepoFacts, valueAt } from './facts.ts'
import { scopeOf } from './scope.ts'
import { type Signal, type SignalWeight, signalAt } from './signals.ts'
import { storeByWord } from './store-names.ts'

export function frameworkSignals(facts: RepoFacts): Signal[] {
  return [...laravel(facts), ...django(facts), ...phoenix(facts), ...spring(facts)]
}

/** A signal for a word that names a server, at the place where it stands. */
export function wordSignal(
  facts: RepoFacts,
  file: FactFile,
  line: number,
  word: string,
  why: string,
  weight: SignalWeight = 'run',
): Signal[] {
  const identity = storeByWord(word)
  return identity === undefined
    ? []
    : [signalAt(facts, { file: file.path, line }, { ...identity, source: 'framework', weight, why })]
}

/** Whether a file belongs to the program of a default run, not to tests, examples or production alone. */
export function isOwnFile(path: string): boolean {
  const scope = scopeOf(path)
  return scope === 'neutral' || scope === 'development'
}

function laravel(facts: RepoFacts): Signal[] {
  const hasExample = [...facts.envFiles.values()].some(env =>
    env.entries.some(entry => entry.key === 'DB_CONNECTION' && !entry.commented && entry.value !== undefined),
  )
  if (hasExample) return []
  return filesMatching(facts, /(^|\/)config\/database\.php$/).flatMap(file => {
    const match = /['"]default['"]\s*=>\s*env\(\s*['"]DB_CONNECTION['"]\s*,\s*['"](\w+)['"]/.exec(file.text)
    return match === null
      ? []
      : wordSignal(facts, file, lineAt(file.text, match.index), match[1] as string, 'the default connection')
  })
}

function django(facts: RepoFacts): Signal[] {
  const signals: Signal[] = []
  for (const file of filesMatching(facts, /(^|\/)[\w-]*(settings|config|conf)[\w-]*(\/[\w-]+)*\.py$/)) {
    if (!isOwnFile(file.path) || !/\b(DATABASES|CACHES|SECRET_KEY|INSTALLED_APPS)\b/.test(file.text)) continue
    const engines = [
      ...file.text.matchAll(
        /^(?!\s*#).*?["'](?:django(?:\.contrib\.gis)?|django_prometheus|djongo|mssql)[\w.]*?\.?(?:db\.)?backends?\.([a-z0-9_]+)["']/gm,
      ),
    ].filter(match => storeByWord(match[1] as string) !== undefined)
    const kinds = new Set(engines.map(match => storeByWord(match[1] as string)?.kind))
    for (const match of engines) {
      const isFile = storeByWord(match[1] as string)?.kind === 'sqlite'
      // Two engines in one file: a condition chooses, and without anything set it is the file.
      const weight = kinds.size === 1 || isFile ? 'run' : 'named'
      signals.push(
        ...wordSignal(
          facts,
          file,
          lineAt(file.text, match.index + match[0].length),
          match[1] as string,
          'DATABASES uses it',
          weight,
        ),
      )
    }
    const cache = /^(?!\s*#).*(?:django_redis\.cache\.RedisCache|cache\.backends\.redis\.RedisCache)/m.exec(
      file.text,
    )
    if (cache !== null)
      signals.push(
        ...wordSignal(facts, file, lineAt(file.text, cache.index), 'redis', 'CACHES uses it', 'named'),
      )
    const memcached = /^(?!\s*#).*cache\.backends\.memcached\./m.exec(file.text)
    if (memcached !== null)
      signals.push(
        ...wordSignal(
          facts,
          file,
          lineAt(file.text, memcached.index),
          'memcached',
          'CACHES uses it',
          'named',
        ),
      )
  }
  return signals
}

const ECTO_ADAPTERS: Readonly<Record<string, string>> = {
  Postgres: 'postgres',
  MyXQL: 'mysql',
  SQLite3: 'sqlite',
  Tds: 'mssql',
}
/** The driver that a repo of an umbrella's other app uses is written in mix.exs only. */
const ECTO_DRIVERS: readonly (readonly [RegExp, string])[] = [
  [/\{:postgrex\b/, 'postgres'],
  [/\{:myxql\b/, 'mysql'],
  [/\{:ecto_sqlite3\b/, 'sqlite'],
  [/\{:tds\b/, 'mssql'],
]

function phoenix(facts: RepoFacts): Signal[] {
  const own = [...facts.files.values()].filter(file => /\.exs?$/.test(file.path) && isOwnFile(file.path))
  const adapters = own.flatMap(file => {
    const match = /^(?!\s*#).*\bEcto\.Adapters\.(Postgres|MyXQL|SQLite3|Tds)\b/m.exec(file.text)
    if (match === null || !/use Ecto\.Repo|\bRepo\b/.test(file.text)) return []
    const word = ECTO_ADAPTERS[match[1] as string] as string
    return wordSignal(facts, file, lineAt(file.text, match.index), word, 'the Ecto repo uses it')
  })
  if (adapters.length > 0) return adapters
  // `config :shop, Shop.Repo, hostname: …` with one driver among the dependencies says as much.
  const configured = own.find(
    file => /(^|\/)config\/(config|dev|runtime)\.exs$/.test(file.path) && ECTO_REPO.test(file.text),
  )
  const drivers = ECTO_DRIVERS.filter(([pattern]) =>
    own.some(file => file.path.endsWith('mix.exs') && pattern.test(file.text)),
  )
  if (configured === undefined || drivers.length !== 1) return []
  const line = lineAt(configured.text, configured.text.search(ECTO_REPO))
  return wordSignal(facts, configured, line, drivers[0]?.[1] as string, 'the Ecto repo is configured')
}

const ECTO_REPO = /^config\s+:\w+,\s*[\w.]*Repo\b/m

const SPRING: readonly (readonly [readonly string[], string])[] = [
  [['spring', 'data', 'mongodb'], 'mongodb'],
  [['spring', 'mongodb'], 'mongodb'],
  [['spring', 'data', 'redis'], 'redis'],
  [['spring', 'redis'], 'redis'],
  [['spring', 'rabbitmq'], 'rabbitmq'],
  [['spring', 'kafka', 'bootstrap-servers'], 'kafka'],
  [['spring', 'cloud', 'stream', 'kafka'], 'kafka'],
  [['spring', 'elasticsearch', 'uris'], 'elasticsearch'],
  [['spring', 'data', 'elasticsearch'], 'elasticsearch'],
  [['spring', 'neo4j'], 'neo4j'],
]

/** Addresses of servers in the profiles of a default run; JDBC URLs are found with all other URLs. */
function spring(facts: RepoFacts): Signal[] {
  const signals: Signal[] = []
  for (const file of filesMatching(
    facts,
    /(^|\/)(application|bootstrap)(-(dev|local|development|default))?\.(ya?ml|properties)$/,
  )) {
    if (!isOwnFile(file.path)) continue
    for (const [keys, word] of SPRING) {
      const flat = new RegExp(`^\\s*${keys.join('\\.').replace(/-/g, '[-.]?')}[.=:]`, 'm').exec(file.text)
      const inYaml = (facts.yaml.get(file.path) ?? []).find(document => {
        const value = valueAt(document.value, ...keys)
        return (
          typeof value === 'string' ||
          (asRecord(value) !== undefined &&
            /uri|host|database|url|address|nodes|servers|brokers/.test(
              Object.keys(value as object).join(' '),
            ))
        )
      })
      const line =
        flat === null ? inYaml?.lines.get(keys.join('/')) : lineAt(file.text, flat.index + flat[0].length - 1)
      if (flat === null && inYaml === undefined) continue
      signals.push(...wordSignal(facts, file, line ?? 1, word, `${keys.join('.')} is set`))
    }
  }
  return signals
}
