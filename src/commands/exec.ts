// `penv exec -- command`: runs a command with the variables of `.env.preview`. Exit codes follow env(1): 125 for
// penv's own failure, 126 found but not executable, 127 not found, else the command's.

import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import type { Answer, Context } from '../context.ts'
import { findStamp, readEnvVariables } from '../core/env-file.ts'
import { PenvError } from '../errors.ts'
import { readEnvFile } from '../host/env-file.ts'
import { requireEnvironment } from '../host/environments.ts'
import { errnoOf } from '../host/errno.ts'
import { ENV_FILE_NAME } from '../host/paths.ts'

const OWN_FAILURE = 125

export async function exec(context: Context, command: readonly string[]): Promise<Answer> {
  try {
    const variables = await readOwnVariables(context)
    return { json: undefined, text: '', exit: await runCommand(context, command, variables) }
  } catch (error) {
    if (!(error instanceof PenvError) || error.code === 'USAGE') throw error
    const { code, message, facts, hint, details } = error
    throw new PenvError({
      code,
      message,
      facts,
      ...(hint === undefined ? {} : { hint }),
      details,
      exit: OWN_FAILURE,
      cause: error,
    })
  }
}

async function readOwnVariables(context: Context): Promise<Map<string, string>> {
  const { id, root } = await requireEnvironment(context, 'run a command in the environment')
  const file = join(root, ENV_FILE_NAME)
  const text = readEnvFile(file)
  if (text === undefined)
    throw new PenvError({
      code: 'ENV_FILE',
      message: `${id} has no ${ENV_FILE_NAME}`,
      hint: 'To make it, run: penv up',
      details: { path: file },
    })
  const stamp = findStamp(text)
  if (stamp !== undefined && stamp !== id)
    throw new PenvError({
      code: 'ENV_FOREIGN',
      message: `${file} belongs to ${stamp}, not to ${id}`,
      hint: 'To start it afresh, run: penv up',
      details: { path: file, stamp },
    })
  return readEnvVariables(text)
}

function runCommand(
  context: Context,
  command: readonly string[],
  variables: ReadonlyMap<string, string>,
): Promise<number> {
  const [file = '', ...args] = command
  return new Promise(done => {
    const child = spawn(file, args, {
      stdio: 'inherit',
      cwd: context.cwd,
      env: { ...context.env, ...Object.fromEntries(variables) },
    })
    // A terminal's Ctrl-C reaches the command by itself; what is sent to penv alone is passed on.
    const forward = (signal: NodeJS.Signals) => child.kill(signal)
    const ignore = () => {}
    process.on('SIGINT', ignore)
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, forward)
    const finish = (code: number) => {
      process.off('SIGINT', ignore)
      for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.off(signal, forward)
      done(code)
    }
    child.on('error', error => {
      context.note(
        `cannot run "${file}": ${errnoOf(error) === 'ENOENT' ? 'it was not found' : errnoOf(error)}`,
      )
      finish(errnoOf(error) === 'ENOENT' ? 127 : 126)
    })
    child.on('exit', (code, signal) =>
      finish(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    )
  })
}
