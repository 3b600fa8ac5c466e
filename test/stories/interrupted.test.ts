// Signals: the whole group of a script ends, the state says failed, the allocations stay, and the next run goes on.

import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { isAlive, pause, pidOf, release, say, statusOf, storyOf } from '../support/lifecycle.ts'
import { ended, makeSandbox, waitFor } from '../support/sandbox.ts'

const SIGNALS: [signal: NodeJS.Signals, exit: number][] = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
]

// A shell's background jobs ignore INT, so that Ctrl-C alone never reaches the sleeper.
const SLEEPING = `#!/bin/sh
set -eu
penv get port web >/dev/null
sleep 100 &
${say('sleeper $!')}${say('script $$')}wait
`

describe('a signal to penv', () => {
  it.each(SIGNALS)(
    '%s ends the script with its background children, and penv exits %i',
    async (signal, exit) => {
      const box = makeSandbox()
      box.scripts({ 'provision.sh': SLEEPING, 'teardown.sh': `#!/bin/sh\n${say('torn down')}` })
      const tree = box.worktree('login')
      const child = box.start(['up', '--json'], { cwd: tree })
      const end = ended(child)
      const [sleeper, script] = [await pidOf(box, 'sleeper'), await pidOf(box, 'script')]
      child.kill(signal)
      const result = await end
      expect(result).toMatchObject({ exit, signal: null })
      expect(JSON.parse(result.stdout)).toMatchObject({ error: { code: 'INTERRUPTED', details: { signal } } })
      expect([isAlive(sleeper), isAlive(script)]).toEqual([false, false])
      const status = await statusOf(box, tree)
      expect(status).toMatchObject({
        state: 'failed',
        run: null,
        ports: { web: expect.any(Number) },
        lastRun: { ok: false, error: { code: 'INTERRUPTED' } },
      })
      expect((await box.penv(tree, ['get', 'port', 'web'])).stdout).toBe(`${status.ports.web}\n`)
      await box.penv(tree, ['destroy'], { stderr: /teardown/ })
      expect(storyOf(box).at(-1)).toBe('torn down')
    },
  )

  it.each(['verify', 'down', 'destroy', 'bootstrap'])('ends a script of %s too', async command => {
    const box = makeSandbox()
    const script = { destroy: 'teardown' }[command] ?? command
    box.scripts({ 'provision.sh': '#!/bin/sh\n', [`${script}.sh`]: `#!/bin/sh\n${pause('script')}` })
    const tree = box.worktree('login')
    await box.penv(tree, ['up', '--no-migrate'], { stderr: 'any' })
    const child = box.start([command], { cwd: tree })
    const end = ended(child)
    const pid = await pidOf(box, 'script')
    child.kill('SIGTERM')
    expect((await end).exit).toBe(143)
    expect(isAlive(pid)).toBe(false)
    const { state, run } = await statusOf(box, tree)
    expect({ state, run }).toEqual({ state: command === 'destroy' ? 'teardown-failed' : 'ready', run: null })
    release(box, 'script')
    await box.penv(tree, [command], { stderr: 'any' })
  })

  it('is answered by the script in its own way first: an INT trap may clean up', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\ntrap '${say('cleaned').trim()}; exit 3' INT\n${pause('script')}`,
    })
    const tree = box.worktree('login')
    const child = box.start(['up'], { cwd: tree })
    const end = ended(child)
    await pidOf(box, 'script')
    child.kill('SIGINT')
    expect((await end).exit).toBe(130)
    expect(storyOf(box).at(-1)).toBe('cleaned')
  })

  it('given again shortens the grace, until nothing is left', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\ntrap '${say('int').trim()}' INT\ntrap '${say('term').trim()}' TERM\n${say('script $$')}while :; do sleep 0.02; done\n`,
    })
    const tree = box.worktree('login')
    const child = box.start(['up'], { cwd: tree })
    const end = ended(child)
    const script = await pidOf(box, 'script')
    const startedAt = Date.now()
    child.kill('SIGINT')
    await waitFor(() => storyOf(box).includes('int'), 'the trap of INT')
    child.kill('SIGINT')
    await waitFor(() => storyOf(box).includes('term'), 'the trap of TERM')
    child.kill('SIGTERM')
    expect((await end).exit).toBe(130)
    expect(isAlive(script)).toBe(false)
    // Both graces would be ten seconds.
    expect(Date.now() - startedAt).toBeLessThan(8000)
  })

  it('stops the sequence: seed.sh does not run behind an interrupted provision.sh that exits 0', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\ntrap 'exit 0' INT TERM\n${pause('script')}`,
      'seed.sh': `#!/bin/sh\n${say('seeded')}`,
    })
    const tree = box.worktree('login')
    const child = box.start(['up', '--seed'], { cwd: tree })
    const end = ended(child)
    await pidOf(box, 'script')
    child.kill('SIGINT')
    expect((await end).exit).toBe(130)
    expect(storyOf(box)).not.toContain('seeded')
  })

  it('does not keep a waiting penv from ending, nor disturb the run it waits for', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': `#!/bin/sh\n${pause('script')}` })
    const tree = box.worktree('login')
    const first = ended(box.start(['up'], { cwd: tree }))
    await pidOf(box, 'script')
    const second = box.start(['up'], { cwd: tree })
    const waited = ended(second)
    await new Promise(done => second.stderr?.once('data', done))
    second.kill('SIGINT')
    const { exit, signal } = await waited
    expect(signal ?? exit).toBe('SIGINT')
    release(box, 'script')
    expect((await first).exit).toBe(0)
    expect((await statusOf(box, tree)).state).toBe('ready')
  })
})

