// The text of what `penv init` did or would do: one line a file, then what is left to a person, then the next commands.
import { quoteForShell } from '../shell-words.ts'
import type { WiringChange } from '../wiring.ts'
import type { FileAction } from './init-plan.ts'

export interface InitReport {
  /** Undefined when wiring is only taken out. */
  readonly servers: { readonly mode: string; readonly reason: string } | undefined
  /** Paths relative to the root. */
  readonly files: readonly { readonly path: string; readonly action: FileAction }[]
  /** Only those that were changed. */
  readonly wired: readonly WiringChange[]
  readonly questions: readonly string[]
  readonly isUninstall: boolean
  /** A linked worktree, where the scripts can be tried at once. */
  readonly isWorktree: boolean
  /** Name of the root's directory. */
  readonly project: string
}

const FILE_WORDS: Readonly<Record<FileAction, string>> = {
  create: 'wrote',
  update: 'replaced',
  delete: 'removed',
  keep: 'kept',
  current: 'already',
}
const WORD_WIDTH = 9

export function describeInit(report: InitReport): string {
  const { servers, files, wired, questions, isUninstall } = report
  const lines = [
    ...(servers === undefined ? [] : [`servers: ${servers.mode}, because ${servers.reason}`]),
    ...files.map(
      ({ path, action }) =>
        `${FILE_WORDS[action].padEnd(WORD_WIDTH)}${path}${action === 'keep' ? ' (differs; --force replaces it)' : ''}`,
    ),
    ...wired.map(change => wiringLine(change, isUninstall)),
  ]
  if (isUninstall) return lines.length > 0 ? lines.join('\n') : 'nothing of penv is wired here'
  if (questions.length > 0)
    lines.push(
      '',
      `${questions.length} left to a person, marked "# QUESTION:" in .preview/:`,
      ...questions.map(question => `  ${question}`),
    )
  const next = nextSteps(report)
  return [...lines, ...(next.length > 0 ? ['', ...next] : [])].join('\n')
}

function wiringLine({ action, path, name }: WiringChange, isUninstall: boolean): string {
  const word = action === 'delete' ? 'removed' : isUninstall ? 'restored' : 'wired'
  return `${word.padEnd(WORD_WIDTH)}${path} (${name})`
}

function nextSteps({ files, wired, questions, isWorktree, project }: InitReport): string[] {
  const isChanged = wired.length > 0 || files.some(({ action }) => action !== 'current' && action !== 'keep')
  if (questions.length > 0) return ['  To see what else is left after the answers, run: penv doctor']
  if (!isChanged) return []
  const paths = ['.preview', ...wired.map(({ path }) => quoteForShell(path))]
  const second = quoteForShell(`../${project}-second`)
  return [
    `  To keep it, run: git add ${[...new Set(paths)].join(' ')} && git commit -m "Add preview environments"`,
    isWorktree
      ? '  To try it, run: penv up && penv verify'
      : `  To try it, run: git worktree add ${second} -b second && cd ${second} && penv up`,
  ]
}
