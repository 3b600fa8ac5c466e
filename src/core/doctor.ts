// What doctor says of each thing that was looked at. Pure: facts in, findings out, each with its remedy.

import { QUESTION_MARK } from './init/init-text.ts'
import type { Stack } from './stack.ts'
import type { Verdict } from './verify-checks.ts'
import type { WiringChange } from './wiring.ts'

export type Area = 'git' | 'state' | 'environment' | 'scripts' | 'stack' | 'wiring'

export interface Finding {
  area: Area
  verdict: Verdict
  message: string
  file?: string
  line?: number
  remedy?: string
}

/** What the machine knows of the state directory. */
export interface StateFacts {
  directory: string
  exists: boolean
  /** Why it cannot be written, or undefined. */
  unwritable: string | undefined
  mode: number | undefined
  isOwnedByUs: boolean
  networkFileSystem: string | undefined
  /** Files beside the revisions that penv did not put there. */
  strangers: readonly string[]
  revisions: number
  /** Files or directories below it that belong to somebody else. */
  foreignFiles: readonly string[]
}

export function judgeState(facts: StateFacts): Finding[] {
  const { directory } = facts
  const say = (verdict: Verdict, message: string, remedy?: string): Finding => ({
    area: 'state',
    verdict,
    message,
    file: directory,
    ...(remedy === undefined ? {} : { remedy }),
  })
  if (!facts.exists) {
    return facts.unwritable === undefined
      ? [say('ok', 'the state directory will be made on first use')]
      : [
          say(
            'fail',
            `the state directory cannot be made: ${facts.unwritable}`,
            'export PENV_HOME=<a directory on a local disk>',
          ),
        ]
  }
  const findings: Finding[] = []
  if (facts.unwritable !== undefined)
    findings.push(
      say(
        'fail',
        `the state directory cannot be written: ${facts.unwritable}`,
        'export PENV_HOME=<a directory on a local disk>',
      ),
    )
  if (!facts.isOwnedByUs)
    findings.push(
      say(
        'warn',
        'the state directory belongs to another user',
        'export PENV_HOME=<a directory of your own>',
      ),
    )
  else if (facts.mode !== undefined && (facts.mode & 0o077) !== 0)
    findings.push(
      say(
        'warn',
        `the state directory is open to others (mode ${facts.mode.toString(8)})`,
        `chmod 700 ${directory}`,
      ),
    )
  if (facts.networkFileSystem !== undefined)
    findings.push(
      say(
        'warn',
        `the state directory lies on a network file system (${facts.networkFileSystem}), where other machines see the same ledger`,
        'export PENV_HOME=<a directory on a local disk>',
      ),
    )
  for (const name of facts.strangers) findings.push(say('warn', `${name} is not penv's and is ignored`))
  for (const path of facts.foreignFiles)
    findings.push(
      say('warn', `${path} belongs to another user`, 'sudo chown -R "$(id -u)" '.concat(directory)),
    )
  return findings.length > 0
    ? findings
    : [say('ok', `the state directory is sound (${facts.revisions} revisions of the ledger)`)]
}

/** What was read of `.preview/`. */
export interface ScriptFacts {
  file: string
  text: string
  isExecutable: boolean
}

export function judgeScripts(scripts: readonly ScriptFacts[]): Finding[] {
  if (!scripts.some(({ file }) => file.endsWith('/provision.sh')))
    return [
      {
        area: 'scripts',
        verdict: 'warn',
        message: 'there is no .preview/provision.sh on this branch',
        remedy: 'penv init',
      },
    ]
  const findings: Finding[] = []
  for (const { file, text, isExecutable } of scripts) {
    const say = (verdict: Verdict, message: string, line?: number, remedy?: string) =>
      findings.push({
        area: 'scripts',
        verdict,
        message,
        file,
        ...(line === undefined ? {} : { line }),
        ...(remedy === undefined ? {} : { remedy }),
      })
    if (text.includes('\r\n'))
      say(
        'fail',
        'it has CRLF line ends, which its interpreter cannot read',
        undefined,
        'echo "*.sh text eol=lf" >> .gitattributes',
      )
    if (!isExecutable) say('ok', 'it has no run bit; penv runs it all the same')
    for (const [at, line] of text.split('\n').entries())
      if (line.includes(QUESTION_MARK))
        say('fail', line.slice(line.indexOf(QUESTION_MARK) + 2).trim(), at + 1, `edit ${file}`)
  }
  const isMissing = (name: string) => !scripts.some(({ file }) => file.endsWith(`/${name}.sh`))
  for (const name of ['verify', 'teardown'])
    if (isMissing(name))
      findings.push({
        area: 'scripts',
        verdict: 'warn',
        message: `there is no .preview/${name}.sh`,
        remedy: 'penv init',
      })
  return findings.some(({ verdict }) => verdict !== 'ok')
    ? findings
    : [...findings, { area: 'scripts', verdict: 'ok', message: 'the lifecycle scripts are complete' }]
}

export function judgeStack({ blockers, problems, tier, bounded }: Stack): Finding[] {
  return [
    { area: 'stack', verdict: tier.tier === 2 ? 'warn' : 'ok', message: `tier ${tier.tier}: ${tier.reason}` },
    ...blockers.map(
      ({ severity, file, line, message, remedy }): Finding => ({
        area: 'stack',
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
      message: `${name} is ${status}${reason === undefined ? '' : `: ${reason}`}`,
      file: path,
      ...remedy,
    }
  })
}

/** A variable of another worktree in the shell. */
export function judgeShell(sourced: string | undefined, id: string | undefined): Finding[] {
  if (!sourced || sourced === id) return []
  return [
    {
      area: 'environment',
      verdict: 'warn',
      message: `PENV_ID of this shell is ${sourced}, which is not the environment here`,
      remedy: 'unset PENV_ID',
    },
  ]
}
