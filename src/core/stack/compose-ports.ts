// Reads every form in which Compose publishes a port. What cannot be read is reported as such, never thrown.
import { asRecord } from './facts.ts'
import { interpolate, splitOutside, type Variables } from './interpolate.ts'

export interface PortRange {
  readonly from: number
  readonly to: number
}

export interface ComposePort {
  /** As it is written, for messages. */
  readonly raw: string
  /** The host's port, a range, or auto where Docker chooses. */
  readonly host: number | PortRange | 'auto'
  readonly container: number | PortRange | undefined
  readonly hostIp: string | undefined
  readonly protocol: string
  /** The variable that decides the host port, where there is one. */
  readonly variable: string | undefined
  readonly line: number | undefined
  readonly file?: string
}

/** Undefined where the value is no port at all. */
export function readComposePort(
  value: unknown,
  known: Variables,
  line: number | undefined,
): ComposePort | undefined {
  const long = asRecord(value)
  if (long !== undefined) return readLong(long, known, line)
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const raw = String(value).trim()
  const [address, protocolRaw] = splitOutside(raw, '/') as [string, string?]
  const parts = splitOutside(address, ':')
  const containerRaw = parts.at(-1) as string
  const hostRaw = parts.length > 1 ? (parts.at(-2) as string) : ''
  const host = interpolate(hostRaw, known)
  // "${BIND:-127.0.0.1:}5432:5432" and a variable for the whole mapping only take shape once they are resolved.
  const resolved = interpolate(address, known).text
  if (splitOutside(resolved, ':').length !== parts.length) {
    const again = readComposePort(
      resolved + (protocolRaw === undefined ? '' : `/${protocolRaw}`),
      new Map(),
      line,
    )
    const variable = interpolate(address, known).variables[0]
    return again === undefined ? undefined : { ...again, raw, variable }
  }
  const container = readRange(interpolate(containerRaw, known).text)
  const hostRange = readRange(host.text)
  if (container === undefined && hostRange === undefined && host.variables.length === 0) return undefined
  const ip = interpolate(parts.slice(0, -2).join(':'), known).text.replace(/^\[|\]$/g, '')
  return {
    raw,
    host: hostRange ?? 'auto',
    container,
    hostIp: ip === '' ? undefined : ip,
    protocol: protocolRaw === undefined ? 'tcp' : interpolate(protocolRaw, known).text || 'tcp',
    variable: host.variables[0],
    line,
  }
}

function readLong(
  long: Record<string, unknown>,
  known: Variables,
  line: number | undefined,
): ComposePort | undefined {
  const published = interpolate(textOf(long.published), known)
  const container = readRange(interpolate(textOf(long.target), known).text)
  if (container === undefined && published.text === '') return undefined
  const ip = interpolate(textOf(long.host_ip), known).text
  return {
    raw: `${textOf(long.published)}:${textOf(long.target)}`,
    host: readRange(published.text) ?? 'auto',
    container,
    hostIp: ip === '' ? undefined : ip,
    protocol: textOf(long.protocol) || 'tcp',
    variable: published.variables[0],
    line,
  }
}

function readRange(text: string): number | PortRange | undefined {
  const match = /^\s*(\d{1,5})(?:-(\d{1,5}))?\s*$/.exec(text)
  if (match === null) return undefined
  const from = Number(match[1])
  const to = match[2] === undefined ? from : Number(match[2])
  // Port 0 asks the system for a free one, as an empty host port does.
  if (from === 0 || from > 65_535 || to > 65_535) return undefined
  return from === to ? from : { from, to }
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
