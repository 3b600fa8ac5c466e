// `penv doctor`: what this repository is made of, what can be isolated, and what stands in the way. Read-only.
// Exit 1 when something fails.

import type { Answer, Context } from '../context.ts'
import {
  type Area,
  type Finding,
  judgeScripts,
  judgeShell,
  judgeStack,
  judgeState,
  judgeWiring,
} from '../core/doctor.ts'
import { recordsOf } from '../core/ledger.ts'
import { describeStack, type Stack } from '../core/stack.ts'
import { planWiring } from '../core/wiring.ts'
import { PenvError } from '../errors.ts'
import { findWorktreeToShow } from '../host/environments.ts'
import { askGit, locatePlace, type Place } from '../host/git.ts'
import { readLedger } from '../host/ledger-files.ts'
import { readMarker } from '../host/marker.ts'
import { readRepoFacts } from '../host/repo-facts.ts'
import { readScriptFacts } from '../host/script-facts.ts'
import { readStateFacts } from '../host/state-facts.ts'
import { readWiringFacts } from '../host/wiring-files.ts'

export async function doctor(context: Context): Promise<Answer> {
  const { findings: gitFindings, place } = judgePlace(context)
  const root = place?.kind === 'outside' || place === undefined ? undefined : place.root
  const stack =
    root === undefined
      ? undefined
      : describeStack(await readRepoFacts(root, async args => answerOfGit(context, root, args)))
  const findings = [
    ...gitFindings,
    ...judgeState(readStateFacts(context.stateDir)),
    ...(await judgeLedger(context)),
    ...judgeShell(context.env.PENV_ID, place?.kind === 'worktree' ? readMarker(place.gitDir)?.id : undefined),
    ...(root === undefined ? [] : judgeScripts(readScriptFacts(root))),
    ...(stack === undefined ? [] : judgeStack(stack)),
    ...(root === undefined
      ? []
      : judgeWiring(planWiring(readWiringFacts(root, context.env.PATH ?? ''), { agents: 'auto' }))),
  ]
  const failed = findings.filter(({ verdict }) => verdict === 'fail').length
  return {
    json: { ok: failed === 0, place: place?.kind ?? null, findings, stack: stack ?? null },
    text: render(stack, findings, context.flags.verbose),
    exit: failed === 0 ? 0 : 1,
  }
}

function answerOfGit(context: Context, root: string, args: readonly string[]): string | undefined {
  const { status, stdout } = askGit(args, root, context.env)
  return status === 0 ? stdout : undefined
}

/** That git fails is a finding, not the end: the state can be looked at all the same. */
function judgePlace(context: Context): { findings: Finding[]; place: Place | undefined } {
  try {
    const place = locatePlace(context.cwd, context.env)
    const message =
      place.kind === 'worktree'
        ? `a linked worktree: ${place.root}`
        : place.kind === 'main'
          ? `the main checkout: ${place.root}`
          : `this is ${place.reason}`
    return { findings: [{ area: 'git', verdict: 'ok', message }], place }
  } catch (error) {
    if (!(error instanceof PenvError)) throw error
    return {
      findings: [
        {
          area: 'git',
          verdict: 'fail',
          message: error.message,
          ...(error.facts[0] ? { remedy: error.facts.join(' ') } : {}),
        },
      ],
      place: undefined,
    }
  }
}

async function judgeLedger(context: Context): Promise<Finding[]> {
  try {
    const ledger = await readLedger(context.stateDir)
    const gone = recordsOf(ledger).filter(record => findWorktreeToShow(record) === undefined)
    return [
      ...gone.map(
        ({ id, root }): Finding => ({
          area: 'environment',
          verdict: 'warn',
          message: `${id} holds its allocations, but its worktree ${root} is gone`,
          remedy: `penv destroy ${id}`,
        }),
      ),
      ...recordsOf(ledger)
        .filter(({ state }) => state === 'failed' || state === 'teardown-failed')
        .map(
          ({ id, state, root }): Finding => ({
            area: 'environment',
            verdict: 'warn',
            message: `${id} is ${state}`,
            remedy: `cd ${root} && penv ${state === 'failed' ? 'up' : 'destroy'}`,
          }),
        ),
    ]
  } catch (error) {
    if (!(error instanceof PenvError)) throw error
    return [
      {
        area: 'state',
        verdict: 'fail',
        message: error.message,
        ...(error.hint === undefined ? {} : { remedy: error.hint.replace(/^.*run: /, '') }),
      },
    ]
  }
}

const AREAS: readonly Area[] = ['git', 'state', 'environment', 'scripts', 'stack', 'wiring']

function render(stack: Stack | undefined, findings: readonly Finding[], isVerbose: boolean): string {
  const lines: string[] = []
  if (stack !== undefined && stack.services.length > 0) {
    lines.push('services')
    for (const { name, kind, need, tier, tierReason, evidence } of stack.services)
      lines.push(
        `  ${name === kind ? kind : `${name} (${kind})`}: ${need}, tier ${tier}, ${tierReason}${evidence[0] ? `  [${evidence[0].file}:${evidence[0].line}]` : ''}`,
      )
  }
  for (const area of AREAS) {
    const shown = findings.filter(
      finding =>
        finding.area === area &&
        (isVerbose || finding.verdict !== 'ok' || area === 'git' || finding.message.startsWith('tier')),
    )
    if (shown.length === 0) continue
    lines.push(area)
    for (const { verdict, message, file, line, remedy } of shown) {
      const where =
        file === undefined || area === 'state' ? '' : `${file}${line === undefined ? '' : `:${line}`}: `
      lines.push(`  ${verdict}: ${where}${message}`)
      if (remedy !== undefined) lines.push(`    remedy: ${remedy}`)
    }
  }
  const count = (verdict: string) => findings.filter(finding => finding.verdict === verdict).length
  return [
    ...lines,
    `${count('ok')} ok, ${count('warn')} warn, ${count('fail')} fail, ${count('unchecked')} unchecked`,
  ].join('\n')
}
