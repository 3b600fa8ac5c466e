// What a recorded run means for a command that wants to run too. Pure: what the machine knows is passed in.

import type { EnvironmentState, Run } from './ledger.ts'

/** One process, told apart from every other that ever had its pid. */
export type ProcessIdentity = Pick<Run, 'pid' | 'startTime' | 'bootId' | 'pidNamespace' | 'host'>

export type Liveness = 'alive' | 'dead' | 'unknown'

/**
 * Decided by pid and start time, never by a clock. Of another host, or another pid namespace, nothing can be
 * known from here.
 * @param startTimeOf the start time of a live process, undefined when there is none
 */
export function decideLiveness(
  run: ProcessIdentity,
  self: ProcessIdentity,
  startTimeOf: (pid: number) => string | undefined,
): Liveness {
  if (run.bootId !== self.bootId) return run.host === self.host ? 'dead' : 'unknown'
  if (run.pidNamespace !== self.pidNamespace) return 'unknown'
  return startTimeOf(run.pid) === run.startTime ? 'alive' : 'dead'
}

/** What became of a state whose run was killed before it could settle it. */
export function stateAfterDeath(state: EnvironmentState): EnvironmentState {
  if (state === 'provisioning') return 'failed'
  return state === 'destroying' ? 'teardown-failed' : state
}

/** How long something has been going on, for a person. */
export function formatAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} hours`
  return `${Math.round(seconds / 86_400)} days`
}
