// Joins all findings about a repository into one description: what doctor shows and init writes from.
import type { Blocker } from './blocker.ts'
import { findBlockers } from './blockers.ts'
import type { Problem, RepoFacts } from './facts.ts'
import { findServices, type Service } from './services.ts'
import { type Tiering, tierOfAll, tierOfService } from './tier.ts'

export interface StackService extends Service {
  readonly tier: Tiering['tier']
  readonly tierReason: string
}

export interface Stack {
  readonly services: readonly StackService[]
  readonly tier: Tiering
  readonly blockers: readonly Blocker[]
  readonly problems: readonly Problem[]
  /** Facts are not complete: a bound was met while reading. */
  readonly bounded: boolean
}

export function describeStack(facts: RepoFacts): Stack {
  const services = findServices(facts)
  return {
    services: services.map(service => {
      const { tier, reason } = tierOfService(service)
      return { ...service, tier, tierReason: reason }
    }),
    tier: tierOfAll(services),
    blockers: findBlockers(facts, services),
    problems: facts.problems,
    bounded: facts.bounded,
  }
}
