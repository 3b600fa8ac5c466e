// Which keys of the main checkout's env files an environment takes as they are: settings and secrets without which the
// app does not start, since a new worktree has no file that git does not track. A key that names a resource is never
// passed on: where nobody has set or shared it, that is a question.
import { namesResource } from '../resources.ts'
import type { Stack } from '../stack.ts'
import { isSettable } from './init-slices.ts'
import type { InitSources } from './init-sources.ts'

/** Compose's own keys choose a project, and penv's an environment. */
const NEVER = /^(COMPOSE_|PENV_|DOCKER_HOST$)/

/** Of a value that is not known, the key alone decides. */
const ANY_VALUE = 'any=value'

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
        !namesResource(key, exampleOf.get(key) || ANY_VALUE),
    )
    .sort()
}

/** Keys of a resource that an environment neither sets nor shares, so that `penv verify` would stop at them. */
export function openKeyQuestions(sources: InitSources, taken: ReadonlySet<string>): string[] {
  const exampleOf = new Map(sources.examples.map(({ key, value }) => [key, value]))
  const open = [...sources.keys]
    .filter(key => !taken.has(key) && !NEVER.test(key) && namesResource(key, exampleOf.get(key) ?? ''))
    .sort()
  return open.length === 0
    ? []
    : [
        `which of ${open.join(', ')} are this environment's own (set them here), and which are shared (list them in .preview/shared)`,
      ]
}
