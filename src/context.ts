// What a command starts from, gathered once: directory, environment, state directory, this program, and how
// to tell the story. With cli.ts the only reader of process.env and process.cwd().

import { dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { PenvError } from './errors.ts'
import { findRealPath, findStateDirectory, type Here } from './host/paths.ts'

export interface Flags {
  json: boolean
  verbose: boolean
  quiet: boolean
  force: boolean
}

export interface Context extends Here {
  flags: Flags
  /** The file of this program. */
  program: string
  /** The adapters that are shipped with it. */
  shippedAdapters: string
  /** A person is at the terminal, so that a script may ask. */
  interactive: boolean
  /** One line of the story, for stderr. */
  note: (line: string) => void
  /** Output of a lifecycle script, for stderr. */
  showOutput: (bytes: Uint8Array) => void
}

/** What an answer is made of: one value, in two renderings. */
export interface Answer {
  json: unknown
  /** Empty prints nothing. */
  text: string
  exit?: number
}

export function gatherContext(flags: Flags, tell: Pick<Context, 'note' | 'showOutput'>): Context {
  const program = findRealPath(process.argv[1] ?? '') ?? process.argv[1] ?? ''
  const env = process.env
  return {
    flags,
    // Both are looked up when a command needs them: `list` works in a directory that is gone, and `session`
    // can say in one line what is wrong.
    get cwd() {
      return findWorkingDirectory()
    },
    get stateDir() {
      return findStateDirectory(env)
    },
    env,
    program,
    shippedAdapters: join(dirname(program), '..', 'contract', 'adapters'),
    // Not process.stdin: its mere mention makes a pipe non-blocking, also for the commands that inherit it.
    interactive: isatty(0) && isatty(2) && !flags.json,
    ...tell,
  }
}

function findWorkingDirectory(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new PenvError({
      code: 'GIT_FAILED',
      message: 'git has no answer: the current directory does not exist any more',
      hint: 'To go on, run: cd <a directory that exists>',
      cause,
    })
  }
}

/** The answer of a command that has nothing to do here. */
export function skip(context: Context, reason: string): Answer {
  context.note(`nothing to do: ${reason}`)
  return { json: { skipped: true, reason }, text: '' }
}
