// The lines of shell that bring the place and the account of one server into the adapter's variables: asked of the main
// checkout where a key of it is known, else as the compose file or an example says.
import type { ServiceKind } from '../stack/images.ts'
import type { AccountRule } from './account-rules.ts'
import type { MainKeys } from './init-main-keys.ts'
import type { ComposeServer, Setting } from './init-sources.ts'
import { quoteWord } from './init-text.ts'

/** What is known of a server without asking the main checkout. */
export interface KnownServer {
  readonly kind: ServiceKind
  readonly rule: AccountRule
  readonly server: ComposeServer | undefined
  readonly main: MainKeys | undefined
  readonly host: Setting | undefined
  readonly port: Setting | undefined
  readonly user: Setting | undefined
  readonly password: Setting | undefined
}

type Pair = readonly [variable: string, value: string]

export interface AccountLines {
  readonly before: readonly string[]
  readonly pairs: readonly Pair[]
}

export function byParts({ kind, rule, server, main, host, port, user, password }: KnownServer): AccountLines {
  // Of MySQL's accounts only root may make databases, and the main checkout's app need not be root.
  const isRoot = kind === 'mysql' && password !== undefined
  const asksAccount = main !== undefined && !isRoot
  const system = kind === 'postgres' ? '$(id -un)' : rule.user?.[1]
  const pairs: Pair[] = []
  const add = (variable: string | undefined, value: string | undefined) => {
    if (variable !== undefined && variable !== '' && value !== undefined) pairs.push([variable, value])
  }
  const said = (name: string, fallback: string | undefined) =>
    fallback === undefined ? `$main_${name}` : `\${main_${name}:-${fallback}}`
  const written = (setting: Setting | undefined, fallback: string | undefined) =>
    setting === undefined ? fallback : asDefault(setting)
  add(rule.host, main === undefined ? written(host, localName(kind)) : said('host', localName(kind)))
  add(
    rule.portVariable,
    main === undefined ? written(port, String(rule.port)) : said('port', String(rule.port)),
  )
  if (rule.fixed !== undefined) pairs.push(rule.fixed)
  add(
    rule.user?.[0],
    asksAccount ? said('user', system) : written(user, server === undefined ? system : undefined),
  )
  add(rule.password?.[0], asksAccount ? said('password', undefined) : written(password, undefined))
  const management = kind === 'rabbitmq' && server !== undefined ? hostPort(server, 15672) : undefined
  if (management !== undefined && (management.variable ?? management.value) !== '15672')
    add('RABBITMQ_MANAGEMENT_URL', `http://localhost:${asDefault(management)}`)
  if (main === undefined) return { before: [], pairs }
  return { before: [askMain(main, asksAccount ? [host, port, user, password] : [host, port])], pairs }
}

/** Sets main_host and its like, with what else is known for what the main checkout does not say. */
function askMain(main: MainKeys, known: readonly (Setting | undefined)[]): string {
  const parts = [main.host, main.port, main.user, main.password].map(key => key ?? "''")
  const last = known.findLastIndex(one => one !== undefined)
  const given = known.slice(0, last + 1).map(one => (one === undefined ? "''" : asArgument(one)))
  return [
    main.url === undefined ? 'main_server_parts' : 'main_server',
    ...(main.url === undefined ? parts : [main.url]),
    ...given,
  ].join(' ')
}

export function byUrl(
  { kind, rule, server, main, port, host, user, password }: KnownServer,
  [variable, scheme]: readonly [string, string],
): AccountLines {
  const start = scheme === '' ? '' : `${scheme}://`
  const pairs: Pair[] = []
  const before: string[] = []
  const place = `${host === undefined ? 'localhost' : asDefault(host)}:${port === undefined ? rule.port : asDefault(port)}`
  if (kind === 'mongodb' && user !== undefined && server !== undefined) {
    if (main?.url !== undefined) before.push(askMain(main, [host, port]))
    const at = before.length === 0 ? place : `$main_host:\${main_port:-${rule.port}}`
    pairs.push([variable, `${start}${inUrl(user)}:${inUrl(password)}@${at}/?authSource=admin`])
  } else if (main?.url !== undefined)
    pairs.push([
      variable,
      `$(main_address ${main.url}${main.isInExample && server === undefined ? '' : ` "${start}${place}"`})`,
    ])
  else if (place !== `localhost:${rule.port}` || kind === 's3') pairs.push([variable, `${start}${place}`])
  for (const [part, key, setting] of [
    [rule.user, main?.user, user],
    [rule.password, main?.password, password],
  ] as const)
    if (part !== undefined && part[0] !== '') {
      const fallback = setting === undefined ? undefined : asArgument(setting)
      if (key !== undefined)
        pairs.push([part[0], `$(main_value ${key}${fallback === undefined ? '' : ` ${fallback}`})`])
      else if (setting !== undefined) pairs.push([part[0], asDefault(setting)])
    }
  return { before, pairs }
}

/** By name the client of MySQL would take a socket. */
export function localName(kind: ServiceKind): string {
  return kind === 'mysql' ? '127.0.0.1' : 'localhost'
}

/** The port of the host behind which a container's port lies. */
export function hostPort(server: ComposeServer, container: number): Setting | undefined {
  // A broker often publishes only the listener that it keeps for the host.
  const one = server.ports.filter(port => typeof port.host === 'number')
  const port =
    server.ports.find(port => port.container === container) ??
    (one.length === 1 && server.kind === 'kafka' ? one[0] : undefined)
  if (typeof port?.host !== 'number') return undefined
  return { variable: port.variable, value: String(port.host) }
}

/** As the default inside `${X:-…}`. */
function asDefault(setting: Setting): string {
  return setting.variable === undefined
    ? quoteDefault(setting.value)
    : mainValue(setting.variable, setting.value)
}

/** As one argument of a function. */
function asArgument(setting: Setting): string {
  if (setting.variable !== undefined) return `"${mainValue(setting.variable, setting.value)}"`
  return setting.value === '' ? "''" : quoteWord(setting.value)
}

function inUrl(setting: Setting | undefined): string {
  if (setting === undefined) return ''
  return setting.variable === undefined ? encodeURIComponent(setting.value) : asDefault(setting)
}

/** What the main checkout says, which the compose file reads too. */
export function mainValue(variable: string, fallback: string | undefined): string {
  const given = fallback === undefined ? '' : fallback === '' ? " ''" : ` ${quoteWord(fallback)}`
  return `$(main_value ${variable}${given})`
}

/** A literal inside `${X:-…}`. */
function quoteDefault(text: string): string {
  return text === '' ? '' : quoteWord(text)
}
