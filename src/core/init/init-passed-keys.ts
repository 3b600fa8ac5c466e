// Which keys of the main checkout's env files an environment takes as they are: settings and secrets without which the
// app does not start, since a new worktree has no file that git does not track. Never a key that names a resource.
import { namesResource } from '../resources.ts'
import type { Stack } from '../stack.ts'
import { isSettable } from './init-slices.ts'
import type { InitSources } from './init-sources.ts'

/** Compose's own keys choose a project, and penv's an environment. */
const NEVER = /^(COMPOSE_|PENV_|DOCKER_HOST$)/

/** @param taken keys that are set to a value of the environment's own, or that are shared on purpose. */
export function findPassedKeys(stack: Stack, sources: InitSources, taken: ReadonlySet<string>): string[] {
  const stores = new Set(stack.envKeys.map(one => one.key))
  const exampleOf = new Map(sources.examples.map(({ key, value }) => [key, value]))
  return sources.untracked
    .filter(
      key =>
        isSettable(key) &&
        !NEVER.test(key) &&
        !taken.has(key) &&
        !stores.has(key) &&
        !namesResource(key, exampleOf.get(key) || 'unknown'),
    )
    .sort()
}
