import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ended, makeSandbox, waitFor } from '../support/sandbox.ts'

describe('every script', () => {
  it('has the worktree as its directory, an empty stdin, and a log; nothing of it reaches stdout', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\npwd\ncat\necho err >&2\n' })
    const tree = box.worktree('login')
    mkdirSync(join(tree, 'sub'))
    const result = await box.run(['up', '--json'], { cwd: join(tree, 'sub'), input: 'not for the script' })
    expect(result.exit).toBe(0)
    const { id } = result.json() as { id: string }
    expect(readFileSync(join(box.stateDir, 'envs', id, 'logs', 'provision-1.log'), 'utf8')).toBe(
      `${tree}\nerr\n`,
    )
    expect(result.stderr).toContain(`${tree}\nerr\n`)
    expect(result.stdout.trim().split('\n')).toHaveLength(1)
    expect((await box.run(['up', '--quiet'], { cwd: tree })).stderr).toBe('')
  })

  it.each([
    ['without a shebang by /bin/sh', 'echo sh-"$0" > "$HOME/ran"\n', /^sh-/],
    [
      'by the interpreter that it names',
      '#!/usr/bin/env node\nrequire("fs").writeFileSync(process.env.HOME + "/ran", "node")\n',
      /^node$/,
    ],
    [
      'by one with an argument',
      `#!${process.execPath} --no-warnings\nrequire("fs").writeFileSync(process.env.HOME + "/ran", process.execArgv[0])\n`,
      /^--no-warnings$/,
    ],
  ])('runs %s, with or without the executable bit', async (_title, text, expected) => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': text })
    const tree = box.worktree('login')
    for (const mode of [0o644, 0o755]) {
      chmodSync(join(tree, '.preview', 'provision.sh'), mode)
      await box.penv(tree, ['up'], { stderr: 'any' })
      expect(readFileSync(join(box.home, 'ran'), 'utf8').trim()).toMatch(expected)
    }
  })

  it('with CRLF line ends is refused before anything runs', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\ntouch "$HOME/ran"\n', 'seed.sh': '#!/bin/sh\r\ntrue\r\n' })
    const tree = box.worktree('login')
    const result = await box.run(['up', '--seed', '--json'], { cwd: tree })
    expect(result).toMatchObject({ exit: 8, stdout: expect.stringContaining('SCRIPT_UNUSABLE') })
    expect(existsSync(join(box.home, 'ran'))).toBe(false)
  })

  it('is finished when it exits, whatever it left in the background', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\nsleep 300 &\necho $! > "$HOME/pid"\n' })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const pid = Number(readFileSync(join(box.home, 'pid'), 'utf8'))
    expect(() => process.kill(pid, 0)).not.toThrow()
    process.kill(pid, 'SIGKILL')
  })

  it.each([
    ['provision.sh', ['up'], 'PROVISION_FAILED', 8, 'failed'],
    ['seed.sh', ['up', '--seed'], 'SEED_FAILED', 8, 'failed'],
    ['verify.sh', ['verify'], 'VERIFY_FAILED', 1, 'ready'],
    ['down.sh', ['down'], 'DOWN_FAILED', 8, 'ready'],
    ['teardown.sh', ['destroy'], 'TEARDOWN_FAILED', 8, 'teardown-failed'],
    ['bootstrap.sh', ['bootstrap'], 'BOOTSTRAP_FAILED', 8, 'ready'],
  ])(
    '%s that fails has the code, exit and state of the contract',
    async (script, args, code, exit, state) => {
      const box = makeSandbox()
      box.scripts({
        'provision.sh': '#!/bin/sh\npenv env "PORT=$(penv get port web)"\n',
        [script]: '#!/bin/sh\npenv get port web\nexit 7\n',
      })
      const tree = box.worktree('login')
      if (args[0] !== 'up') await box.penv(tree, ['up'], { stderr: 'any' })
      const result = await box.run([...args, '--json'], { cwd: tree })
      const { error } = result.json() as { error: { code: string; details: Record<string, unknown> } }
      expect({ exit: result.exit, code: error.code }).toEqual({ exit, code })
      expect(error.details).toMatchObject({ script, exitCode: 7, signal: null, timedOut: false })
      expect(existsSync(error.details.log as string)).toBe(true)
      const status = (await box.penv(tree, ['status', '--json'])).json() as { state: string; ports: object }
      expect(status).toMatchObject({ state, ports: { web: expect.any(Number) } })
    },
  )

  it('keeps the newest five of its logs', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\n' })
    const tree = box.worktree('login')
    for (let run = 0; run < 7; run++) await box.penv(tree, ['up'], { stderr: 'any' })
    const { logs } = (await box.penv(tree, ['status', '--json'])).json() as { logs: string }
    expect(readdirSync(logs).sort()).toEqual([3, 4, 5, 6, 7].map(number => `provision-${number}.log`))
  })

  it('that takes longer than --timeout has failed, and so has one that a signal ends', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\ntouch "$HOME/started"\nsleep 300\n' })
    const tree = box.worktree('login')
    const late = await box.run(['up', '--timeout', '0.3', '--json'], { cwd: tree })
    expect(late).toMatchObject({ exit: 8, stdout: expect.stringContaining('"timedOut":true') })
    for (const [signal, exit] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
      ['SIGHUP', 129],
    ] as const) {
      const before = box.revisions().length
      const child = box.start(['up', '--json'], { cwd: tree })
      const result = ended(child)
      await waitFor(
        () => box.revisions().length > before && existsSync(join(box.stateDir, 'envs')),
        'the run',
      )
      await waitFor(
        () =>
          readdirSync(join(box.stateDir, 'envs')).some(id =>
            existsSync(join(box.stateDir, 'envs', id, 'script.pid')),
          ),
        'the script',
      )
      child.kill(signal)
      expect(await result).toMatchObject({ exit, stdout: expect.stringContaining('INTERRUPTED') })
    }
    expect((await box.penv(tree, ['status', '--json'])).json()).toMatchObject({ state: 'failed' })
  })
})
