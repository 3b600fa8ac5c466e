// Composes servers.sh: where the shared servers are and with which account, in the variables that the adapters read.
// The caller's environment goes first, then what the compose file or the env example says. No value is ever guessed.

import type { EnvKey } from '../stack/env-keys.ts'
import type { ServiceKind } from '../stack/images.ts'
import { ACCOUNT_RULES, type AccountRule } from './account-rules.ts'
import type { ComposeServer, InitSources, Setting } from './init-sources.ts'

export interface ServerLines {
  /** Assignments, each a line of shell. */
  readonly lines: readonly string[]
  readonly variables: readonly string[]
  readonly questions: readonly string[]
}

/** What an env example says of a server: `postgres://app:***@localhost:5433/app`. */
interface Address {
  readonly user: string | undefined
  readonly hasPassword: boolean
  readonly host: string | undefined
  readonly port: number | undefined
}

export function serverLines(
  kind: ServiceKind,
  server: ComposeServer | undefined,
  keys: readonly EnvKey[],
  sources: InitSources,
): ServerLines {
  const rule = ACCOUNT_RULES[kind]
  if (rule === undefined) return { lines: [], variables: [], questions: [] }
  const known: Known = {
    kind,
    rule,
    server,
    address: server === undefined ? addressOf(kind, keys, sources) : undefined,
    user: settingFor(server, rule.user?.[2]),
    password: settingFor(server, rule.password?.[2]) ?? requirePass(kind, server),
  }
  const pairs = [...placeOf(known), ...accountOf(known)]
  const { address, password } = known
  const isUnknown = address?.hasPassword === true && password === undefined && rule.password !== undefined
  return {
    lines: pairs.map(([variable, value]) => `${variable}=\${${variable}:-${value}}`),
    variables: pairs.map(([variable]) => variable),
    questions: isUnknown
      ? [
          `which password does ${address.user ?? 'the account'} have on the shared ${kind} server, for ${rule.password?.[0] || 'its URL'}`,
        ]
      : [],
  }
}

interface Known {
  readonly kind: ServiceKind
  readonly rule: AccountRule
  readonly server: ComposeServer | undefined
  readonly address: Address | undefined
  readonly user: Setting | undefined
  readonly password: Setting | undefined
}

type Pair = readonly [variable: string, value: string]

function placeOf({ kind, rule, server, address, user, password }: Known): Pair[] {
  const inside = server?.product === 'localstack' ? 4566 : rule.port
  const port = (server === undefined ? address?.port : hostPort(server, inside)) ?? rule.port
  if (rule.url !== undefined) {
    const [variable, scheme] = rule.url
    const hasLogin = kind === 'mongodb' && user !== undefined
    const login = hasLogin ? `${inUrl(user)}:${inUrl(password)}@` : ''
    const isPlainPlace = port === rule.port && !hasLogin && kind !== 's3'
    return isPlainPlace
      ? []
      : [
          [
            variable,
            `${scheme === '' ? '' : `${scheme}://`}${login}localhost:${port}${hasLogin ? '/?authSource=admin' : ''}`,
          ],
        ]
  }
  const pairs: Pair[] = []
  const local = kind === 'mysql' ? '127.0.0.1' : 'localhost'
  if (rule.host !== undefined) pairs.push([rule.host, address?.host ?? local])
  if (rule.portVariable !== undefined) pairs.push([rule.portVariable, String(port)])
  if (rule.fixed !== undefined) pairs.push(rule.fixed)
  const management = kind === 'rabbitmq' && server !== undefined ? hostPort(server, 15672) : undefined
  if (management !== undefined && management !== 15672)
    pairs.push(['RABBITMQ_MANAGEMENT_URL', `http://localhost:${management}`])
  return pairs
}

