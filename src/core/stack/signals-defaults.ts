// Signals of defaults in program text: `os.getenv("REDIS_HOST", "localhost")`, `env.MONGO_URI ?? "…"` and
// constants of settings modules. A default is where a program goes when nobody says otherwise.
import { type FactFile, isSecretKey, lineAt, type RepoFacts } from './facts.ts'
import { type Signal, signalAt } from './signals.ts'
import { isOwnFile } from './signals-frameworks.ts'
import { findStoreUrls, keyWords, serviceKey, storeByKey, storeByWord } from './store-names.ts'
import { findSwitches, isLeftOut } from './switches.ts'

/** Laravel's own settings give an address for each driver that there is. */
const LISTS_DRIVERS =
  /(^|\/)config\/(cache|database|queue|session|broadcasting|filesystems|mail|scout|services)\.php$/
const PROGRAM = /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kts?|cs|php|exs?)$/
const SETTINGS =
  /(^|\/)[\w-]*(settings|config|conf|constants|env)[\w.-]*(\/[\w-]+)*\.(py|rb|[cm]?[jt]s|go|rs)$/
/** A function that is given a key and a default, in whatever language. */
const LOOKUP =
  /(?:getenv|environ\.get|[sS]etDefault|\benv(?:\.\w+)?|ENV\.fetch|get_?env\w*|Get\w*|config|os\.environ\.setdefault|System\.get_env)\(\s*["'`]([A-Za-z][A-Za-z0-9_.]{2,})["'`]\s*,\s*(?:default\s*=\s*)?["'`]([^"'`\n]+)["'`]/gi
const FALLBACK =
  /\b(?:process\.env|import\.meta\.env|Bun\.env|env)\.([A-Za-z][A-Za-z0-9_]{2,})\s*(?:\|\||\?\?)\s*["'`]([^"'`\n]+)["'`]/g
/** `DatabaseType.setDefault("sqlite")`: the key is the object. */
const OWN_DEFAULT = /\b([A-Za-z]\w{2,})\.[sS]etDefault\(\s*["'`]([^"'`\n]+)["'`]\s*\)/g
/** Settings classes: `@Env('DB_TYPE') type: DbType = 'sqlite'` by its variable, `redis_host: str = "localhost"` by its name. */
const DECORATED =
  /@\w+\(\s*["'`]([A-Z][A-Z0-9_]{2,})["'`][^)\n]*\)\s+(?:(?:public|private|readonly)\s+)*\w+\s*:[^=\n;]+=\s*["'`]([^"'`\n]+)["'`]/g
const FIELD =
  /^[ \t]+([a-z][a-z0-9_]{2,})\s*:\s*[\w[\]., |]+=\s*(?:Field\(\s*(?:default\s*=\s*)?)?["']([^"'\n]+)["']/gm
const CONSTANT = /^([A-Z][A-Z0-9_]{3,})\s*(?::[^=\n]+)?=\s*["']([^"'\n]+)["']/gm
/** `var provider = DatabaseProviders.SqlServer;`: the declaration, not what a branch assigns later. */
const ENUM =
  /\b(?:var|val|const|let|static|readonly|[A-Z]\w+)\s+\w+\s*(?::\s*\w+\s*)?=\s*([A-Z]\w*)\.([A-Za-z]\w+)\s*(?:;|$)/gm
/** `database_url: …, format!("{}/db.sqlite3")`: a file where the database is said to be. */
const FILE_PLACE =
  /\b(\w*(?:database|db)_?(?:url|uri|path|file|name)\w*)\b[^\n"'`]{0,80}["'`]([^"'`\n]*\.(?:db|sqlite3?))["'`]/gi
const CHOICE =
  /(^|_)(DB|DATABASE|SQL|DATASOURCE)_?(TYPE|DRIVER|CLIENT|DIALECT|ENGINE|PROVIDER|CONNECTION|KIND|BACKEND|VENDOR|DBMS)S?$/i

export function defaultSignals(facts: RepoFacts): Signal[] {
  return [...facts.files.values()].flatMap(file => {
    if (!PROGRAM.test(file.path) || !isOwnFile(file.path)) return []
    const switches = findSwitches(file.text)
    const patterns = [LOOKUP, FALLBACK, OWN_DEFAULT, DECORATED, ENUM]
    if (SETTINGS.test(file.path)) patterns.push(CONSTANT, FILE_PLACE)
    if (file.path.endsWith('.py') && file.text.includes('BaseSettings')) patterns.push(FIELD)
    return patterns.flatMap(pattern =>
      [...file.text.matchAll(pattern)].flatMap(match =>
        defaultSignal(facts, file, match.index, match[1] as string, match[2] as string).map(signal =>
          LISTS_DRIVERS.test(file.path)
            ? { ...signal, weight: 'optional' as const, why: `${file.path} names all drivers` }
            : isLeftOut(switches, serviceKey(signal), match[1] as string)
              ? { ...signal, weight: 'optional' as const, why: `${file.path} has it switched off` }
              : signal,
        ),
      ),
    )
  })
}

function defaultSignal(
  facts: RepoFacts,
  file: FactFile,
  offset: number,
  key: string,
  value: string,
): Signal[] {
  const start = file.text.lastIndexOf('\n', offset - 1) + 1
  if (isSecretKey(key) || /^\s*(#|\/\/|\*)/.test(file.text.slice(start, offset + 1))) return []
  const at = { file: file.path, line: lineAt(file.text, offset) }
  if (CHOICE.test(keyWords(key).join('_'))) {
    const chosen = storeByWord(value.split('.').at(-1) as string)
    return chosen === undefined
      ? []
      : [
          signalAt(facts, at, {
            ...chosen,
            source: 'selector',
            weight: 'named',
            inEffect: true,
            why: `${key} chooses it by default`,
            envKeys: [key],
          }),
        ]
  }
  if (/\.(db|sqlite3?)$/.test(value) && /database|db/i.test(key))
    return [
      signalAt(facts, at, {
        kind: 'sqlite',
        product: 'sqlite',
        source: 'configuration',
        weight: 'named',
        inEffect: true,
        why: `${key} is a file by default`,
        envKeys: [key],
      }),
    ]
  // A URL is found by itself, with all other URLs.
  const identity = findStoreUrls(value).length > 0 ? undefined : storeByKey(key)
  const isPlace =
    /localhost|127\.0\.0\.1|0\.0\.0\.0|^[\w-]+(\.[\w-]+)*:\d{2,5}$|^(redis|valkey|postgres|mysql|mongo|rabbitmq|kafka|nats|memcached|minio|elasticsearch|clickhouse|qdrant|db)$/.test(
      value,
    )
  return identity === undefined || !isPlace
    ? []
    : [
        signalAt(facts, at, {
          ...identity,
          source: 'configuration',
          weight: 'named',
          inEffect: true,
          why: `${key} points at it by default`,
          envKeys: [key],
        }),
      ]
}
