// The text of what `penv init` did: one line a file, then what is left to a person, then the next commands.
import { quoteForShell } from '../shell-words.ts'
import { wrapText } from '../table.ts'
import type { WiringChange } from '../wiring.ts'
import type { FileAction } from './init-plan.ts'

export interface InitReport {
  readonly servers: { readonly mode: string; readonly reason: string }
  /** Paths relative to the root. */
  readonly files: readonly { readonly path: string; readonly action: FileAction; readonly reason?: string }[]
  /** Only those that were changed. */
  readonly wired: readonly WiringChange[]
  readonly questions: readonly string[]
  /** A linked worktree, where the scripts can be tried at once. */
  readonly isWorktree: boolean
  readonly root: string
  /** Where init was called: the root or a directory below it. */
  readonly cwd: string
}

const WIDTH = 80
const WORD_WIDTH = 9
const FILE_WORDS: Readonly<Record<FileAction, string>> = {
  create: 'wrote',
  update: 'replaced',
  delete: 'removed',
  keep: 'kept',
  current: 'current',
}

export function describeInit(report: InitReport): string {
  const { servers, files, wired, questions } = report
  const lines = [
    wrapText(`servers: ${servers.mode}, because ${servers.reason}`, '', '  ', WIDTH),
    ...files.map(({ path, action, reason }) => {
      const why = action === 'keep' ? ` (${reason ?? 'differs; --force replaces it'})` : ''
      return `${FILE_WORDS[action].padEnd(WORD_WIDTH)}${path}${why}`
    }),
    ...wired.map(({ path, name }) => `${'wired'.padEnd(WORD_WIDTH)}${path} (${name})`),
  ]
  if (questions.length > 0)
    lines.push(
      '',
      `${questions.length} left to a person, marked "# QUESTION:" in .preview/:`,
      ...questions.map(question => wrapText(question, '  ', '    ', WIDTH)),
    )
  const next = nextSteps(report)
  return [...lines, ...(next.length > 0 ? ['', ...next] : [])].join('\n')
}

export interface UninstallReport {
  readonly changed: readonly WiringChange[]
  /** How many files could not be looked into. */
  readonly kept: number
  /** Those that were asked for; empty for all. */
  readonly names: readonly string[]
  /** Path of the scripts, which stay; undefined where there are none. */
  readonly scripts: string | undefined
}

export function describeUninstall({ changed, kept, names, scripts }: UninstallReport): string {
  const what = names.length === 0 ? 'penv' : names.join(' or ')
  const lines = changed.map(
    ({ path, name, action }) =>
      `${(action === 'delete' ? 'removed' : 'restored').padEnd(WORD_WIDTH)}${path} (${name})`,
  )
  if (lines.length === 0) lines.push(`nothing ${kept > 0 ? 'else ' : ''}of ${what} is wired here`)
  if (scripts !== undefined)
    lines.push('', `  To remove the lifecycle scripts too, run: rm -r ${quoteForShell(scripts)}`)
  return lines.join('\n')
}

function nextSteps({ files, wired, questions, isWorktree, root, cwd }: InitReport): string[] {
  const isChanged = wired.length > 0 || files.some(({ action }) => action !== 'current' && action !== 'keep')
  if (questions.length > 0) return ['  To see what else is left after the answers, run: penv doctor']
  if (!isChanged) return []
  const there = cwd === root ? '' : `cd ${quoteForShell(root)} && `
  const paths = ['.preview', ...wired.map(({ path }) => quoteForShell(path))]
  const second = quoteForShell(`../${root.split('/').at(-1)}-second`)
  return [
    `  To keep it, run: ${there}git add ${[...new Set(paths)].join(' ')} && git commit -m "Add preview environments"`,
    isWorktree
      ? '  To try it, run: penv up && penv verify'
      : `  To try it, run: ${there}git worktree add ${second} -b second && cd ${second} && penv up`,
  ]
}
