// What doctor says of the repository: what stands in the way of a second environment, and what of agents and tools is
// wired. Pure: findings of the detectors in, findings of doctor out.
import type { Stack } from '../stack.ts'
import type { Verdict } from '../verify-checks.ts'
import type { WiringChange } from '../wiring.ts'
import type { Finding } from './finding.ts'

/** Of these the lifecycle scripts' own findings speak. */
const SAID_OF_SCRIPTS = new Set(['CRLF_SCRIPT'])

export function judgeStack({ blockers, problems, tier, bounded }: Stack): Finding[] {
  return [
    { area: 'stack', verdict: 'ok', code: 'TIER', message: `tier ${tier.tier}: ${tier.reason}` },
    ...blockers
      .filter(({ code }) => !SAID_OF_SCRIPTS.has(code))
      .map(
        ({ code, severity, file, line, message, remedy, run }): Finding => ({
          area: 'stack',
          code,
          verdict: severity,
          message,
          file,
          ...(line === undefined ? {} : { line }),
          ...(run === undefined ? { remedy } : { run }),
        }),
      ),
    ...problems.map(
      ({ file, line, reason }): Finding => ({
        area: 'stack',
        verdict: 'unchecked',
        code: 'UNREADABLE',
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
    return {
      area: 'wiring',
      verdict,
      code: `WIRING_${status.toUpperCase()}`,
      message: `the wiring of ${name} is ${status}${reason === undefined ? '' : `: ${reason}`}`,
      file: path,
      ...(verdict === 'warn' ? { run: 'penv init' } : {}),
    }
  })
}
