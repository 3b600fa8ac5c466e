// Which keys of the main checkout's env files say where a shared server is and with which account, and what the
// examples say of it for a checkout that has no such files yet.
import type { EnvKey } from '../stack/env-keys.ts'
import type { ServiceKind } from '../stack/images.ts'
import type { InitSources } from './init-sources.ts'

/** What an env example or a framework's own configuration says of a server: `postgres://app:***@localhost:5433/app`. */
export interface Address {
  readonly user: string | undefined
  readonly hasPassword: boolean
  readonly host: string | undefined
  readonly port: number | undefined
}

export interface MainKeys {
  /** The key of a URL or of a list of hosts. */
  readonly url: string | undefined
  readonly host: string | undefined
  readonly port: string | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  /** An example says it, which the script reads by itself where the main checkout has no such file yet. */
  readonly isInExample: boolean
}

/** Undefined where no key is known, or only ones whose server has another name in a container's eyes. */
export function findMainKeys(
  kind: ServiceKind,
  keys: readonly EnvKey[],
  sources: InitSources,
): MainKeys | undefined {
  const own = keys.filter(key => key.service === kind && key.isActive && key.purpose === 'app')
  const names = new Set(sources.compose?.servers.map(server => server.name) ?? [])
  const isInside = (key: EnvKey) => names.has(placeOf(key.example)?.host ?? '')
  const urls = own.filter(key => (key.part === 'url' || key.part === 'hosts') && !isInside(key))
  const url = (urls.find(key => placeOf(key.example) !== undefined) ?? urls[0])?.key
  const first = own.find(key => key.part === 'host') ?? own.find(key => key.part === 'port')
  const part = (name: EnvKey['part']) =>
    own.find(key => key.part === name && key.group === first?.group)?.key ??
    own.find(key => key.part === name)?.key
  const parts = { host: part('host'), port: part('port'), user: part('user'), password: part('password') }
  const known = url ?? parts.host ?? parts.port ?? parts.user ?? parts.password
  if (known === undefined) return undefined
  return { url, ...parts, isInExample: sources.examples.some(one => one.key === known) }
}

export function addressOf(kind: ServiceKind, keys: readonly EnvKey[], sources: InitSources): Address {
  const own = keys.filter(key => key.service === kind && key.isActive)
  const url = own.find(key => key.part === 'url' && placeOf(key.example) !== undefined)?.example
  const place = placeOf(url)
  const exampleOf = (part: EnvKey['part']) => {
    const key = own.find(one => one.part === part)?.key
    return sources.examples.find(one => one.key === key)?.value || undefined
  }
  const plain = (text: string | undefined) =>
    text !== undefined && /^[\w.-]+$/.test(text) ? text : undefined
  const port = place?.port ?? exampleOf('port')
  return {
    user: plain(place?.user) ?? plain(exampleOf('user')),
    hasPassword: place?.password !== undefined && place.password !== ':',
    host: plain(place?.host) ?? plain(exampleOf('host')),
    port: port === undefined || !/^\d+$/.test(port) ? undefined : Number(port),
  }
}

function placeOf(url: string | undefined):
  | {
      user: string | undefined
      password: string | undefined
      host: string | undefined
      port: string | undefined
    }
  | undefined {
  const match =
    /^[a-z][\w+.:-]*:\/\/(?:([^:@/]*)(:[^@/]*)?@)?(\[[^\]]*\]|[^:/?#]*)(?::(\d+))?/i.exec(url ?? '') ??
    undefined
  if (match === undefined) return undefined
  const [, user, password, host, port] = match
  return { user: user || undefined, password, host: host || undefined, port }
}
