// What doctor says of the state directory. Pure: facts in, findings out, each with its remedy.
import type { Verdict } from '../verify-checks.ts'
import type { Finding } from './finding.ts'

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
