// What a lock must never do: a run that is recorded of a process that is gone, or of a pid that belongs to
// somebody else by now, holds nothing up; one that is alive is waited for, and named when the wait is over.

import { spawn } from 'node:child_process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type EnvironmentRecord, type Run, withRecord } from '../../src/core/ledger.ts'
import { changeLedger } from '../../src/host/ledger-files.ts'
import { identifySelf, readStartTime } from '../../src/host/processes.ts'
import { makeSandbox, type Sandbox, waitFor } from '../support/sandbox.ts'

function startSleeper(): number {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child.pid as number
}

/** A worktree whose ledger says that `run` goes on. */
async function makeBusy(run: Partial<Run>): Promise<{ box: Sandbox; tree: string }> {
  const box = makeSandbox()
  box.scripts({ 'provision.sh': '#!/bin/sh\nset -eu\nport=$(penv get port web)\npenv env "PORT=$port"\n' })
  const tree = box.worktree('login')
  await box.penv(tree, ['get', 'port', 'web'])
  const recorded: Run = {
    ...identifySelf(),
    token: 'f'.repeat(24),
    command: 'up',
    flags: '',
    since: '2026-01-01T00:00:00.000Z',
    ...run,
  }
  await changeLedger(box.stateDir, ledger => {
    const [record] = Object.values(ledger.environments) as [EnvironmentRecord]
    return {
      ledger: withRecord(ledger, { ...record, state: 'provisioning', run: recorded }),
      value: undefined,
    }
  })
  return { box, tree }
}

async function makeDeadPid(): Promise<number> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  const pid = child.pid as number
  child.kill('SIGKILL')
  await waitFor(() => readStartTime(pid) === undefined, 'the end of the process')
  return pid
}

describe('a recorded run', () => {
  it.each<[string, () => Partial<Run> | Promise<Partial<Run>>]>([
    ['of a process that is gone', async () => ({ pid: await makeDeadPid(), startTime: '12345' })],
    ['of a pid that was given to another process', () => ({ pid: startSleeper(), startTime: '1' })],
    ['of this pid before this machine was started again', () => ({ pid: startSleeper(), bootId: 'another' })],
  ])('%s is taken over at once', async (_, runOf) => {
    const { box, tree } = await makeBusy(await runOf())
    await box.penv(tree, ['up', '--quiet'])
    expect((await box.penv(tree, ['status', '--json'])).json()).toMatchObject({ state: 'ready', run: null })
  })

  it.each<[string, (pid: number) => Partial<Run>]>([
    ['of a process that is alive', pid => ({ pid, startTime: readStartTime(pid) as string })],
    [
      'of another machine, of which nothing can be known',
      pid => ({ pid, host: 'elsewhere', bootId: 'another' }),
    ],
    ['of a container, whose pids are others', pid => ({ pid, pidNamespace: 'pid:[1]' })],
  ])('%s is waited for, then named, and stays', async (_, runOf) => {
    const pid = startSleeper()
    const { box, tree } = await makeBusy(runOf(pid))
    const before = box.revisions()
    const failed = await box.penv(tree, ['up', '--timeout', '0.3', '--json'], {
      exit: 11,
      stderr: /waiting for/,
    })
    expect(failed.json()).toMatchObject({ error: { code: 'BUSY', details: { pid, command: 'up' } } })
    expect(box.revisions()).toEqual(before)
    // Values are no part of the run: they are served, and new ones are allocated.
    for (const name of ['web', 'new']) await box.penv(tree, ['get', 'port', name])
  })

  it('of which nothing can be known is taken over with --force, one that is alive is not', async () => {
    const unknown = await makeBusy({ pid: startSleeper(), host: 'elsewhere', bootId: 'another' })
    await unknown.box.penv(unknown.tree, ['up', '--quiet', '--force'])
    const pid = startSleeper()
    const alive = await makeBusy({ pid, startTime: readStartTime(pid) as string })
    await alive.box.penv(alive.tree, ['up', '--quiet', '--force', '--timeout', '0.3'], {
      exit: 11,
      stderr: /./,
    })
  })
})
