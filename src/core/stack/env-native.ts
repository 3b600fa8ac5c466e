// Env keys that a framework reads by itself, whatever the repository's files say: they replace an address that is
// written in its configuration. Only where that configuration is there, and names the address itself.

import type { EnvPart } from './env-names.ts'
import { type Evidence, evidenceAt, type FactFile, lineAt, type RepoFacts } from './facts.ts'
import type { ServiceKind } from './images.ts'
import { scopeOf } from './scope.ts'
import type { Service } from './services.ts'
import { findStoreUrls } from './store-names.ts'

export interface NativeKey {
  readonly key: string
  readonly service: ServiceKind
  readonly part: EnvPart
  readonly group: string
  readonly example: string | undefined
  readonly evidence: Evidence
}

export function findNativeKeys(facts: RepoFacts, services: readonly Service[]): NativeKey[] {
  const found: NativeKey[] = []
  for (const file of facts.files.values()) {
    const scope = scopeOf(file.path)
    if (scope === 'aside' || scope === 'test' || scope === 'production') continue
    if (/(^|\/)application(-(dev|development|local|default))?\.(properties|ya?ml)$/.test(file.path))
      found.push(...springKeys(facts, file))
    if (/(^|\/)config\/database\.ya?ml$/.test(file.path)) found.push(...railsKeys(facts, file))
    if (/(^|\/)appsettings(\.Development|\.Local)?\.json$/i.test(file.path))
      found.push(...connectionKeys(facts, file, services))
  }
  return found.filter((one, index) => found.findIndex(other => other.key === one.key) === index)
}

/** Relaxed binding: every property can be given as an upper-case variable. */
const SPRING: readonly (readonly [property: string, service: ServiceKind | undefined, part: EnvPart])[] = [
  ['spring.datasource.url', undefined, 'url'],
  ['spring.datasource.username', undefined, 'user'],
  ['spring.datasource.password', undefined, 'password'],
  ['spring.r2dbc.url', undefined, 'url'],
  ['spring.flyway.url', undefined, 'url'],
  ['spring.data.mongodb.uri', 'mongodb', 'url'],
  ['spring.data.mongodb.database', 'mongodb', 'database'],
  ['spring.data.redis.database', 'redis', 'index'],
  ['spring.data.redis.url', 'redis', 'url'],
  ['spring.data.redis.host', 'redis', 'host'],
  ['spring.rabbitmq.host', 'rabbitmq', 'host'],
  ['spring.rabbitmq.virtual-host', 'rabbitmq', 'vhost'],
  ['quarkus.datasource.jdbc.url', undefined, 'url'],
]

function springKeys(facts: RepoFacts, file: FactFile): NativeKey[] {
  const properties = propertiesOf(file)
  const url = [...properties].find(
    ([name, { value }]) => /(datasource|r2dbc).*\burl$/.test(name) && findStoreUrls(value).length > 0,
  )
  const kind = url === undefined ? undefined : findStoreUrls(url[1].value)[0]?.kind
  return SPRING.flatMap(([property, service, part]) => {
    const written = properties.get(property)
    const owner = service ?? kind
    // A value that is read from a variable is that variable's, which is found where it is read.
    if (written === undefined || owner === undefined || owner === 'unknown' || /\$\{/.test(written.value))
      return []
    return [
      {
        key: property.toUpperCase().replace(/\./g, '_').replace(/-/g, ''),
        service: owner,
        part,
        group: property.split('.').slice(0, -1).join('_'),
        example: part === 'password' ? undefined : written.value,
        evidence: evidenceAt(facts, file.path, written.line),
      },
    ]
  })
}

/** `a.b.c=value` and nested YAML alike, by dotted name. */
function propertiesOf(file: FactFile): Map<string, { value: string; line: number }> {
  const found = new Map<string, { value: string; line: number }>()
  const isYaml = /\.ya?ml$/.test(file.path)
  const open: { indent: number; name: string }[] = []
  for (const [index, text] of file.text.split('\n').entries()) {
    const match = (isYaml ? /^(\s*)([\w.-]+):\s*(.*)$/ : /^(\s*)([\w.-]+)\s*[=:]\s*(.*)$/).exec(text)
    if (match === null || /^\s*[#!]/.test(text)) continue
    const [, space, name, raw] = match as unknown as [string, string, string, string]
    while (open.length > 0 && (open.at(-1)?.indent ?? 0) >= space.length) open.pop()
    const full = [...(isYaml ? open.map(one => one.name) : []), name].join('.')
    const value = raw
      .replace(/\s+#.*$/, '')
      .replace(/^["']|["']$/g, '')
      .trim()
    if (value === '' && isYaml) open.push({ indent: space.length, name })
    else found.set(full, { value, line: index + 1 })
  }
  return found
}

/** Rails takes DATABASE_URL over what database.yml says, for whatever environment it runs in. */
function railsKeys(facts: RepoFacts, file: FactFile): NativeKey[] {
  const adapter = /adapter:\s*["']?(\w+)/.exec(file.text)?.[1] ?? ''
  const service: ServiceKind | undefined = /postgres|postgis/.test(adapter)
    ? 'postgres'
    : /mysql|trilogy/.test(adapter)
      ? 'mysql'
      : undefined
  const readsName = /database:.*ENV/.test(file.text) || /url:.*ENV/.test(file.text)
  if (service === undefined || readsName) return []
  return [
    {
      key: 'DATABASE_URL',
      service,
      part: 'url',
      group: 'database',
      example: undefined,
      evidence: evidenceAt(facts, file.path, lineAt(file.text, Math.max(0, file.text.search(/adapter:/)))),
    },
  ]
}

/** `ConnectionStrings:Default` can be given as `ConnectionStrings__Default`. */
function connectionKeys(facts: RepoFacts, file: FactFile, services: readonly Service[]): NativeKey[] {
  return services.flatMap(service =>
    service.envKeys
      .filter(key => key.startsWith('ConnectionStrings__'))
      .flatMap(key => {
        const at = file.text.indexOf(`"${key.slice('ConnectionStrings__'.length)}"`)
        if (at < 0) return []
        const value = /"\s*:\s*"([^"]*)"/.exec(file.text.slice(at))?.[1]
        return [
          {
            key,
            service: service.kind,
            part: 'connection' as const,
            group: key.toLowerCase(),
            example: value?.replace(/((?:password|pwd)\s*=)[^;]*/gi, '$1***'),
            evidence: evidenceAt(facts, file.path, lineAt(file.text, at)),
          },
        ]
      }),
  )
}
