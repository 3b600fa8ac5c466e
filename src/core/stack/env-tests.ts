// Whether tests take the same key as development: set for a run of the tests, it empties what development uses.
// Only where the tests are seen to empty something, or name the same database.
import type { EnvPart } from './env-names.ts'
import { type EnvPlace, isTestFile } from './env-reads.ts'
import type { Evidence, RepoFacts } from './facts.ts'

const EMPTIES =
  /\bdrop\b|\btruncate\b|deleteMany|dropDatabase|drop_all|create_all|\breset\b|force:\s*true|\bSandbox\b|cleaner|flush/i

export function findTestUse(
  facts: RepoFacts,
  key: string,
  part: EnvPart,
  places: readonly EnvPlace[],
): Evidence | undefined {
  if (part !== 'url' && part !== 'database' && part !== 'connection') return undefined
  const inTests = places.find(
    place =>
      place.isTest &&
      place.how !== 'env-file' &&
      EMPTIES.test(facts.files.get(place.evidence.file)?.text ?? ''),
  )
  if (inTests !== undefined) return inTests.evidence
  const values = (isTest: boolean) =>
    places.filter(place => place.isTest === isTest && place.how === 'env-file' && place.value)
  const same = values(true).find(test => values(false).some(own => own.value === test.value))
  if (same !== undefined) return same.evidence
  // One section for tests that reads the same key as the one for development.
  for (const place of places) {
    const text = facts.files.get(place.evidence.file)?.text
    if (
      text === undefined ||
      !/(^|\/)config\/(database\.ya?ml|config\.[cm]?js|config\.json)$/.test(place.evidence.file) ||
      isTestFile(place.evidence.file)
    )
      continue
    const section = /^[ \t]*["']?test["']?\s*:[^\n]*\n(?:[ \t]+[^\n]*\n?|[ \t]*\n)*/m.exec(text)
    if (section?.[0].includes(key) && text.replace(section[0], '').includes(key)) return place.evidence
  }
  return undefined
}

/** DATABASE_URL holds for Rails' tests, too, which empty what they run on. */
export function findRailsTestUse(facts: RepoFacts, evidence: Evidence): Evidence | undefined {
  const isRails = /(^|\/)config\/database\.ya?ml$/.test(evidence.file)
  return isRails && /^test:/m.test(facts.files.get(evidence.file)?.text ?? '') ? evidence : undefined
}
