// Signals of env keys that a program reads: `REDIS_URL` in its text says that it can use a Redis, not that it must.
import { readsInCode } from './env-reads.ts'
import type { RepoFacts } from './facts.ts'
import type { Signal } from './signals.ts'
import { isOwnFile } from './signals-frameworks.ts'
import { storeByKey } from './store-names.ts'

export function readSignals(facts: RepoFacts): Signal[] {
  return [...facts.files.values()].flatMap(file =>
    isOwnFile(file.path)
      ? readsInCode(facts, file).flatMap(({ key, evidence }) => {
          const identity = storeByKey(key)
          return identity === undefined
            ? []
            : [
                {
                  ...identity,
                  source: 'source' as const,
                  weight: 'client' as const,
                  why: `the program reads ${key}`,
                  evidence,
                  envKeys: [key],
                },
              ]
        })
      : [],
  )
}
