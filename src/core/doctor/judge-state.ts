// What doctor says of the state directory and of the ledger in it. Pure: facts in, findings out, each with its remedy.
import { quoteForShell } from '../shell-words.ts'
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

const ON_A_LOCAL_DISK = { remedy: 'name another one: export PENV_HOME=<a directory on a local disk>' }

export function judgeState(facts: StateFacts): Finding[] {
  const { directory } = facts
  const say = (
    verdict: Finding['verdict'],
    message: string,
    more: Pick<Finding, 'code' | 'remedy' | 'run'> = {},
  ): Finding => ({ area: 'state', verdict, message, file: directory, ...more })
  const cannot = facts.exists ? 'written' : 'made'
  const findings = [
    ...(facts.unwritable === undefined
      ? []
      : [
          say('fail', `the state directory cannot be ${cannot}: ${facts.unwritable}`, {
            code: 'STATE_UNWRITABLE',
            ...ON_A_LOCAL_DISK,
          }),
        ]),
    ...(facts.networkFileSystem === undefined
      ? []
      : [
          say(
            'warn',
            `the state directory ${directory} lies on ${facts.networkFileSystem}, where other machines may see the same ledger`,
            { code: 'STATE_ON_NETWORK', ...ON_A_LOCAL_DISK },
          ),
        ]),
    ...(facts.exists ? judgeOwner(facts, say) : []),
    ...facts.strangers.map(name =>
      say('warn', `${name} is not penv's and is ignored`, { code: 'STATE_STRANGER' }),
    ),
    ...facts.foreignFiles.map(path =>
      say('warn', `${path} belongs to another user`, {
        code: 'STATE_FOREIGN',
        run: `sudo chown -R "$(id -u)" ${quoteForShell(directory)}`,
      }),
    ),
  ]
  if (findings.length > 0) return findings
  return facts.exists
    ? [say('ok', `the state directory is sound (${facts.revisions} revisions of the ledger)`)]
    : [say('ok', 'the state directory will be made on first use')]
}

function judgeOwner(
  { isOwnedByUs, mode, directory }: StateFacts,
  say: (verdict: Finding['verdict'], message: string, more: Pick<Finding, 'remedy' | 'run'>) => Finding,
): Finding[] {
  if (!isOwnedByUs)
    return [
      say('warn', `the state directory ${directory} belongs to another user`, {
        remedy: 'name another one: export PENV_HOME=<a directory of this user>',
      }),
    ]
  if (mode === undefined || (mode & 0o077) === 0) return []
  return [
    say('warn', `the state directory ${directory} is open to others (mode ${mode.toString(8)})`, {
      run: `chmod 700 ${quoteForShell(directory)}`,
    }),
  ]
}
