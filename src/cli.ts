// argv to command, and the only place that sets the exit code. Each command's module is loaded when it is called.

import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { COMMANDS, type CommandName, type Options } from './command-table.ts'
import { type Answer, type Flags, gatherContext } from './context.ts'
import { PenvError, usageError } from './errors.ts'
import {
  asPenvError,
  describeError,
  printAnswer,
  printError,
  printJson,
  printNote,
  showScriptOutput,
} from './output.ts'

const COMMON: [flags: string, description: string][] = [
  ['--json', 'print exactly one JSON document on stdout'],
  ['-v, --verbose', 'tell more'],
  ['-q, --quiet', 'tell nothing but errors'],
  ['-f, --force', 'go on where penv would stop to be safe'],
]

type Run = (name: CommandName) => (...args: unknown[]) => Promise<void>

function build(run: Run): Command {
  const program = withCommonFlags(new Command('penv'))
    .description('An isolated preview environment for every git worktree.')
    .version(packageJson.version, '-V, --version', 'print the version')
    .usage('[options] <command>')
    .enablePositionalOptions()
  const get = withCommonFlags(new Command('get')).description(
    'print an allocated value, allocating it first where needed',
  )
  const add = (name: CommandName, words: string, description: string): Command => {
    const parent = name.startsWith('get ') ? get : program
    const command = parent.command(`${name.replace('get ', '')} ${words}`.trim())
    return withCommonFlags(command).description(description).action(run(name))
  }

  add('id', '', 'print the id of this worktree')
  add('is-worktree', '', 'exit 0 in a linked worktree, 1 elsewhere')
  program.addCommand(get)
  addGetOptions(add('get port', '<name...>', 'a port: <name...> [first-last]')).option(
    '--renew',
    'take another value',
  )
  addGetOptions(add('get index', '<name...>', 'an index: <name...> <first-last>'))
    .option('--renew', 'take another value')
    .option('--pool <pool>', 'numbers of another server', requireValue)
  addGetOptions(add('get name', '<suffix...>', '<suffix>_<id>')).option(
    '--style <style>',
    'snake or kebab',
    'snake',
  )
  add('env', '[pairs...]', 'merge KEY=VAL into .env.preview, or print it')
    .option('--unset <key>', 'remove a key', collect)
    .option('--export', 'print export lines for eval')
  add('exec', '<command...>', 'run a command with the variables of .env.preview').passThroughOptions()
  add('up', '', 'provision the environment of this worktree')
    .option('--seed', 'run seed.sh too')
    .option('--no-migrate', 'tell the scripts to leave migrations out')
    .addOption(timeoutOption())
  add('verify', '', 'prove that the environment is isolated').addOption(timeoutOption())
  add('down', '', 'stop what the environment runs').addOption(timeoutOption())
  add('destroy', '[id]', 'tear the environment down and release all that it holds')
    .option('--id <id>', "another environment than this worktree's", requireValue)
    .option('--worktree', 'remove the worktree too')
    .addOption(timeoutOption())
  add('bootstrap', '', 'build the template that new environments are cloned from')
    .option('--drop', 'drop the templates of this repository')
    .addOption(timeoutOption())
  add('status', '', 'show the environment of this worktree')
  add('list', '', 'show all environments of this machine')
  add('doctor', '', 'tell what this repository is made of, and what stands in the way')
  add('init', '', 'write .preview/ scripts from what is here, and wire agents and tools')
    .option('--dry-run', 'print a diff and write nothing')
    .option('--print <file>', 'print one file and write nothing', requireOnce)
    .option('--compose <mode>', 'shared servers, or an own compose project for each environment', requireOnce)
    .option('--agents <names>', 'auto, none, or names of tools to wire', join)
    .option('--uninstall', 'take the wiring out again; scripts stay')
  add('session', '', 'tell an agent about the environment; for hooks')
  return program
}

function addGetOptions(command: Command): Command {
  return command
    .option('--main <value>', 'what to print on the main checkout')
    .option('--export', 'print NAME=value lines for eval')
}

