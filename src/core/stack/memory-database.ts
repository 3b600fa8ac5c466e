// Says whether the settings of a default run keep the data in memory, so that a server is only one of the choices.
import { type Evidence, evidenceAt, filesMatching, lineAt, type RepoFacts } from './facts.ts'
import { isOwnFile } from './signals-frameworks.ts'

const MEMORY =
  /^(?!\s*#).*(\bjdbc:(?:h2|hsqldb|derby):(?:mem|file|memory)?|^\s*database\s*[=:]\s*["']?(?:h2|hsqldb)\b|\bh2\.console\.enabled\s*[=:]\s*true)/m

export function findMemoryDatabase(facts: RepoFacts): Evidence | undefined {
  for (const file of filesMatching(
    facts,
    /(^|\/)application(-(dev|local|development|default))?\.(ya?ml|properties)$/,
  )) {
    const match = isOwnFile(file.path) ? MEMORY.exec(file.text) : null
    if (match !== null) return evidenceAt(facts, file.path, lineAt(file.text, match.index + match[0].length))
  }
  return undefined
}