function accountOf({ kind, rule, server, address, user, password }: Known): Pair[] {
  // What an image does without a setting; LocalStack takes any name.
  const usual = (fallback: string | undefined) =>
    server === undefined ? undefined : server.product === 'localstack' ? 'test' : fallback
  const pairs: Pair[] = []
  if (rule.user !== undefined && rule.user[0] !== '') {
    const [variable, fallback] = rule.user
    const system = kind === 'postgres' ? '$(id -un)' : undefined
    const value =
      user === undefined ? (address?.user ?? usual(fallback) ?? system) : shellValue(user, fallback)
    if (value !== undefined) pairs.push([variable, value])
  }
  if (rule.password !== undefined && rule.password[0] !== '') {
    const [variable, fallback] = rule.password
    const value = password === undefined ? usual(fallback) : shellValue(password, usual(fallback))
    if (value !== undefined) pairs.push([variable, value])
  }
  return pairs
}

/** Whether the lines say anything that the adapter would not do by itself. */
export function isPlain(kind: ServiceKind, { lines }: ServerLines): boolean {
  const plain: Partial<Record<ServiceKind, RegExp>> = {
    redis: /^REDIS_(HOST|PORT)=\$\{\w+:-(localhost|6379)\}$/,
    rabbitmq: /^RABBITMQ_(HOST|PORT)=\$\{\w+:-(localhost|5672)\}$/,
  }
  return lines.every(line => plain[kind]?.test(line) === true)
}

function settingFor(
  server: ComposeServer | undefined,
  names: readonly string[] | undefined,
): Setting | undefined {
  return (names ?? []).map(name => server?.settings.get(name)).find(one => one !== undefined)
}

/** `redis-server --requirepass secret` and `--requirepass ${REDIS_PASSWORD}`. */
function requirePass(kind: ServiceKind, server: ComposeServer | undefined): Setting | undefined {
  if (kind !== 'redis') return undefined
  const word = /--requirepass\s+["']?([^\s"']+)/.exec(server?.command ?? '')?.[1]
  return word === undefined || word.startsWith('$') ? undefined : { variable: undefined, value: word }
}

function shellValue(setting: Setting | undefined, fallback: string | undefined): string {
  if (setting === undefined) return fallback ?? ''
  if (setting.variable === undefined) return quoteDefault(setting.value)
  const given = setting.value ?? fallback
  return `$(of_main ${setting.variable}${given === undefined ? '' : ` ${quoteWord(given)}`})`
}

function inUrl(setting: Setting | undefined): string {
  const isLiteral = setting !== undefined && setting.variable === undefined
  return isLiteral ? encodeURIComponent(setting.value) : shellValue(setting, undefined)
}

/** The port of the host behind which a container's port lies. */
export function hostPort(server: ComposeServer, container: number): number | undefined {
  // A broker often publishes only the listener that it keeps for the host.
  const one = server.ports.filter(port => typeof port.host === 'number')
  const port =
    server.ports.find(port => port.container === container) ??
    (one.length === 1 && server.kind === 'kafka' ? one[0] : undefined)
  return typeof port?.host === 'number' ? port.host : undefined
}

function addressOf(kind: ServiceKind, keys: readonly EnvKey[], sources: InitSources): Address | undefined {
  const own = keys.filter(key => key.service === kind && key.isActive)
  const url = own.find(key => key.part === 'url' && /:\/\//.test(key.example ?? ''))?.example
  const match =
    url === undefined
      ? null
      : /^[a-z][\w+.:-]*:\/\/(?:([^:@/]*)(:[^@/]*)?@)?(\[[^\]]*\]|[^:/?#]*)(?::(\d+))?/i.exec(url)
  const exampleOf = (part: EnvKey['part']) => {
    const key = own.find(one => one.part === part)?.key
    return sources.examples.find(one => one.key === key)?.value || undefined
  }
  const plain = (text: string | undefined) =>
    text !== undefined && /^[\w.-]+$/.test(text) ? text : undefined
  const port = match?.[4] ?? exampleOf('port')
  return {
    user: plain(match?.[1] || undefined) ?? plain(exampleOf('user')),
    hasPassword: match?.[2] !== undefined && match[2] !== ':',
    host: plain(match?.[3] || undefined) ?? plain(exampleOf('host')),
    port: port === undefined || !/^\d+$/.test(port) ? undefined : Number(port),
  }
}

/** A literal inside `${X:-…}`. */
function quoteDefault(text: string): string {
  return /^[\w.@%+,:/-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

function quoteWord(text: string): string {
  return text === '' ? "''" : quoteDefault(text)
}
