// Joins all blockers of a repository, each place once.
import { type Blocker, blockerAt } from './blocker.ts'
import { commandBlockers } from './blockers-commands.ts'
import { composeBlockers } from './blockers-compose.ts'
import { dataBlockers } from './blockers-data.ts'
import { gitBlockers } from './blockers-git.ts'
import type { RepoFacts } from './facts.ts'
import type { Service } from './services.ts'
import { tierOfService } from './tier.ts'

export function findBlockers(facts: RepoFacts, services: readonly Service[]): Blocker[] {
  const places = new Set<string>()
  return [
    ...gitBlockers(facts),
    ...composeBlockers(facts),
    ...commandBlockers(facts),
    ...dataBlockers(facts),
    ...notNamespaceable(facts, services),
  ].filter(blocker => {
    const place = `${blocker.code} ${blocker.file}:${blocker.line ?? ''} ${blocker.message}`
    if (places.has(place)) return false
    places.add(place)
    return true
  })
}

function notNamespaceable(facts: RepoFacts, services: readonly Service[]): Blocker[] {
  return services.flatMap(service => {
    const { tier, reason } = tierOfService(service)
    const evidence = service.evidence[0]
    if (tier < 2 || service.need === 'optional' || evidence === undefined) return []
    return blockerAt(
      facts,
      'NOT_NAMESPACEABLE',
      evidence,
      `${service.name} cannot be shared: ${reason}`,
      'start one for each environment on a port of its own, or do without it in environments',
    )
  })
}
