// `penv doctor`: what this repository is made of, what can be isolated, and what stands in the way. Read-only.
// Exit 1 when something fails.

import type { Answer, Context } from '../context.ts'
import { describeDiagnosis, type RevisionSummary } from '../core/doctor/doctor-report.ts'
import type { Finding } from '../core/doctor/finding.ts'
import { judgeEnvironments, judgeShell } from '../core/doctor/judge-environments.ts'
import { judgeStack, judgeWiring } from '../core/doctor/judge-repository.ts'
import { judgeScripts } from '../core/doctor/judge-scripts.ts'
import { judgeState } from '../core/doctor/judge-state.ts'
import { recordsOf } from '../core/ledger.ts'
import { quoteForShell } from '../core/shell-words.ts'
import type { RepoFacts } from '../core/stack/facts.ts'
import { describeStack, type Stack } from '../core/stack.ts'
import { planWiring } from '../core/wiring.ts'
import { PenvError } from '../errors.ts'
import { findEnvironmentOfPlace, lookForWorktree } from '../host/environments.ts'
import { findGitAnswer, locatePlace, type Place } from '../host/git.ts'
import { readLedger } from '../host/ledger-files.ts'
import { readRevisionSummaries } from '../host/ledger-revisions.ts'
import { findRealPath } from '../host/paths.ts'
import { readRepoFacts } from '../host/repo-facts.ts'
import { withoutDeadRun } from '../host/runs.ts'
import { readScriptFacts } from '../host/script-facts.ts'
import { readStateFacts } from '../host/state-facts.ts'
import { readWiringFacts } from '../host/wiring-files.ts'

export async function doctor(context: Context): Promise<Answer> {
  const { findings: gitFindings, place } = judgePlace(context)
  const root = place?.kind === 'outside' ? undefined : place?.root
  const state = await examineState(context)
  // What keeps the ledger from being read is said once.
  const here = await judgeHere(context, place)
  const repository = root === undefined ? undefined : await examineRepository(context, root)
  const findings = [
    ...gitFindings,
    ...state.findings,
    ...here.filter(({ message }) => !state.findings.some(finding => finding.message === message)),
    ...(repository?.findings ?? []),
  ]
  const hasFailed = findings.some(({ verdict }) => verdict === 'fail')
  const { revisions } = state
  const stack = repository?.stack
  const surroundings = { place: place?.kind, root: root ?? '' }
  return {
    json: { ok: !hasFailed, place: place?.kind ?? null, findings, revisions, stack: stack ?? null },
    text: describeDiagnosis({ surroundings, stack, findings, revisions }, context.flags.verbose),
    exit: hasFailed ? 1 : 0,
  }
}

async function examineRepository(
  context: Context,
  root: string,
): Promise<{ findings: Finding[]; stack: Stack }> {
  const facts = await readRepoFacts(root, async args => findGitAnswer(args, root, context.env))
  const stack = describeStack(facts)
  const findings = [
    ...judgeScriptsOf(context, root, facts),
    ...judgeStack(stack),
    ...judgeWiring(planWiring(readWiringFacts(root, context.env.PATH ?? ''), { agents: 'auto' })),
  ]
  if (findRealPath(context.cwd) === root) return { findings, stack }
  // What mends a file is written for the root; from below it, it has to go there first.
  const there = `cd ${quoteForShell(root)} && `
  return {
    findings: findings.map(one => (one.run === undefined ? one : { ...one, run: there + one.run })),
    stack,
  }
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
    return { findings: [failureOf(error, 'git')], place: undefined }
  }
}

/** Also where no state directory can be found, which ends every other command. */
async function examineState(
  context: Context,
): Promise<{ findings: Finding[]; revisions: RevisionSummary[] }> {
  const findings: Finding[] = []
  try {
    const facts = readStateFacts(context.stateDir)
    findings.push(...judgeState(facts))
    if (!facts.exists) return { findings, revisions: [] }
    const records = recordsOf(await readLedger(context.stateDir)).map(withoutDeadRun)
    findings.push(...judgeEnvironments(records, lookForWorktree))
  } catch (error) {
    if (error instanceof PenvError && error.code === 'USAGE') throw error
    findings.push(failureOf(error, 'state'))
  }
  return { findings, revisions: findRevisions(context) }
}

/** Whose environment this directory and this shell are: a copied folder and a broken marker are found here. */
async function judgeHere(context: Context, place: Place | undefined): Promise<Finding[]> {
  const sourced = context.env.PENV_ID
  if (place?.kind !== 'worktree') return judgeShell(sourced, undefined)
  try {
    const found = await findEnvironmentOfPlace(context)
    return judgeShell(sourced, found.kind === 'environment' ? found.id : undefined)
  } catch (error) {
    return [failureOf(error, 'environment')]
  }
}

/** An error of penv as a finding: its hint is a command where it names one. */
function failureOf(error: unknown, area: Finding['area']): Finding {
  if (!(error instanceof PenvError)) throw error
  const run = error.hint === undefined ? undefined : /^To .*?, run: (.*)$/.exec(error.hint)?.[1]
  return {
    area,
    verdict: 'fail',
    code: error.code,
    message: error.message,
    ...(run === undefined || run.includes('<') ? {} : { run }),
    ...(error.facts.length === 0 ? {} : { remedy: error.facts.join(' ') }),
  }
}

function judgeScriptsOf(context: Context, root: string, { tracked }: RepoFacts): Finding[] {
  const scripts = readScriptFacts(root)
  const stray = scripts.find(({ file }) => file.endsWith('.sh') && tracked?.has(file) === false)?.file
  if (stray === undefined) return judgeScripts(scripts, undefined)
  const isIgnored = findGitAnswer(['check-ignore', '-q', '--', stray], root, context.env) !== undefined
  return judgeScripts(scripts, { file: stray, isIgnored })
}

/** That they cannot be listed is a finding already. */
function findRevisions(context: Context): RevisionSummary[] {
  try {
    return readRevisionSummaries(context.stateDir)
  } catch (error) {
    if (error instanceof PenvError) return []
    throw error
  }
}
