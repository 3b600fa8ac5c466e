// Small real scripts for lifecycle tests, and what the tests ask about their processes. Scripts tell their story in
// a log below HOME; they wait for a file in place of a time, so that a test decides when they go on.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type Sandbox, waitFor } from './sandbox.ts'

/** A line of sh that appends to the log of the test. */
export function say(words: string): string {
  return `echo "${words}" >> "$HOME/story.log"\n`
}

/** Lines of sh that say `name pid` and wait until the test calls `release`. */
export function pause(name: string): string {
  return `${say(`${name} $$`)}while [ ! -e "$HOME/release-${name}" ]; do sleep 0.02; done\n`
}

export function release(box: Sandbox, name: string): void {
  writeFileSync(join(box.home, `release-${name}`), '')
}

/** What the scripts have said so far. */
export function storyOf(box: Sandbox): string[] {
  const file = join(box.home, 'story.log')
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
}

/** Waits for `name pid` in the story; its process does not outlive the test. */
export async function pidOf(box: Sandbox, name: string, nth = 1): Promise<number> {
  const lines = () => storyOf(box).filter(line => line.startsWith(`${name} `))
  await waitFor(() => lines().length >= nth, `"${name}" in the story`)
  const pid = Number(lines()[nth - 1]?.split(' ')[1])
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  return pid
}

/** Whether a process runs; one of which only the exit status is left does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  if (process.platform !== 'linux') return true
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

export interface Status {
  id: string
  state: string
  ports: Record<string, number>
  indexes: Record<string, number>
  names: Record<string, string>
  run: { command: string; pid: number } | null
  lastRun: { command: string; ok: boolean; error: { code: string } | null } | null
}

export async function statusOf(box: Sandbox, tree: string): Promise<Status> {
  const result = await box.run(['status', '--json'], { cwd: tree })
  expect(result.exit, result.stderr).toBe(0)
  return result.json() as Status
}

/** The error of a failed call with `--json`. */
export function errorOf(stdout: string): {
  code: string
  message: string
  hint: string | null
  details: Record<string, unknown>
} {
  return (JSON.parse(stdout) as { error: ReturnType<typeof errorOf> }).error
}
