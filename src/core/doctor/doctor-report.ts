// The text of `penv doctor`: where it is, the services, then the findings, what fails first, and last what to do next.
import { groupBy } from '../group-by.ts'
import type { Stack } from '../stack.ts'
import { formatTable, wrapText } from '../table.ts'
import type { Verdict } from '../verify-checks.ts'
import type { Finding } from './finding.ts'
import { composeNextStep, type Surroundings } from './next-step.ts'

const WIDTH = 80
/** Findings of one kind that are shown before the rest is only counted; of those that fail all are shown. */
const SHOWN_OF_A_KIND = 3
const ORDER: readonly Verdict[] = ['fail', 'warn', 'unchecked', 'ok']

/** One revision of the ledger, as a backup. */
export interface RevisionSummary {
  revision: number
  writtenAt: string
  /** null where it is damaged. */
  environments: number | null
  /** The command that makes it the ledger again; null for the ledger itself and for what is damaged. */
  restore: string | null
}

export interface Diagnosis {
  surroundings: Surroundings
  stack: Stack | undefined
  findings: readonly Finding[]
  /** Newest first. */
  revisions: readonly RevisionSummary[]
}

export function describeDiagnosis(
  { surroundings, stack, findings, revisions }: Diagnosis,
  isVerbose: boolean,
): string {
  const isPlace = ({ area, verdict }: Finding) => area === 'git' && verdict === 'ok'
  const rest = findings.filter(finding => !isPlace(finding) && finding.code !== 'TIER')
  const shown = ORDER.filter(verdict => verdict !== 'ok' || isVerbose)
  const counts = ORDER.map(verdict => `${findings.filter(one => one.verdict === verdict).length} ${verdict}`)
  const sections = [
    findings.filter(isPlace).map(({ message }) => message),
    serviceLines(stack),
    ...shown.map(verdict => {
      const ofVerdict = rest.filter(finding => finding.verdict === verdict)
      return sectionLines(verdict, ofVerdict, isVerbose || verdict === 'fail')
    }),
    ...(isVerbose ? [revisionLines(revisions)] : []),
    [counts.join(', '), `  ${composeNextStep(surroundings, findings)}`],
  ]
  return sections
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')
}

function serviceLines(stack: Stack | undefined): string[] {
  if (stack === undefined) return []
  const overall = wrapText(`tier ${stack.tier.tier}: ${stack.tier.reason}`, '', '  ', WIDTH)
  const places = stack.services.map(({ evidence: [first] }) =>
    first === undefined ? '' : `${first.file}:${first.line}`,
  )
  const rows = stack.services.map(({ name, kind, need, tier }) => [
    `  ${need}`,
    name === kind ? kind : `${name} (${kind})`,
    `tier ${tier}`,
  ])
  const lines = formatTable([...rows, []])
    .split('\n')
    .slice(0, -1)
  // One width for all: a table with some places on lines of their own could not be read down its columns.
  const isWide = lines.some((line, at) => `${line}  ${places[at]}`.length > WIDTH)
  return [
    overall,
    ...lines.flatMap((line, at) => {
      const place = places[at] as string
      if (place === '') return [line]
      return isWide ? [line, `    ${place}`] : [`${line}  ${place}`]
    }),
  ]
}

function sectionLines(verdict: Verdict, findings: readonly Finding[], showsAll: boolean): string[] {
  if (findings.length === 0) return []
  const lines: string[] = [verdict]
  let alone = 0
  for (const kind of groupBy(findings, ({ code }) => code ?? `alone ${alone++}`).values()) {
    const shown = showsAll || kind.length === SHOWN_OF_A_KIND + 1 ? kind : kind.slice(0, SHOWN_OF_A_KIND)
    lines.push(...kindLines(shown))
    if (kind.length > shown.length)
      lines.push(`  and ${kind.length - shown.length} more like the last; -v shows all`)
  }
  return lines
}

/** What mends several in a row stands behind the last of them. */
function kindLines(findings: readonly Finding[]): string[] {
  return findings.flatMap((finding, at) => {
    const { file, line, area, message } = finding
    const where =
      file === undefined || area === 'state' ? '' : `${file}${line === undefined ? '' : `:${line}`}: `
    const mending = mendingOf(finding)
    const next = findings[at + 1]
    return [
      wrapText(where + message, '  ', '    ', WIDTH),
      ...(next !== undefined && mendingOf(next) === mending ? [] : mending === '' ? [] : [mending]),
    ]
  })
}

/** A command is never broken into lines. */
function mendingOf({ remedy, run }: Finding): string {
  if (run !== undefined) return `    To mend it, run: ${run}`
  return remedy === undefined ? '' : wrapText(remedy, '    Remedy: ', '      ', WIDTH)
}

function revisionLines(revisions: readonly RevisionSummary[]): string[] {
  if (revisions.length === 0) return []
  const rows = revisions.map(({ revision, writtenAt, environments }) => [
    `  ${revision}`,
    writtenAt,
    environments === null ? 'damaged' : `${environments} environment${environments === 1 ? '' : 's'}`,
  ])
  const latest = revisions.find(({ restore }) => restore !== null)
  return [
    'revisions of the ledger, newest first',
    ...formatTable(rows).split('\n'),
    ...(latest === undefined
      ? []
      : [`  To go back to revision ${latest.revision}, and forget what came later, run: ${latest.restore}`]),
  ]
}