function withCommonFlags(command: Command): Command {
  for (const [flags, description] of COMMON) command.option(flags, description)
  return command
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeErr: () => {}, outputError: () => {} })
}

const timeoutOption = () =>
  new Option('--timeout <seconds>', 'end a script, or the wait for another run, after this long').argParser(
    text => {
      const seconds = Number(text)
      if (!(seconds > 0 && Number.isFinite(seconds)))
        throw new InvalidArgumentError('It is not a number of seconds.')
      return seconds
    },
  )

// A timer above this fires at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The options as given, with a time limit in milliseconds. */
function optionsOf(command: Command): Options {
  const { timeout, ...options } = command.opts<{ timeout?: number }>()
  return timeout === undefined
    ? options
    : { ...options, timeoutMs: Math.min(timeout * 1000, LONGEST_TIMER_MS) }
}

/** A flag counts wherever it stands: before or behind the command's name. */
function readFlags(command: Command): Flags {
  const given = command.optsWithGlobals<Partial<Flags>>()
  return {
    json: given.json === true,
    verbose: given.verbose === true,
    quiet: given.quiet === true,
    force: given.force === true,
  }
}

/** An option without its value would take the next option for it. */
function requireValue(value: string): string {
  if (value.startsWith('-')) throw new InvalidArgumentError('A value is missing.')
  return value
}

/** Of two values that differ nobody knows which one counts. */
function requireOnce(value: string, previous?: string): string {
  if (previous !== undefined && previous !== value)
    throw new InvalidArgumentError(`It is given twice, with ${previous} too.`)
  return requireValue(value)
}

/** Given twice is the same as a list of both. */
function join(value: string, previous?: string): string {
  return previous === undefined ? requireValue(value) : `${previous},${requireValue(value)}`
}

function collect(value: string, previous: string[] = []): string[] {
  return [...previous, requireValue(value)]
}

async function main(argv: readonly string[]): Promise<number> {
  // Known before parsing, so that a usage error is JSON too.
  const wantsJson = readsAsJson(argv)
  const state: { answer?: Answer; flags: Flags } = {
    flags: { json: wantsJson, verbose: false, quiet: false, force: false },
  }
  const program = build(name => async (...args) => {
    const command = args.at(-1) as Command
    const flags = readFlags(command)
    state.flags = flags
    if (process.platform === 'win32')
      throw new PenvError({
        code: 'UNSUPPORTED_PLATFORM',
        message: 'penv runs on Linux and macOS; on Windows it runs inside WSL',
      })
    const tell = {
      note: (line: string) => {
        if (!flags.quiet) printNote(line)
      },
      showOutput: (bytes: Uint8Array) => {
        if (!flags.quiet) showScriptOutput(bytes)
      },
    }
    state.answer = await COMMANDS[name](gatherContext(flags, tell), command.args, optionsOf(command))
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    const { answer } = state
    if (answer === undefined) return 0
    if (state.flags.json && answer.json !== undefined) printJson(answer.json)
    else if (!state.flags.json) printAnswer(answer.text)
    return answer.exit ?? 0
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0
    const error =
      thrown instanceof CommanderError ? asUsageError(thrown) : asPenvError(thrown, state.flags.verbose)
    if (state.flags.json) printJson(describeError(error))
    printError(error)
    return error.exit
  }
}

/** `--json` before the `--` of `exec` or `env`. */
function readsAsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json')
}

function asUsageError(error: CommanderError): PenvError {
  if (error.code === 'commander.help')
    return usageError('no command is given', 'To see the commands, run: penv --help')
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
  const hint = rest
    .map(line => line.trim())
    .find(line => line !== '')
    ?.replace(/^\(|\)$/g, '')
  return usageError(first, hint ?? 'To see the usage, run: penv --help')
}

// A reader that has left is no failure of ours.
process.stdout.on('error', error => {
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit()
  printNote(`the answer could not be written to stdout: ${error.message}`)
  process.exit(70)
})

main(process.argv.slice(2)).then(exit => {
  process.exitCode = exit
})
