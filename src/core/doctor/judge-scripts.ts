// What doctor says of the lifecycle scripts. Pure: texts in, findings out, each with its remedy.
import { findQuestions } from '../init/init-text.ts'
import { findScriptFlaw, KEEP_LF, SCRIPT_FLAWS } from '../script-flaw.ts'
import type { Finding } from './finding.ts'

/** What was read of `.preview/`. */
export interface ScriptFacts {
  /** Relative to the root. */
  file: string
  /** Undefined where it cannot be read. */
  text: string | undefined
  /** Why it cannot be read. */
  problem?: string
  isExecutable: boolean
}

/** A script that a new worktree will not have. */
export interface StrayScript {
  file: string
  isIgnored: boolean
}

const say = (
  verdict: Finding['verdict'],
  code: string,
  message: string,
  more: Partial<Finding> = {},
): Finding => ({ area: 'scripts', verdict, code, message, ...more })

export function judgeScripts(scripts: readonly ScriptFacts[], stray: StrayScript | undefined): Finding[] {
  const findings = [
    ...judgeCompleteness(scripts),
    ...scripts.flatMap(judgeScript),
    ...(stray === undefined ? [] : [judgeStray(stray)]),
  ]
  return findings.some(({ verdict }) => verdict !== 'ok')
    ? findings
    : [...findings, say('ok', 'SCRIPTS', 'the lifecycle scripts are complete')]
}

function judgeCompleteness(scripts: readonly ScriptFacts[]): Finding[] {
  const isMissing = (name: string) => !scripts.some(({ file }) => file === `.preview/${name}.sh`)
  const run = 'penv init'
  if (isMissing('provision'))
    return [say('warn', 'NO_PROVISION', 'there is no .preview/provision.sh on this branch', { run })]
  return ['verify', 'teardown']
    .filter(isMissing)
    .map(name => say('warn', 'SCRIPT_MISSING', `there is no .preview/${name}.sh`, { run }))
}

function judgeScript({ file, text, problem, isExecutable }: ScriptFacts): Finding[] {
  if (text === undefined)
    return [say('fail', 'SCRIPT_UNREADABLE', `it cannot be read (${problem})`, { file })]
  const isScript = file.endsWith('.sh')
  const flaw = isScript ? findScriptFlaw(text) : undefined
  const remedy = flaw === 'crlf' ? { run: KEEP_LF } : { remedy: 'save it as UTF-8 without a mark' }
  return [
    ...(flaw === undefined
      ? []
      : [say('fail', 'SCRIPT_FLAW', `it ${SCRIPT_FLAWS[flaw]}`, { file, ...remedy })]),
    ...findQuestions(text).map(({ line, question }) =>
      say('fail', 'QUESTION', `a question is left: ${question}`, {
        file,
        line,
        remedy: 'answer it there, and take the line out',
      }),
    ),
    ...(isExecutable || !isScript
      ? []
      : [say('ok', 'NO_RUN_BIT', 'it has no run bit; penv runs it all the same', { file })]),
  ]
}

function judgeStray({ file, isIgnored }: StrayScript): Finding {
  return isIgnored
    ? say('warn', 'SCRIPTS_IGNORED', 'git ignores it: a new worktree will not have it', {
        file,
        remedy: `take out the pattern that "git check-ignore -v ${file}" shows`,
      })
    : say('warn', 'NOT_COMMITTED', 'git does not track it: a new worktree will not have it', {
        file,
        run: 'git add .preview && git commit -m "Add preview environments"',
      })
}
