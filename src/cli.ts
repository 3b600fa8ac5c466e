// argv to command, and the only place that sets the exit code. Each command's module is loaded when it is called.

import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { type Answer, type Context, type Flags, gatherContext } from './context.ts'
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

type Action = (context: Context, command: Command) => Promise<Answer>

const COMMON: [flags: string, description: string][] = [
  ['--json', 'print exactly one JSON document on stdout'],
  ['-v, --verbose', 'tell more'],
  ['-q, --quiet', 'tell nothing but errors'],
  ['-f, --force', 'go on where penv would stop to be safe'],
]

function build(run: (action: Action) => (...args: unknown[]) => Promise<void>): Command {
  const program = withCommonFlags(new Command('penv'))
    .description('An isolated preview environment for every git worktree.')
    .version(packageJson.version, '-V, --version', 'print the version')
    .usage('[options] <command>')
    .enablePositionalOptions()

  add(
    program,
    'id',
    'print the id of this worktree',
    run(async context => (await import('./commands/id.ts')).id(context)),
  )
  add(
    program,
    'is-worktree',
    'exit 0 in a linked worktree, 1 elsewhere',
    run(async context => (await import('./commands/is-worktree.ts')).isWorktree(context)),
  )

  const get = withCommonFlags(program.command('get')).description(
    'print an allocated value, allocating it first where needed',
  )
  const withGetOptions = (command: Command) =>
    command
      .addOption(new Option('--main <value>', 'what to print on the main checkout'))
      .addOption(new Option('--export', 'print NAME=value lines for eval'))
  withGetOptions(
    add(
      get,
      'port <name...>',
      'a port: <name...> [first-last]',
      run(async (context, command) =>
        (await import('./commands/get.ts')).getPort(context, command.args, command.opts()),
      ),
    ),
  ).option('--renew', 'take another value')
  withGetOptions(
    add(
      get,
      'index <name...>',
      'an index: <name...> <first-last>',
      run(async (context, command) =>
        (await import('./commands/get.ts')).getIndex(context, command.args, command.opts()),
      ),
    ),
  )
    .option('--renew', 'take another value')
    .option('--pool <pool>', 'numbers of another server', requireValue)
  withGetOptions(
    add(
      get,
      'name <suffix...>',
      '<suffix>_<id>',
      run(async (context, command) =>
        (await import('./commands/get.ts')).getName(context, command.args, command.opts()),
      ),
    ),
  ).option('--style <style>', 'snake or kebab', 'snake')

  add(
    program,
    'env [pairs...]',
    'merge KEY=VAL into .env.preview, or print it',
    run(async (context, command) =>
      (await import('./commands/env.ts')).env(context, command.args, command.opts()),
    ),
  )
    .option('--unset <key>', 'remove a key', collect)
    .option('--export', 'print export lines for eval')
  add(
    program,
    'exec <command...>',
    'run a command with the variables of .env.preview',
    run(async (context, command) => (await import('./commands/exec.ts')).exec(context, command.args)),
  ).passThroughOptions()
  add(
    program,
    'up',
    'provision the environment of this worktree',
    run(async (context, command) => (await import('./commands/up.ts')).up(context, optionsOf(command))),
  )
    .option('--seed', 'run seed.sh too')
    .option('--no-migrate', 'tell the scripts to leave migrations out')
    .addOption(timeoutOption())
  add(
    program,
    'verify',
    'prove that the environment is isolated',
    run(async (context, command) =>
      (await import('./commands/verify.ts')).verify(context, optionsOf(command)),
    ),
  ).addOption(timeoutOption())
  add(
    program,
    'down',
    'stop what the environment runs',
    run(async (context, command) => (await import('./commands/down.ts')).down(context, optionsOf(command))),
  ).addOption(timeoutOption())
  add(
    program,
    'destroy [id]',
    'tear the environment down and release all that it holds',
    run(async (context, command) =>
      (await import('./commands/destroy.ts')).destroy(context, {
        ...optionsOf(command),
        id: chooseId(command),
      }),
    ),
  )
    .option('--id <id>', "another environment than this worktree's", requireValue)
    .option('--worktree', 'remove the worktree too')
    .addOption(timeoutOption())
  add(
    program,
    'bootstrap',
    'build the template that new environments are cloned from',
    run(async (context, command) =>
      (await import('./commands/bootstrap.ts')).bootstrap(context, optionsOf(command)),
    ),
  )
    .option('--drop', 'drop the templates of this repository')
    .addOption(timeoutOption())
  add(
    program,
    'status',
    'show the environment of this worktree',
    run(async context => (await import('./commands/status.ts')).status(context)),
  )
  add(
    program,
    'list',
    'show all environments of this machine',
    run(async context => (await import('./commands/list.ts')).list(context)),
  )
  add(
    program,
    'doctor',
    'tell what this repository is made of, and what stands in the way',
    run(async context => (await import('./commands/doctor.ts')).doctor(context)),
  )
  add(
    program,
    'init',
    'write .preview/ scripts from what is here, and wire agents and tools',
    run(async (context, command) => (await import('./commands/init.ts')).init(context, command.opts())),
  )
    .option('--dry-run', 'print a diff and write nothing')
    .option('--print <file>', 'print one file and write nothing', requireValue)
    .option(
      '--compose <mode>',
      'shared servers, or an own compose project for each environment',
      requireValue,
    )
    .option('--agents <names>', 'auto, none, or names of tools to wire', requireValue)
    .option('--uninstall', 'take the wiring out again; scripts stay')
  add(
    program,
    'session',
    'tell an agent about the environment; for hooks',
    run(async context => (await import('./commands/session.ts')).session(context)),
  )
  return program
}

function add(
  parent: Command,
  name: string,
  description: string,
  action: (...args: unknown[]) => Promise<void>,
): Command {
  return withCommonFlags(parent.command(name)).description(description).action(action)
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

/** The options of a lifecycle command, with its time limit in milliseconds. */
function optionsOf(command: Command) {
  const options = command.opts<{ timeout?: number }>()
  return {
    ...options,
    timeoutMs: options.timeout === undefined ? undefined : Math.min(options.timeout * 1000, LONGEST_TIMER_MS),
  }
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

function collect(value: string, previous: string[] = []): string[] {
  return [...previous, requireValue(value)]
}

function chooseId(command: Command): string | undefined {
  const [word] = command.args
  const { id } = command.opts<{ id?: string }>()
  if (word !== undefined && id !== undefined) throw usageError(`two ids are given: "${word}" and "${id}"`)
  const chosen = word ?? id
  if (chosen === '') throw usageError('the id is empty', 'To see the ids, run: penv list')
  return chosen
}

async function main(argv: readonly string[]): Promise<number> {
  // Known before parsing, so that a usage error is JSON too.
  const wantsJson = readsAsJson(argv)
  const state: { answer?: Answer; flags: Flags } = {
    flags: { json: wantsJson, verbose: false, quiet: false, force: false },
  }
  const program = build(action => async (...args) => {
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
    state.answer = await action(gatherContext(flags, tell), command)
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
