// What doctor says of the repository: what stands in the way of a second environment, and what of agents and tools is
// wired. Pure: findings of the detectors in, findings of doctor out.
import type { Stack } from '../stack.ts'
import type { Verdict } from '../verify-checks.ts'
import type { WiringChange } from '../wiring.ts'
import type { Finding } from './finding.ts'

export function judgeStack({ blockers, problems, tier, bounded }: Stack): Finding[] {
  return [
    { area: 'stack', verdict: tier.tier === 2 ? 'warn' : 'ok', message: `tier ${tier.tier}: ${tier.reason}` },
    ...blockers.map(
      ({ code, severity, file, line, message, remedy }): Finding => ({
        area: 'stack',
        code,
        verdict: severity,
        message,
        file,
        ...(line === undefined ? {} : { line }),
        remedy,
      }),
    ),
    ...problems.map(
      ({ file, line, reason }): Finding => ({
        area: 'stack',
        verdict: 'unchecked',
        message: reason,
        file,
        ...(line === undefined ? {} : { line }),
      }),
    ),
    ...(bounded
      ? [
          {
            area: 'stack',
            verdict: 'unchecked',
            message: 'the repository is large: not all of it was read',
          } as const,
        ]
      : []),
  ]
}

export function judgeWiring(changes: readonly WiringChange[]): Finding[] {
  return changes.map(({ name, path, status, reason }) => {
    const verdict: Verdict =
      status === 'current' ? 'ok' : status === 'invalid' || status === 'foreign' ? 'unchecked' : 'warn'
    const remedy = verdict === 'warn' ? { remedy: `penv init --agents ${name}` } : {}
    return {
      area: 'wiring',
      verdict,
      message: `the wiring of ${name} is ${status}${reason === undefined ? '' : `: ${reason}`}`,
      file: path,
      ...remedy,
    }
  })
}
