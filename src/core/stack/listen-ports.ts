// Finds the places where a program says which port it listens on: in its source, in framework configuration, in env
// files and Dockerfiles. Each with the variable that decides it, or as hard-coded, with file and line.

import { findEnvReads } from './env-reads.ts'
import { type Evidence, evidenceAt, type FactFile, folderOf, lineAt, type RepoFacts } from './facts.ts'
import { findListenAddress, isListenAddressKey, readListenAddress } from './listen-addresses.ts'
import { scopeOf } from './scope.ts'
import { keyWords, storeByKey } from './store-names.ts'

export interface ListenPort {
  /** The number that is written or the default; undefined where only the variable is. */
  readonly port: number | undefined
  /** Environment variable that decides it; undefined where it is hard-coded. */
  readonly variable: string | undefined
  /** What the variable's value has before the number, where it is an address: `:`. */
  readonly before?: string
  readonly source: 'code' | 'config' | 'env' | 'command' | 'tool' | 'dockerfile'
  readonly evidence: Evidence
}

/** Words of keys that end in PORT and name a server the program connects to, not one that it opens. */
const REMOTE =
  /^(db|database|sql|smtp|mail|mailer|email|imap|pop3|pop|ldap|sftp|ftp|ssh|remote|target|upstream|mq|broker|es|search|cache|session|queue|influx|influxdb|graphite|statsd|syslog|jaeger|zipkin|otel|otlp|agent|proxy|debug|inspector|debugger|hmr|livereload|datasource|bolt|neo4j|meili|vault|consul|etcd|minio|s3|selenium|chromedriver|prometheus|grafana|mailhog|mailpit|supabase|studio|kong|support|export|import|air|forward)$/

/** Whether a variable names a port that a program opens: PORT, VITE_PORT, SERVER_PORT, and not DB_PORT. */
export function isListenKey(key: string): boolean {
  const words = keyWords(key)
  if (words.at(-1) !== 'port' && words[0] !== 'port') return false
  return storeByKey(key) === undefined && !words.some(word => REMOTE.test(word))
}