describe('a time limit', () => {
  it('ends the group of the script that takes longer, and says which', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': SLEEPING })
    const tree = box.worktree('login')
    const result = await box.run(['up', '--timeout', '0.6', '--json'], { cwd: tree })
    expect(result.exit).toBe(8)
    expect(result.json()).toMatchObject({
      error: { code: 'PROVISION_FAILED', details: { timedOut: true, script: 'provision.sh' } },
    })
    expect(isAlive(await pidOf(box, 'sleeper'))).toBe(false)
    expect((await statusOf(box, tree)).state).toBe('failed')
  })

  it.each(['0', '-1', 'abc', '', 'NaN', 'Infinity', '1e400'])('refuses "%s" as one', async seconds => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\n' })
    const tree = box.worktree('login')
    const { exit } = await box.run(['up', '--timeout', seconds], { cwd: tree })
    expect(exit).toBe(2)
    expect(box.ledger().environments).toEqual({})
  })

  it('may be longer than any timer of the system', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': `#!/bin/sh\nsleep 0.1\n` })
    const tree = box.worktree('login')
    await box.penv(tree, ['up', '--timeout', '99999999'], { stderr: /^penv: running [^\n]*\n$/ })
  })
})

describe('a person at the terminal', () => {
  const script = spawnSync('script', ['--version'], { encoding: 'utf8' })
  // util-linux's; that of macOS and BSD has other options.
  const hasScript = script.stdout?.includes('util-linux') === true
  const note = hasScript ? '' : ' (not run: it takes util-linux’s script)'

  it.runIf(hasScript)(`may answer a script that asks${note}`, () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\nprintf 'sure? ' >&2\nread -r answer\n${say('answer $answer')}`,
    })
    const tree = box.worktree('login')
    const { status } = spawnSync('script', ['-qec', 'penv up', '/dev/null'], {
      cwd: tree,
      env: box.env,
      input: 'yes\n',
      encoding: 'utf8',
    })
    expect(status).toBe(0)
    expect(storyOf(box)).toEqual(['answer yes'])
  })

  it.runIf(hasScript)(`is not asked when the answer is to be JSON${note}`, () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': `#!/bin/sh\nread -r answer || ${say('nobody')}` })
    const tree = box.worktree('login')
    spawnSync('script', ['-qec', 'penv up --json', '/dev/null'], {
      cwd: tree,
      env: box.env,
      input: 'yes\n',
      encoding: 'utf8',
    })
    expect(storyOf(box)).toEqual(['nobody'])
  })
})
