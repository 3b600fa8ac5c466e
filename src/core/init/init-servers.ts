// Composes what servers.sh says of one kind of server: where it is and with which account, in the variables that the
// adapter reads. The caller's environment goes first, then what the main checkout uses, then the compose file or the
// examples. No value is ever guessed.

import type { EnvKey } from '../stack/env-keys.ts'
import type { ServiceKind } from '../stack/images.ts'
import { ACCOUNT_RULES, type AccountRule } from './account-rules.ts'
import { byParts, byUrl, hostPort, localName } from './init-account-lines.ts'
import { addressOf, findMainKeys } from './init-main-keys.ts'
import type { ComposeServer, InitSources, Setting } from './init-sources.ts'

export interface ServerLines {
  /** Lines of shell. */
  readonly lines: readonly string[]
  /** What they set for the adapters. */
  readonly variables: readonly string[]
  readonly questions: readonly string[]
}

/** @param isShared whether the main checkout uses the same server; a compose project of its own is nobody else's. */
export function serverLines(
  kind: ServiceKind,
  server: ComposeServer | undefined,
  keys: readonly EnvKey[],
  sources: InitSources,
  isShared: boolean,
): ServerLines {
  const rule = ACCOUNT_RULES[kind]
  if (rule === undefined) return { lines: [], variables: [], questions: [] }
  const main = isShared ? findMainKeys(kind, keys, sources) : undefined
  const address = addressOf(kind, keys, sources)
  const known =
    server === undefined
      ? // The script reads an example by itself, with the password that is not known here.
        { kind, rule, server, main, ...(main?.isInExample ? NOTHING : literals(address)) }
      : { kind, rule, server, main, ...composed(kind, rule, server) }
  const { before, pairs } = rule.url === undefined ? byParts(known) : byUrl(known, rule.url)
  const isElsewhere =
    server === undefined && main !== undefined && /^[^:]*[a-z-]\.[a-z]/i.test(address.host ?? '')
  const isUnknown =
    server === undefined && address.hasPassword && rule.password !== undefined && main?.isInExample !== true
  return {
    lines: [
      ...(isElsewhere && address.host !== undefined ? [`main_reaches ${address.host}`] : []),
      ...before,
      ...pairs.map(([variable, value]) => `${variable}=\${${variable}:-${value}}`),
    ],
    variables: pairs.map(([variable]) => variable),
    questions: isUnknown
      ? [
          `which password does ${address.user ?? 'the account'} have on the shared ${kind} server, for ${rule.password?.[0] || 'its URL'}`,
        ]
      : [],
  }
}

const NOTHING = { host: undefined, port: undefined, user: undefined, password: undefined }

function literal(value: string | undefined): Setting | undefined {
  return value === undefined ? undefined : { variable: undefined, value }
}

function literals(address: ReturnType<typeof addressOf>) {
  const { host, port, user } = address
  return { host: literal(host), port: literal(port?.toString()), user: literal(user), password: undefined }
}

/** What the compose file gives the server, or what its image does without a setting. LocalStack takes any name. */
function composed(kind: ServiceKind, rule: AccountRule, server: ComposeServer) {
  const isStack = server.product === 'localstack'
  const given = (part: AccountRule['user']) => {
    const setting = (part?.[2] ?? []).map(name => server.settings.get(name)).find(one => one !== undefined)
    const usual = isStack ? 'test' : part?.[1]
    if (setting === undefined) return literal(usual)
    return setting.variable === undefined ? setting : { ...setting, value: setting.value ?? usual }
  }
  return {
    host: literal(localName(kind)),
    port: hostPort(server, isStack ? 4566 : rule.port) ?? literal(String(rule.port)),
    user: given(rule.user),
    password: requirePass(kind, server) ?? given(rule.password),
  }
}

/** Whether the lines say anything that the adapter would not do by itself. */
export function isPlain(kind: ServiceKind, { lines }: ServerLines): boolean {
  const plain: Partial<Record<ServiceKind, RegExp>> = {
    redis: /^REDIS_(HOST|PORT)=\$\{\w+:-(localhost|6379)\}$/,
    rabbitmq: /^RABBITMQ_(HOST|PORT)=\$\{\w+:-(localhost|5672)\}$/,
  }
  return lines.every(line => plain[kind]?.test(line) === true)
}

/** `redis-server --requirepass secret` and `--requirepass ${REDIS_PASSWORD}`. */
function requirePass(kind: ServiceKind, server: ComposeServer): Setting | undefined {
  if (kind !== 'redis') return undefined
  const word = /--requirepass\s+["']?([^\s"']+)/.exec(server.command)?.[1]
  return word === undefined || word.startsWith('$') ? undefined : { variable: undefined, value: word }
}
