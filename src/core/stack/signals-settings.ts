// Signals of structured settings: sections and keys of TOML, YAML, JSON and INI files that address a server or choose
// one of several, as `[redis] host = …`, `database: {type: postgres}` or `redis_host = …`.
import { isCopied, plainPath } from './copied.ts'
import { type FactFile, findLine, isSecretKey, nameOf, type RepoFacts } from './facts.ts'
import { scopeOf } from './scope.ts'
import { type Signal, type SignalWeight, signalAt } from './signals.ts'
import { isOwnFile } from './signals-frameworks.ts'
import { keyWords, serviceKey, storeByKey, storeByWord } from './store-names.ts'
import { isLeftOut, readSwitch } from './switches.ts'

const SETTINGS =
  /(^|\/)(?:[\w-]*(?:config|conf|settings|defaults?|app|local|dev|development|server)[\w.-]*)\.(?:toml|ya?ml|json5?|ini|conf|cfg|properties)$/i
/** .NET's own: connection strings are read in core/stack/signals-configuration.ts, so only choices are looked for. */
const APP_SETTINGS = /(^|\/)appsettings(\.Development|\.Local)?\.json$/i
/** Files that look like settings and belong to tools, to workflows or to other programs. */
const NOT_SETTINGS =
  /(^|\/)(package|tsconfig|jsconfig|turbo|nx|lerna|biome|vercel|netlify|app|devcontainer|appsettings)[\w.-]*\.jsonc?$|(^|\/)\.(github|circleci|vscode|devcontainer|storybook|gitea|preview)\/|(docker-)?compose|(^|\/)(mkdocs|_config|docusaurus|renovate|dependabot|codecov|prometheus|grafana|nginx|supervisord|supabase|pyproject|cargo)|(^|\/)(helm|charts?|k8s|kubernetes|locales?|i18n|translations|supabase|grafana|nginx)\//i
const CHOOSER = /^(type|driver|dialect|engine|adapter|client|provider|backend|kind|vendor|dbtype|db_type)$/
const DATABASE_SECTION =
  /^(db|database|databases|datasource|sql|storage|store|persistence|default|development)$/

export function settingSignals(facts: RepoFacts): Signal[] {
  return [...facts.files.values()].flatMap(file => {
    const isAppSettings = APP_SETTINGS.test(file.path)
    if (!isAppSettings && (!SETTINGS.test(plainPath(file.path)) || NOT_SETTINGS.test(file.path))) return []
    if (scopeOf(file.path) === 'test') return []
    const isSample = isCopied(nameOf(file.path)) || /(^|[.\-_])defaults?[.\-_]/i.test(nameOf(file.path))
    if (!isOwnFile(file.path.replace(/[.\-_]?(sample|example|template|dist)s?/gi, ''))) return []
    const leaves = leavesOf(facts, file)
    const switches = leaves.flatMap(leaf => readSwitch(leaf.path.slice(-2).flatMap(keyWords), leaf.value))
    const found = leaves.flatMap(leaf =>
      signalOf(facts, file, leaf).map(signal => {
        if (isLeftOut(switches, serviceKey(signal), leaf.path.join('_')))
          return { ...signal, weight: 'optional' as const, why: `${file.path} has it switched off` }
        return isCopied(nameOf(file.path)) ? signal : { ...signal, inEffect: true as const }
      }),
    )
    // A sample of all settings names everything that is possible; only its choices say what is used.
    const kinds = new Set(found.map(signal => signal.kind))
    return isAppSettings || (isSample && kinds.size > 3)
      ? found.filter(signal => signal.source === 'selector')
      : found
  })
}

interface Leaf {
  readonly path: readonly string[]
  readonly value: string
  readonly line: number | undefined
}

function signalOf(facts: RepoFacts, file: FactFile, leaf: Leaf): Signal[] {
  const key = leaf.path.at(-1) as string
  if (isSecretKey(key) || leaf.value === '') return []
  const sections = leaf.path.slice(0, -1).flatMap(keyWords)
  const words = keyWords(key)
  const add = (
    identity: ReturnType<typeof storeByWord>,
    source: Signal['source'],
    weight: SignalWeight,
    why: string,
  ) =>
    identity === undefined
      ? []
      : [signalAt(facts, { file: file.path, line: leaf.line ?? 1 }, { ...identity, source, weight, why })]
  const isDatabase =
    sections.some(word => DATABASE_SECTION.test(word)) || words.some(word => /^(db|database)$/.test(word))
  if (isDatabase && words.some(word => CHOOSER.test(word)) && /^[\w+-]{2,24}$/.test(leaf.value))
    return add(storeByWord(leaf.value), 'selector', 'named', `${leaf.path.join('.')} chooses it`)
  const full = leaf.path.join('_')
  // A section counts by its last name: `redis.host`, not `alerts.redis.message.url`.
  const near = `${leaf.path.at(-2) ?? ''}_${key}`
  if (
    words.some(word =>
      /^(host|hosts|hostname|url|uri|addr|address|addresses|brokers|endpoint|endpoints|servers|dsn|nodes)$/.test(
        word,
      ),
    )
  )
    return add(storeByKey(near) ?? storeByKey(key), 'configuration', 'named', `${full} points at it`)
  return []
}

function leavesOf(facts: RepoFacts, file: FactFile): Leaf[] {
  const leaves: Leaf[] = []
  const visit = (value: unknown, path: string[], lines: ReadonlyMap<string, number> | undefined) => {
    if (path.length > 5 || leaves.length > 2_000) return
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      const key = path.at(-1) ?? ''
      leaves.push({ path, value: String(value), line: lines?.get(path.join('/')) ?? findLine(file, key) })
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value))
      for (const [key, one] of Object.entries(value)) visit(one, [...path, key], lines)
  }
  for (const document of facts.yaml.get(file.path) ?? []) visit(document.value, [], document.lines)
  const parsed = facts.toml.get(file.path) ?? facts.json.get(file.path)
  if (parsed !== undefined) visit(parsed, [], undefined)
  return leaves.length > 0 || !/\.(ini|conf|cfg|properties)$/.test(file.path) ? leaves : iniLeaves(file)
}

function iniLeaves(file: FactFile): Leaf[] {
  let section: string[] = []
  return file.text.split('\n').flatMap((text, index) => {
    const header = /^\s*\[([^\]]+)\]\s*$/.exec(text)?.[1]
    if (header !== undefined) section = [header]
    const match = /^\s*([\w.-]+)\s*[=:]\s*([^\s;#]*)/.exec(text)
    if (header !== undefined || match === null) return []
    return { path: [...section, match[1] as string], value: match[2] as string, line: index + 1 }
  })
}
