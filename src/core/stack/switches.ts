// Finds the switches that leave a server out: `REDIS_ENABLED=false`, `USE_ELASTICSEARCH: no`, `disable_kafka = true`.
// An address beside such a switch is there for whoever turns it on.
import { keyWords, serviceKey, storeByName } from './store-names.ts'

export interface Switch {
  /** The server, as it is counted. */
  readonly store: string
  /** What the switch speaks of: `message_bus_redis_enabled` is not about every Redis. */
  readonly words: readonly string[]
}

const ON_WORDS = /^(enabled?|use|using|with|active)$/
const OFF_WORDS = /^(disabled?|skip|without)$/
const FALSE = /^(false|off|no|0|disabled)$/i
const TRUE = /^(true|on|yes|1|enabled)$/i

/** The switch that a key with this value is, where it leaves a server out. */
export function readSwitch(words: readonly string[], value: string): Switch[] {
  const isOff =
    (words.some(word => ON_WORDS.test(word)) && FALSE.test(value)) ||
    (words.some(word => OFF_WORDS.test(word)) && TRUE.test(value))
  const identity = isOff ? storeByName(words) : undefined
  if (identity === undefined) return []
  const rest = words.filter(word => !ON_WORDS.test(word) && !OFF_WORDS.test(word))
  return [{ store: serviceKey(identity), words: rest }]
}

const ASSIGNED =
  /\b([A-Za-z][\w.-]*(?:enable|disable|use|using|skip)\w*|(?:use|using|enable|disable|with)[\w.-]+)["'`]?\s*(?:=>?|:|,|\.[sS]etDefault\()\s*["'`]?(true|false|on|off|yes|no|0|1)\b/gi

/** All switches in a program's text that leave a server out by default. */
export function findSwitches(text: string): Switch[] {
  return [...text.matchAll(ASSIGNED)].flatMap(match =>
    readSwitch(keyWords(match[1] as string), match[2] as string),
  )
}

/** Whether one of the switches is about the server that this key addresses. */
export function isLeftOut(switches: readonly Switch[], store: string, key: string): boolean {
  const words = keyWords(key)
  return switches.some(one => one.store === store && one.words.every(word => words.includes(word)))
}
