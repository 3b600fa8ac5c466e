// Signals of env keys that a program reads: `REDIS_URL` in its text says that it can use a Redis, not that it must.
import { findEnvReads } from './env-reads.ts'
import { lineAt, type RepoFacts } from './facts.ts'
import { isIntegration } from './scope.ts'
import { type Signal, signalAt } from './signals.ts'
import { isOwnFile } from './signals-frameworks.ts'
import { storeByKey } from './store-names.ts'

export function readSignals(facts: RepoFacts): Signal[] {
  return [...facts.files.values()].flatMap(file =>
    isOwnFile(file.path) && !isIntegration(file.path)
      ? findEnvReads(file).flatMap(({ key, offset }) => {
          const identity = storeByKey(key)
          if (identity === undefined) return []
          const at = { file: file.path, line: lineAt(file.text, offset) }
          const why = `the program reads ${key}`
          return signalAt(facts, at, { ...identity, source: 'source', weight: 'client', why, envKeys: [key] })
        })
      : [],
  )
}
