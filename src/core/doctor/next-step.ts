// The last line of `penv doctor`: the one thing to do next. Pure.
import { quoteForShell } from '../shell-words.ts'
import type { Finding } from './finding.ts'

export interface Surroundings {
  place: 'main' | 'worktree' | 'outside' | undefined
  /** Empty outside of a repository. */
  root: string
}

/** What comes before anything else can be tried, in this order. */
const FIRST_STEPS: Readonly<Record<string, string>> = {
  NO_PROVISION: 'write the lifecycle scripts',
  NOT_COMMITTED: 'give the scripts to new worktrees',
}

export function composeNextStep({ place, root }: Surroundings, findings: readonly Finding[]): string {
  const failed = findings.filter(({ verdict }) => verdict === 'fail')
  const mendable = failed.find(({ run }) => run !== undefined)
  if (mendable !== undefined) return `To mend what fails first, run: ${mendable.run}`
  if (failed.length > 0) return 'To look again when this is mended, run: penv doctor'
  for (const [code, goal] of Object.entries(FIRST_STEPS)) {
    const step = findings.find(finding => finding.code === code)
    if (step?.run !== undefined) return `To ${goal}, run: ${step.run}`
  }
  if (place === 'worktree') return 'To bring this environment up, run: penv up && penv verify'
  if (place === 'main')
    return `To work isolated, run: git worktree add ${quoteForShell(`${root}-second`)} -b second`
  return 'To look at a repository, run: cd <its directory> && penv doctor'
}