/** In configuration: `${PORT:8080}`, and what the language of the file reads by. */
const CONFIG_READS: readonly RegExp[] = [
  /\$\{([A-Za-z]\w*)(?::[^}]*)?\}/g,
  /\b(?:env|ENV)(?:\.fetch|\.get|\.)?[([]?\s*["'`]?([A-Za-z]\w*)/g,
  /\bget_?env\(\s*["']([A-Za-z]\w*)["']/gi,
]
const DEFAULT_AFTER = /(?:\|\||\?\?|,|:|envDefault:"|default:"|or|\()\s*["']?:?(\d{2,5})\b/

const LITERALS: readonly (readonly [file: RegExp, pattern: RegExp])[] = [
  [/\.[cm]?[jt]sx?$/, /\.listen\(\s*(?:\{[^}]*?\bport:\s*)?["']?(\d{2,5})\b/g],
  [
    /\.[cm]?[jt]sx?$/,
    /^\s*(?:export\s+)?(?:const|let|var)\s+port\s*(?::\s*number)?\s*=\s*["']?(\d{2,5})\b/gim,
  ],
  [/\.[cm]?[jt]sx?$/, /\bserve\(\s*\{[^}]*?\bport:\s*(\d{2,5})\b/g],
  [
    /\.py$/,
    /\b(?:uvicorn\.run|run_app|\.run|\.launch|HTTPServer|serve)\([^)]*?\b(?:port\s*=\s*|server_port\s*=\s*|["'][\w.]*["'],\s*)(\d{2,5})\b/g,
  ],
  [
    /\.go$/,
    /\b(?:ListenAndServe(?:TLS)?|Listen|Run|Start|StartServer)\(\s*(?:"tcp"\s*,\s*)?"[\w.]*:(\d{2,5})"/g,
  ],
  [/\.go$/, /\bAddr:\s*"[\w.]*:(\d{2,5})"/g],
  [/\.rs$/, /\bbind\(\s*(?:&?"[\d.\w[\]:]*:(\d{2,5})"|\(\s*(?:"[^"]*"|\[[^\]]*\]),\s*(\d{2,5})\s*\))/g],
  [/\.rs$/, /SocketAddr::from\(\(\[[^\]]*\],\s*(\d{2,5})\)\)/g],
  [/\.cs$/, /\b(?:UseUrls|Run|Urls\.Add)\(\s*"https?:\/\/[\w.*+[\]:]*?:(\d{2,5})"/g],
  [
    /\.(java|kt)$/,
    /\b(?:new ServerSocket|\.port|setPort|embeddedServer\([^)]*?port\s*=)\s*\(?\s*(\d{2,5})\b/g,
  ],
  [/\.rb$/, /^\s*(?:port\s+|set\s+:port,\s*)(\d{2,5})\b/gm],
  [/\.php$/, /\b(?:new\s+(?:\\?Swoole\\)?(?:Http\\)?Server)\([^)]*?,\s*(\d{2,5})\b/g],
]
const CONFIGS: readonly (readonly [file: RegExp, pattern: RegExp])[] = [
  [
    /(^|\/)(vite|astro|rsbuild|svelte|vitest)\.config\.[cm]?[jt]s$/,
    /\bserver\s*:\s*\{[^}]*?\bport\s*:\s*(?<value>[^,\n}]+)/g,
  ],
  [
    /(^|\/)(webpack[\w.-]*|vue\.config|quasar\.config|rspack\.config)\.[cm]?[jt]s$/,
    /\bdevServer\s*:\s*\{[^}]*?\bport\s*:\s*(?<value>[^,\n}]+)/g,
  ],
  [
    /(^|\/)nuxt\.config\.[cm]?[jt]s$/,
    /\b(?:devServer|server)\s*:\s*\{[^}]*?\bport\s*:\s*(?<value>[^,\n}]+)/g,
  ],
  [/(^|\/)angular\.json$/, /"port"\s*:\s*(?<value>\d+)/g],
  [
    /(^|\/)application[\w-]*\.properties$/,
    /^\s*(?:quarkus\.http|server|micronaut\.server)\.port\s*=\s*(?<value>\S+)/gm,
  ],
  [
    /(^|\/)application[\w-]*\.ya?ml$/,
    /^server:\s*(?:\n[ \t]+(?!port:)[^\n]*)*\n[ \t]+port:\s*(?<value>\S+)/gm,
  ],
  [/(^|\/)launchSettings\.json$/, /"applicationUrl"\s*:\s*"[^"]*?http:\/\/[^:"]+:(?<value>\d+)/g],
  [/(^|\/)Rocket\.toml$/, /^\s*port\s*=\s*(?<value>\d+)/gm],
  [
    /(^|\/)config\/(dev|config)\.exs$/,
    /\bhttp:\s*\[[^\]]*?\bport:\s*(?<value>[^,\]\n]+(?:\([^)]*\)[^,\]\n]*)?)/g,
  ],
  [/(^|\/)puma\.rb$/, /^\s*port\s+(?<value>[^\n]+)/gm],
  [/(^|\/)(gunicorn\.conf|gunicorn_config)\.py$/, /^\s*bind\s*=\s*(?<value>[^\n]+)/gm],
  [/(^|\/)\.?flaskenv$/, /^FLASK_RUN_PORT=(?<value>\d+)/gm],
]

/** All places, in the order of the files; tests, examples and production's settings are left out. */
export function findListenPorts(facts: RepoFacts): ListenPort[] {
  const found: ListenPort[] = []
  for (const file of facts.files.values()) {
    const scope = scopeOf(file.path)
    if (scope === 'aside' || scope === 'test' || scope === 'production') continue
    found.push(...configPorts(facts, file), ...codePorts(facts, file), ...exposedPorts(facts, file))
  }
  for (const env of facts.envFiles.values()) {
    if (/(^|[.\-_])(prod|production|test|testing|ci|staging)([.\-_]|$)/i.test(env.path)) continue
    for (const entry of env.entries) {
      if (entry.commented) continue
      const evidence = evidenceAt(facts, env.path, entry.line)
      const address = isListenAddressKey(entry.key) ? readListenAddress(entry.value ?? '') : undefined
      if (address !== undefined) found.push({ ...address, variable: entry.key, source: 'env', evidence })
      if (!isListenKey(entry.key)) continue
      const port = /^\d{2,5}$/.test(entry.value ?? '') ? Number(entry.value) : undefined
      found.push({ port, variable: entry.key, source: 'env', evidence })
    }
  }
  return found
}

function configPorts(facts: RepoFacts, file: FactFile): ListenPort[] {
  return CONFIGS.filter(([path]) => path.test(file.path)).flatMap(([, pattern]) =>
    [...file.text.matchAll(pattern)].map(match => {
      const value = match.groups?.value ?? ''
      const at = (match.index ?? 0) + match[0].lastIndexOf(value)
      return {
        ...readValue(value),
        source: 'config' as const,
        evidence: evidenceAt(facts, file.path, lineAt(file.text, at)),
      }
    }),
  )
}

/** `env.PORT || 3000`, `${PORT:8080}`, `3000`: who decides, and the default. */
function readValue(value: string): { port: number | undefined; variable: string | undefined } {
  const variable = CONFIG_READS.flatMap(pattern =>
    [...value.matchAll(pattern)].map(match => match[1] as string),
  ).find(isListenKey)
  const number = /(?<![\w.])(\d{2,5})\b/.exec(value.replace(/127\.0\.0\.1|0\.0\.0\.0/g, ''))?.[1]
  return { port: number === undefined ? undefined : Number(number), variable }
}

function codePorts(facts: RepoFacts, file: FactFile): ListenPort[] {
  if (
    !/\.(?:[cm]?[jt]sx?|py|go|rs|rb|cs|java|kt|php|exs?)$/.test(file.path) ||
    /(^|\/)[\w.-]+\.config\.[cm]?[jt]s$/.test(file.path)
  )
    return []
  if (!/(?:\b|_)port(?:\b|_)|Port\b|PORT|\blisten|\bbind\b|:\d{4}\b/.test(file.text)) return []
  const found: ListenPort[] = []
  const lines = new Set<number>()
  for (const { key, offset, end } of findEnvReads(file)) {
    const isAddress = isListenAddressKey(key)
    if (!isAddress && !isListenKey(key)) continue
    const line = lineAt(file.text, offset)
    if (lines.has(line)) continue
    lines.add(line)
    const stop = file.text.indexOf('\n', end)
    const rest = file.text.slice(end, stop < 0 ? undefined : stop)
    const evidence = evidenceAt(facts, file.path, line)
    if (isAddress) {
      const address = findListenAddress(rest) ?? { before: ':', port: undefined }
      found.push({ ...address, variable: key, source: 'code', evidence })
      continue
    }
    const port = DEFAULT_AFTER.exec(rest)?.[1]
    found.push({
      port: port === undefined ? undefined : Number(port),
      variable: key,
      source: 'code',
      evidence,
    })
  }
  for (const [path, pattern] of LITERALS) {
    if (!path.test(file.path)) continue
    for (const match of file.text.matchAll(pattern)) {
      const number = match[1] ?? match[2]
      const line = lineAt(file.text, match.index + match[0].lastIndexOf(number as string))
      // A literal on the line of a variable is that variable's default.
      if (lines.has(line)) continue
      lines.add(line)
      found.push({
        port: Number(number),
        variable: undefined,
        source: 'code',
        evidence: evidenceAt(facts, file.path, line),
      })
    }
  }
  return found
}

function exposedPorts(facts: RepoFacts, file: FactFile): ListenPort[] {
  if (!/(^|\/)(dockerfile|containerfile)([.\-_][\w.-]+)?$/i.test(file.path)) return []
  return [...file.text.matchAll(/^EXPOSE\s+(\d{2,5})\b/gim)].map(match => ({
    port: Number(match[1]),
    variable: undefined,
    source: 'dockerfile',
    evidence: evidenceAt(facts, file.path, lineAt(file.text, match.index)),
  }))
}

/** The ports of each folder: a place belongs to the deepest of them that it lies in. */
export function portsByFolder(
  ports: readonly ListenPort[],
  folders: readonly string[],
): ReadonlyMap<string, readonly ListenPort[]> {
  const known = new Set(folders)
  const found = new Map<string, ListenPort[]>()
  for (const port of ports) {
    let folder = folderOf(port.evidence.file)
    while (folder !== '' && !known.has(folder)) folder = folderOf(folder)
    const own = found.get(folder)
    if (own === undefined) found.set(folder, [port])
    else own.push(port)
  }
  return found
}
