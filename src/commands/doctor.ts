// `penv doctor`: what this repository is made of, what can be isolated, and what stands in the way. Read-only.
// Exit 1 when something fails.

import type { Answer, Context } from '../context.ts'
import { describeFindings } from '../core/doctor/doctor-report.ts'
import type { Finding } from '../core/doctor/finding.ts'
import { judgeEnvironments, judgeShell } from '../core/doctor/judge-environments.ts'
import { judgeStack, judgeWiring } from '../core/doctor/judge-repository.ts'
import { judgeScripts } from '../core/doctor/judge-scripts.ts'
import { judgeState } from '../core/doctor/judge-state.ts'
import { recordsOf } from '../core/ledger.ts'
import { describeStack } from '../core/stack.ts'
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
    text: describeFindings(stack, findings, context.flags.verbose),
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
    return judgeEnvironments(recordsOf(ledger), record => findWorktreeToShow(record) === undefined)
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
