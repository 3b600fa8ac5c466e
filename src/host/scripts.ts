// Runs one lifecycle script in a process group of its own, and ends that group on signals and timeouts.
// Output goes to the log file first and is shown from there, so that a background process that outlives the
// script, or penv, never holds a pipe. Nothing here decides what is run.

import { closeSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { execa } from 'execa'
import { parseShebang } from '../core/script-env.ts'
import type { ScriptEnd } from '../core/script-failure.ts'
import { findScriptFlaw, KEEP_LF, SCRIPT_FLAWS } from '../core/script-flaw.ts'
import { PenvError } from '../errors.ts'
import type { Interrupts } from './interrupts.ts'
import { endGroup } from './process-group.ts'
import { readStartTime } from './processes.ts'

const TAIL_MS = 40

// The shell waits for a word from us before it becomes the script: had penv been killed before it wrote down
// the process id, the read fails and the script never runs. Arguments are data, so no text is built.
const WAIT_THEN_BECOME = 'read -r go <&3 || exit 125; exec 3<&- "$@"'

export interface ScriptCall {
  file: string
  args: readonly string[]
  cwd: string
  env: Record<string, string>
  logFile: string
  /** Where the process is written down while it runs, for whoever takes over after a kill. */
  pidFiles: readonly string[]
  /** A person is at the terminal: the script may ask. */
  interactive: boolean
  timeoutMs: number | undefined
  interrupts: Interrupts
  onOutput: (bytes: Uint8Array) => void
}

export async function runScript(call: ScriptCall): Promise<ScriptEnd> {
  const interpreter = parseShebang(readFileSync(call.file, 'utf8'))
  const log = openSync(call.logFile, 'ax', 0o600)
  const tail = followFile(call.logFile, call.onOutput)
  try {
    const child = execa(
      '/bin/sh',
      ['-c', WAIT_THEN_BECOME, 'penv', interpreter.command, ...interpreter.args, call.file, ...call.args],
      {
        cwd: call.cwd,
        env: call.env,
        extendEnv: false,
        detached: true,
        cleanup: false,
        reject: false,
        buffer: false,
        // The types list only small descriptors; any is passed on as it is.
        stdio: [call.interactive ? 'inherit' : 'ignore', log as 3, log as 3, 'pipe'],
      },
    )
    const { pid } = child
    if (pid === undefined) throw (await child).cause ?? new Error('the script could not be started')
    for (const pidFile of call.pidFiles)
      writeFileSync(pidFile, `${pid} ${readStartTime(pid) ?? ''}\n`, { mode: 0o600 })
    const gate = child.stdio[3] as unknown as NodeJS.WritableStream
    gate.on('error', () => {})
    gate.end('go\n')
    return await superviseGroup(pid, call, child)
  } finally {
    closeSync(log)
    tail.finish()
    for (const pidFile of call.pidFiles) rmSync(pidFile, { force: true })
  }
}

async function superviseGroup(
  pid: number,
  call: ScriptCall,
  child: PromiseLike<{ exitCode?: number | undefined; signal?: string | undefined }>,
): Promise<ScriptEnd> {
  let timedOut = false
  let stopping: Promise<void> | undefined
  let hurry = () => {}
  const stop = (signal: NodeJS.Signals) => {
    if (stopping !== undefined) return hurry()
    const skips: (() => void)[] = []
    hurry = () =>
      skips.splice(0).forEach(skip => {
        skip()
      })
    stopping = endGroup(pid, signal, () => new Promise(skip => skips.push(skip)))
  }
  const unlisten = call.interrupts.listen(stop)
  const early = call.interrupts.first()
  if (early !== undefined) stop(early)
  const timer =
    call.timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          timedOut = true
          stop('SIGTERM')
        }, call.timeoutMs)
  try {
    const end = await child
    await stopping
    return { exitCode: end.exitCode, signal: end.signal, timedOut }
  } finally {
    clearTimeout(timer)
    unlisten()
  }
}

/** Shows what is appended to a file until `finish`, which shows the rest. */
function followFile(file: string, onBytes: (bytes: Uint8Array) => void): { finish: () => void } {
  const descriptor = openSync(file, 'r')
  const buffer = Buffer.alloc(65_536)
  const drain = () => {
    for (let count = 1; count > 0; ) {
      count = readSync(descriptor, buffer, 0, buffer.length, null)
      if (count > 0) onBytes(Uint8Array.from(buffer.subarray(0, count)))
    }
  }
  const timer = setInterval(drain, TAIL_MS)
  return {
    finish: () => {
      clearInterval(timer)
      drain()
      closeSync(descriptor)
    },
  }
}

/** Refuses scripts that their interpreter would not read as they are meant. Called before anything runs. */
export function requireReadableScripts(files: readonly string[]): void {
  for (const file of files) {
    const flaw = findScriptFlaw(readFileSync(file, 'utf8'))
    if (flaw === undefined) continue
    throw new PenvError({
      code: 'SCRIPT_UNUSABLE',
      message: `${file} ${SCRIPT_FLAWS[flaw]}; nothing was run`,
      ...(flaw === 'crlf' ? { hint: `To keep git from converting it, run: ${KEEP_LF}` } : {}),
      details: { script: file },
    })
  }
}
