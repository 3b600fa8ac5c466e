// The one place that prints. stdout is the answer, stderr the story.

import { writeSync } from 'node:fs'
import pc from 'picocolors'
import { PenvError } from './errors.ts'

const color = pc.createColors(pc.isColorSupported && process.stderr.isTTY === true)

/** Writes all of `text`, however slow the reader; a reader that has left ends the process quietly. */
export function printAnswer(text: string): void {
  if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

export function printNote(line: string): void {
  tell(`${color.dim('penv:')} ${line}\n`)
}

export function printError(error: PenvError): void {
  const lines = [`${color.red('penv:')} ${error.message}`, ...error.facts.map(fact => `  ${fact}`)]
  if (error.hint !== undefined) lines.push(`  ${error.hint}`)
  tell(`${lines.join('\n')}\n`)
}

/** The JSON of a failure: the same on every command. */
export function describeError({ code, message, hint, facts, details }: PenvError): unknown {
  return {
    error: {
      code,
      message,
      hint: hint ?? null,
      details: facts.length === 0 ? details : { ...details, facts },
    },
  }
}

export function showScriptOutput(bytes: Uint8Array): void {
  tell(bytes)
}

/** A bug, as far as a person can use it: what to report, without the stack unless it is asked for. */
export function asPenvError(error: unknown, verbose: boolean): PenvError {
  if (error instanceof PenvError) return error
  const shown = error instanceof Error ? error : new Error(String(error))
  return new PenvError({
    code: 'BUG',
    message: `unexpected failure: ${shown.message}`,
    ...(verbose
      ? {
          facts: (shown.stack ?? '')
            .split('\n')
            .slice(1, 4)
            .map(line => line.trim()),
        }
      : { hint: 'To see where, run the command again with --verbose' }),
    details: {},
    cause: error,
  })
}

// Synchronous, so that the story stays in order with what scripts print and is whole when penv exits.
function tell(text: string | Uint8Array): void {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(2, bytes, written)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
    }
  }
}
