// What doctor says of the environments in the ledger, and of the shell that asks. Pure.
import type { EnvironmentRecord } from '../ledger.ts'
import { quoteForShell } from '../shell-words.ts'
import type { Finding } from './finding.ts'

/** missing: not at its path, where git still expects it. gone: git does not know it any more. */
export type Whereabouts = { kind: 'there'; root: string } | { kind: 'missing' } | { kind: 'gone' }

export function judgeEnvironments(
  records: readonly EnvironmentRecord[],
  whereaboutsOf: (record: EnvironmentRecord) => Whereabouts,
): Finding[] {
  const findings = records.flatMap(record => judgeEnvironment(record, whereaboutsOf(record)))
  if (findings.length > 0 || records.length === 0) return findings
  const count = records.length === 1 ? 'the 1 environment' : `the ${records.length} environments`
  return [{ area: 'environment', verdict: 'ok', message: `${count} of this machine: nothing is wrong` }]
}

function judgeEnvironment(record: EnvironmentRecord, where: Whereabouts): Finding[] {
  const { id, root, repo, state } = record
  const say = (code: string, message: string, remedy: Pick<Finding, 'remedy' | 'run'>): Finding[] => [
    { area: 'environment', verdict: 'warn', code, message, ...remedy },
  ]
  if (where.kind === 'gone')
    return say('WORKTREE_GONE', `${id} holds its allocations, but its worktree ${root} is gone`, {
      run: `penv destroy ${id}`,
    })
  if (where.kind === 'missing')
    return say('WORKTREE_MISSING', `${id} is not at ${root}, where git still expects its worktree`, {
      remedy: `where it was moved: git -C ${quoteForShell(repo)} worktree repair <its new path>; where it was removed: penv destroy ${id}`,
    })
  if (state === 'failed')
    return say('ENVIRONMENT_FAILED', `${id} is failed`, { run: `cd ${quoteForShell(where.root)} && penv up` })
  if (state === 'teardown-failed')
    return say('TEARDOWN_FAILED', `${id} is teardown-failed and keeps its allocations`, {
      run: `penv destroy ${id}`,
    })
  return []
}

/** A variable of another worktree in the shell. */
export function judgeShell(sourced: string | undefined, id: string | undefined): Finding[] {
  if (!sourced || sourced === id) return []
  return [
    {
      area: 'environment',
      verdict: 'warn',
      message: `PENV_ID of this shell is ${sourced}, which is not the environment here`,
      run: 'unset PENV_ID',
    },
  ]
}
