// Blockers of servers that scripts start with `docker run`: a name or port that a second environment cannot have.
import { type Blocker, blockerAt } from './blocker.ts'
import { findDockerRuns } from './docker-run.ts'
import type { RepoFacts } from './facts.ts'
import { identifyImage } from './images.ts'

export function commandBlockers(facts: RepoFacts): Blocker[] {
  return findDockerRuns(facts).flatMap(run => {
    if (run.scope === 'test' || run.scope === 'production' || run.isClient) return []
    const product = identifyImage(run.image)?.product
    if (product === undefined) return []
    const named =
      run.name === undefined
        ? []
        : [
            blockerAt(
              facts,
              'CONTAINER_NAME',
              run,
              `the container ${run.name} exists once on a machine`,
              'start the server once for all environments, or put a variable into its name',
            ),
          ]
    return [
      ...named,
      ...run.hostPorts.map(port =>
        blockerAt(
          facts,
          'LITERAL_HOST_PORT',
          run,
          `${product} publishes host port ${port}, which one environment can have`,
          'start the server once for all environments, or publish it on a port from a variable',
        ),
      ),
    ]
  })
}
