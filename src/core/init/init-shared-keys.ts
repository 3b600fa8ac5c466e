// Which keys of the main checkout's env files an environment shares on purpose: the place and the account of shared
// servers, mail catchers, and stores that the default run does not use. What it does not name, penv verify reports.
import { readEnvName } from '../stack/env-names.ts'
import { keyWords } from '../stack/store-names.ts'
import type { Stack } from '../stack.ts'
import type { Slice } from './init-slices.ts'
import type { InitSources } from './init-sources.ts'

const PLACE = new Set(['host', 'hosts', 'port', 'user', 'password'])

export function findSharedKeys(
  stack: Stack,
  slices: readonly Slice[],
  sources: InitSources,
  set: ReadonlySet<string>,
): string[] {
  const shared = new Set<string>()
  for (const slice of slices)
    for (const key of slice.keys) {
      const isAddress =
        PLACE.has(key.part) || (key.part === 'url' && /^(s3|kafka|elasticsearch|qdrant)$/.test(slice.kind))
      if (isAddress) shared.add(key.key)
    }
  // What the default run does not use is the same for everybody; nothing is isolated there, and nothing is lost.
  for (const key of stack.envKeys) if (!key.isActive && !set.has(key.key)) shared.add(key.key)
  const hasMail = stack.services.some(service => service.kind === 'mail')
  for (const key of sources.keys) {
    if (set.has(key)) continue
    const words = keyWords(key)
    const isMail =
      words.some(word => /^(smtp|mail|mailer|email|mailhog|mailpit|imap)$/.test(word)) &&
      words.some(word => /^(host|port|server|url|dsn|address)$/.test(word))
    if (isMail && (hasMail || readEnvName(key) === undefined)) shared.add(key)
  }
  return [...shared].sort()
}
