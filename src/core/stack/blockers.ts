// Joins all blockers of a repository, each place once.
import { type Blocker, blockerAt } from './blocker.ts'
import { commandBlockers } from './blockers-commands.ts'
import { composeBlockers } from './blockers-compose.ts'
import { dataBlockers } from './blockers-data.ts'
import { gitBlockers } from './blockers-git.ts'
import { homeBlockers } from './blockers-home.ts'
import type { EnvKey } from './env-keys.ts'
import type { RepoFacts } from './facts.ts'
import { scopeOf } from './scope.ts'
import type { Service } from './services.ts'
import type { Start } from './starts.ts'
import { tierOfService } from './tier.ts'

export interface Found {
  readonly services: readonly Service[]
  readonly starts: readonly Start[]
  readonly envKeys: readonly EnvKey[]
}

/** The lifecycle scripts can do harm like any other, but publish and start nothing of the program's: `program` is without them. */
export function findBlockers(facts: RepoFacts, program: RepoFacts, found: Found): Blocker[] {
  const places = new Set<string>()
  return [
    ...gitBlockers(facts),
    ...composeBlockers(program),
    ...commandBlockers(program),
    ...dataBlockers(facts),
    ...homeBlockers(program),
    ...hardCodedPorts(program, found.starts),
    ...keysOfTests(program, found.envKeys),
    ...notNamespaceable(program, found.services),
  ].filter(blocker => {
    const scope = scopeOf(blocker.file)
    if (scope === 'aside' || (scope === 'test' && blocker.code !== 'ONE_DATABASE_FOR_TESTS')) return false
    // One line can publish several ports; a file that tests share is one finding, however many keys say so.
    const line = blocker.code === 'ONE_DATABASE_FOR_TESTS' ? '' : (blocker.line ?? '')
    const detail = blocker.code === 'LITERAL_HOST_PORT' ? blocker.message : ''
    const place = `${blocker.code} ${blocker.file}:${line} ${detail}`
    if (places.has(place)) return false
    places.add(place)
    return true
  })
}

/** A port that nothing but the text decides; a default of a tool is given another by the start itself. */
function hardCodedPorts(facts: RepoFacts, starts: readonly Start[]): Blocker[] {
  return starts.flatMap(start =>
    !start.isDefault
      ? []
      : start.ports.flatMap(({ port, variable, source, evidence }) => {
          if (variable !== undefined || port === undefined || source === 'tool' || source === 'dockerfile')
            return []
          return blockerAt(
            facts,
            'HARD_CODED_PORT',
            evidence,
            `${start.name} listens on port ${port} and nothing else`,
            start.portFlag === undefined
              ? 'read the port from a variable, with this number as its default'
              : `give the port with ${start.portFlag}, from a variable`,
          )
        }),
  )
}

function keysOfTests(facts: RepoFacts, envKeys: readonly EnvKey[]): Blocker[] {
  return envKeys.flatMap(({ key, isActive, sharedWithTests }) =>
    sharedWithTests === undefined || !isActive
      ? []
      : blockerAt(
          facts,
          'ONE_DATABASE_FOR_TESTS',
          sharedWithTests,
          `${key} is the key of development and of the tests: a test run empties what development uses`,
          "give the tests a database of their own, whose name is made from the environment's",
        ),
  )
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
