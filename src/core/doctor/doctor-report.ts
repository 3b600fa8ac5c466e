// The text of `penv doctor`: where it is, the services, then the findings, what fails first.
import { groupBy } from '../group-by.ts'
import type { Stack } from '../stack.ts'
import { formatTable } from '../table.ts'
import type { Verdict } from '../verify-checks.ts'
import type { Finding } from './finding.ts'

/** Findings of one kind that are shown before the rest is only counted. */
const SHOWN_OF_A_KIND = 3
const ORDER: readonly Verdict[] = ['fail', 'warn', 'unchecked', 'ok']

export function describeFindings(
  stack: Stack | undefined,
  findings: readonly Finding[],
  isVerbose: boolean,
): string {
  const place = findings.filter(({ area, verdict }) => area === 'git' && verdict === 'ok')
  const rest = findings.filter(finding => !place.includes(finding))
  const shown = ORDER.filter(verdict => verdict !== 'ok' || isVerbose)
  const sections = [
    place.map(({ message }) => message),
    serviceLines(stack),
    ...shown.map(verdict =>
      sectionLines(
        verdict,
        rest.filter(finding => finding.verdict === verdict),
        isVerbose,
      ),
    ),
    [ORDER.map(verdict => `${findings.filter(one => one.verdict === verdict).length} ${verdict}`).join(', ')],
  ]
  return sections
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')
}

function serviceLines(stack: Stack | undefined): string[] {
  if (stack === undefined) return []
  const overall = `tier ${stack.tier.tier}: ${stack.tier.reason}`
  if (stack.services.length === 0) return [overall]
  const rows = stack.services.map(({ name, kind, need, tier, evidence }) => [
    `  ${need}`,
    name === kind ? kind : `${name} (${kind})`,
    `tier ${tier}`,
    evidence[0] === undefined ? '' : `${evidence[0].file}:${evidence[0].line}`,
  ])
  return [overall, ...formatTable(rows).split('\n')]
}

function sectionLines(verdict: Verdict, findings: readonly Finding[], isVerbose: boolean): string[] {
  if (findings.length === 0) return []
  const lines: string[] = [verdict]
  for (const kind of groupByKind(findings)) {
    const shown = isVerbose || kind.length === SHOWN_OF_A_KIND + 1 ? kind : kind.slice(0, SHOWN_OF_A_KIND)
    for (const finding of shown) lines.push(...findingLines(finding))
    if (kind.length > shown.length)
      lines.push(`  and ${kind.length - shown.length} more like the last; -v shows all`)
  }
  return lines
}

/** Findings with one code stand together; those without one stand alone. */
function groupByKind(findings: readonly Finding[]): Finding[][] {
  return [...groupBy(findings, finding => finding.code ?? finding).values()]
}

function findingLines({ message, file, line, remedy, area }: Finding): string[] {
  const where =
    file === undefined || area === 'state' ? '' : `${file}${line === undefined ? '' : `:${line}`}: `
  return [`  ${where}${message}`, ...(remedy === undefined ? [] : [`    remedy: ${remedy}`])]
}
