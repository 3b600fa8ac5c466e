// Keys that say where a program listens with host and port in one value, as Go programs and many servers have it:
// `LISTEN_ADDR=:8080`, `HTTP_ADDR=127.0.0.1:9000`.
import { keyWords } from './store-names.ts'

export interface ListenAddress {
  /** What stands before the number: `:`, `127.0.0.1:`. */
  readonly before: string
  readonly port: number
}

const VERBS = new Set(['listen', 'listener', 'bind'])
const PLACES = new Set(['addr', 'address', 'hostport'])
/** The program itself: `USERS_ADDR` is where another one is reached. */
const SELF = new Set('app http https server web api grpc admin metrics public internal rest'.split(' '))

export function isListenAddressKey(key: string): boolean {
  const words = keyWords(key)
  const isVerb = words.some(word => VERBS.has(word))
  return (
    (isVerb || words.some(word => PLACES.has(word))) &&
    words.every((word, at) => VERBS.has(word) || PLACES.has(word) || SELF.has(word) || (isVerb && at === 0))
  )
}

const ADDRESS = String.raw`((?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])?:)(\d{2,5})`
const WHOLE = new RegExp(`^${ADDRESS}$`)
const QUOTED = new RegExp(`["'\`]${ADDRESS}["'\`]`)

/** The address that a value is; another machine's is none that a program can listen on. */
export function readListenAddress(value: string): ListenAddress | undefined {
  return addressOf(WHOLE.exec(value.trim()))
}

/** The first address between quotes: the default that stands behind a read. */
export function findListenAddress(text: string): ListenAddress | undefined {
  return addressOf(QUOTED.exec(text))
}

function addressOf(match: RegExpExecArray | null): ListenAddress | undefined {
  return match === null ? undefined : { before: match[1] as string, port: Number(match[2]) }
}
