// Ends the process group of a lifecycle script: signals, graces, and the leftovers of a killed penv. Never signals a
// process that it cannot tell by its start time or that it did not start.

import { readFileSync, rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { isGroupAlive, readStartTime } from './processes.ts'

/** How long a script may take to end after each signal. */
const GRACE_MS = 5000
const GROUP_POLL_MS = 20

/** The signal itself, then TERM, then KILL, each after a grace that another signal cuts short. */
export async function endGroup(
  pid: number,
  signal: NodeJS.Signals,
  skipped: () => Promise<void>,
): Promise<void> {
  const sequence = [...new Set<NodeJS.Signals>([signal, 'SIGTERM', 'SIGKILL'])]
  for (const next of sequence) {
    if (!isGroupAlive(pid) || !signalGroup(pid, next)) return
    // The leader may be gone while its children ignore INT, as background jobs of a shell do: no grace for those.
    const isLeaderGone = () => next === 'SIGINT' && readStartTime(pid) === undefined
    const deadline = Date.now() + GRACE_MS
    const skip = skipped().then(() => true)
    while (Date.now() < deadline && isGroupAlive(pid) && !isLeaderGone())
      if (await Promise.race([skip, delay(GROUP_POLL_MS, false)])) break
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

/** Ends the script that a killed penv left running, so that two of them never work on one environment. */
export async function endLeftoverScript(pidFile: string): Promise<boolean> {
  let text: string
  try {
    text = readFileSync(pidFile, 'utf8')
  } catch {
    return false
  }
  const [pid, startTime] = splitOnce(text.trim())
  const isRunning = startTime !== '' && readStartTime(Number(pid)) === startTime
  if (isRunning) await endGroup(Number(pid), 'SIGTERM', () => new Promise(() => {}))
  rmSync(pidFile, { force: true })
  return isRunning
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf(' ')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
