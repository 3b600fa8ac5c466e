// An environment is worked on by one run at a time: others join, wait or are refused.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorOf, isAlive, pause, pidOf, release, say, statusOf, storyOf } from '../support/lifecycle.ts'
import { ended, makeSandbox, waitFor } from '../support/sandbox.ts'

const PAUSING = `#!/bin/sh\nset -eu\npenv get port web >/dev/null\n${pause('provision')}${say('provisioned')}`

describe('two runs of one environment', () => {
  it('join when both are up: the scripts run once, and both get the result', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PAUSING })
    const tree = box.worktree('login')
    const first = ended(box.start(['up', '--json'], { cwd: tree }))
    await pidOf(box, 'provision')
    const second = box.start(['up', '--json'], { cwd: tree })
    const told = ended(second)
    let story = ''
    second.stderr?.on('data', chunk => {
      story += chunk
    })
    await waitFor(() => story.includes('waiting for "penv up"'), 'the note of the second')
    release(box, 'provision')
    const [a, b] = await Promise.all([first, told])
    expect([a.exit, b.exit]).toEqual([0, 0])
    const [answerA, answerB] = [JSON.parse(a.stdout), JSON.parse(b.stdout)]
    expect(answerB).toEqual({ ...answerA, joined: true })
    expect(storyOf(box).filter(line => line === 'provisioned')).toHaveLength(1)
  })

  it('join in failure too, with the code and the exit status of the script', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': `#!/bin/sh\n${pause('provision')}exit 7\n` })
    const tree = box.worktree('login')
    const runs = [ended(box.start(['up', '--json'], { cwd: tree }))]
    await pidOf(box, 'provision')
    for (let more = 0; more < 3; more++) {
      const child = box.start(['up', '--json'], { cwd: tree })
      runs.push(ended(child))
      await new Promise(done => child.stderr?.once('data', done))
    }
    release(box, 'provision')
    for (const { exit, stdout } of await Promise.all(runs)) {
      expect(exit).toBe(8)
      expect(errorOf(stdout)).toMatchObject({ code: 'PROVISION_FAILED', details: { exitCode: 7 } })
    }
    expect(storyOf(box)).toHaveLength(1)
  })

  it('do not join when they ask for different things', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PAUSING, 'seed.sh': `#!/bin/sh\n${say('seeded')}` })
    const tree = box.worktree('login')
    const plain = ended(box.start(['up'], { cwd: tree }))
    await pidOf(box, 'provision')
    const seeding = box.start(['up', '--seed', '--json'], { cwd: tree })
    const seeded = ended(seeding)
    await new Promise(done => seeding.stderr?.once('data', done))
    release(box, 'provision')
    expect((await plain).exit).toBe(0)
    expect(JSON.parse((await seeded).stdout)).toMatchObject({ joined: false, state: 'ready' })
    expect(storyOf(box).filter(line => line === 'provisioned')).toHaveLength(2)
    expect(storyOf(box).at(-1)).toBe('seeded')
  })

  it('are worked on one after the other: a verify waits for the up before it', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PAUSING, 'verify.sh': `#!/bin/sh\n${say('verified')}` })
    const tree = box.worktree('login')
    const up = ended(box.start(['up'], { cwd: tree }))
    await pidOf(box, 'provision')
    const verifying = box.start(['verify'], { cwd: tree })
    const verified = ended(verifying)
    await new Promise(done => verifying.stderr?.once('data', done))
    release(box, 'provision')
    expect((await up).exit).toBe(0)
    expect((await verified).exit).toBe(0)
    expect(storyOf(box).slice(1)).toEqual(['provisioned', 'verified'])
  })

  it('gives up waiting after --timeout, and names who holds the environment', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PAUSING })
    const tree = box.worktree('login')
    const first = box.start(['up'], { cwd: tree })
    await pidOf(box, 'provision')
    const result = await box.run(['destroy', '--timeout', '0.1', '--json'], { cwd: tree })
    expect(result.exit).toBe(11)
    expect(errorOf(result.stdout)).toMatchObject({
      code: 'BUSY',
      details: { command: 'up', pid: first.pid },
    })
    release(box, 'provision')
    expect((await ended(first)).exit).toBe(0)
    expect((await statusOf(box, tree)).state).toBe('ready')
  })

  it('does not hand the result of an interrupted up to the one that waited for it', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PAUSING })
    const tree = box.worktree('login')
    const first = box.start(['up'], { cwd: tree })
    const interrupted = ended(first)
    await pidOf(box, 'provision')
    const second = box.start(['up', '--json'], { cwd: tree })
    const waited = ended(second)
    await new Promise(done => second.stderr?.once('data', done))
    first.kill('SIGINT')
    expect((await interrupted).exit).toBe(130)
    await pidOf(box, 'provision', 2)
    release(box, 'provision')
    const { exit, stdout } = await waited
    expect(exit).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ state: 'ready', joined: false })
  })

  it('destroys once when several destroy at once, and all say so', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\nset -eu\npenv get port web >/dev/null\n`,
      'teardown.sh': `#!/bin/sh\n${say('torn down')}`,
    })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const all = await Promise.all(
      Array.from({ length: 8 }, () => box.run(['destroy', '--json'], { cwd: tree })),
    )
    expect(all.map(({ exit, stderr }) => (exit === 0 ? 0 : stderr))).toEqual(Array(8).fill(0))
    expect(storyOf(box)).toEqual(['torn down'])
    expect(box.ledger().environments).toEqual({})
  })

  it.each(['verify', 'down'])(
    'does not bring an environment back to life when %s waited for its destroy',
    async command => {
      const box = makeSandbox()
      box.scripts({
        'provision.sh': '#!/bin/sh\n',
        'down.sh': '#!/bin/sh\n',
        'teardown.sh': `#!/bin/sh\n${pause('teardown')}`,
      })
      const tree = box.worktree('login')
      await box.penv(tree, ['up'], { stderr: 'any' })
      const destroying = ended(box.start(['destroy'], { cwd: tree }))
      await pidOf(box, 'teardown')
      const waiting = box.start([command, '--json'], { cwd: tree })
      const waited = ended(waiting)
      await new Promise(done => waiting.stderr?.once('data', done))
      release(box, 'teardown')
      expect((await destroying).exit).toBe(0)
      const { exit, stdout } = await waited
      expect(exit).toBe(5)
      expect(errorOf(stdout).code).toBe('NO_ENVIRONMENT')
      expect(box.ledger().environments).toEqual({})
    },
  )
})

describe('a run inside a run of the same environment', () => {
  const CALLS: [title: string, call: string][] = [
    ['up', 'penv up --json'],
    ['verify', 'penv verify --json'],
    ['down', 'penv down --json'],
    ['destroy', 'penv destroy --json'],
    ['destroy by id', 'penv destroy --json "$PENV_ID"'],
    ['bootstrap', 'penv bootstrap --json'],
    ['up through another directory', 'cd / && cd "$PENV_ROOT/.preview" && penv up --json'],
    ['up through a symlink', 'ln -s "$PENV_ROOT" "$HOME/l" && cd "$HOME/l" && penv up --json'],
    ['up without the variables of the run', 'env -u PENV_RUN -u PENV_ID penv up --json'],
    ['up in a session of its own', 'setsid -w penv up --json'],
    ['up by another shell', 'sh -c "sh -c \\"penv up --json\\""'],
  ]
  it.each(CALLS)('is refused at once: %s', async (_title, call) => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\nset -eu\npenv get port web >/dev/null\nif (${call}) > "$HOME/nested.json" 2>/dev/null; then exit 1; else ${say('refused $?').trim()}; fi\n`,
      'bootstrap.sh': '#!/bin/sh\n',
    })
    const tree = box.worktree('login')
    await box.penv(tree, ['up', '--no-migrate'], { stderr: 'any' })
    expect(storyOf(box)).toEqual(['refused 11'])
    expect(errorOf(readFileSync(join(box.home, 'nested.json'), 'utf8'))).toMatchObject({
      code: 'BUSY',
      details: { command: 'up' },
    })
    expect((await statusOf(box, tree)).state).toBe('ready')
  })

  it('is refused when it comes back by way of another environment', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh
set -eu
other=$(cat "$PENV_ROOT/other" 2>/dev/null) || exit 0
cd "$other"
status=0
penv up --json > "$HOME/\${PENV_ID%_*}.json" 2>/dev/null || status=$?
${say('${PENV_ID%_*} got $status')}`,
    })
    const [a, b] = [box.worktree('aa'), box.worktree('bb')]
    box.write(a, { other: `${b}\n` })
    box.write(b, { other: `${a}\n` })
    await box.penv(a, ['up'], { stderr: 'any' })
    expect(storyOf(box)).toEqual(['bb got 11', 'aa got 0'])
    expect((await statusOf(box, b)).state).toBe('ready')
  })
})

describe('a run whose penv was killed', () => {
  it('is taken over: its script is ended before the next one starts', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\nset -eu\npenv get port web >/dev/null\n${say('start $$')}trap '${say('term $$').trim()}; exit 1' TERM\n${pause('provision')}${say('end $$')}`,
    })
    const tree = box.worktree('login')
    const first = box.start(['up'], { cwd: tree })
    const gone = ended(first)
    const script = await pidOf(box, 'provision')
    first.kill('SIGKILL')
    await gone
    expect(isAlive(script)).toBe(true)
    const before = await statusOf(box, tree)
    expect(before).toMatchObject({ state: 'failed', run: null })
    const second = box.start(['up'], { cwd: tree })
    const done = ended(second)
    const next = await pidOf(box, 'provision', 2)
    expect(isAlive(script)).toBe(false)
    release(box, 'provision')
    const { exit, stderr } = await done
    expect({ exit, stderr }).toMatchObject({ exit: 0, stderr: expect.stringContaining('had left running') })
    expect(storyOf(box)).toEqual([
      `start ${script}`,
      `provision ${script}`,
      `term ${script}`,
      `start ${next}`,
      `provision ${next}`,
      `end ${next}`,
    ])
    const after = await statusOf(box, tree)
    expect(after).toMatchObject({ state: 'ready', ports: before.ports })
  })

  it('leaves nothing of the script running, children that ignore TERM included', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\nsh -c 'trap "" TERM; ${say('child $$').trim()}; while :; do sleep 0.05; done' &\n${say('provision $$')}wait\n`,
      'teardown.sh': `#!/bin/sh\n${say('teardown')}`,
    })
    const tree = box.worktree('login')
    const first = box.start(['up'], { cwd: tree })
    const gone = ended(first)
    const [script, child] = [await pidOf(box, 'provision'), await pidOf(box, 'child')]
    first.kill('SIGKILL')
    await gone
    await box.penv(tree, ['destroy'], { stderr: /had left running/ })
    expect([isAlive(script), isAlive(child)]).toEqual([false, false])
    expect(storyOf(box).at(-1)).toBe('teardown')
    expect(box.ledger().environments).toEqual({})
  })

  it('never lets two scripts work at once, however many come to take it over', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\nset -eu\npenv get port web >/dev/null\nmkdir "$HOME/inside" || { ${say('two at once').trim()}; exit 9; }\ntrap 'rmdir "$HOME/inside"' EXIT\ntrap 'exit 1' TERM\n${pause('provision')}`,
    })
    const tree = box.worktree('login')
    const first = box.start(['up'], { cwd: tree })
    const gone = ended(first)
    await pidOf(box, 'provision')
    first.kill('SIGKILL')
    await gone
    const others = Array.from({ length: 5 }, () => ended(box.start(['up', '--json'], { cwd: tree })))
    await pidOf(box, 'provision', 2)
    release(box, 'provision')
    const results = await Promise.all(others)
    expect(results.map(({ exit, stderr }) => (exit === 0 ? 0 : stderr))).toEqual(Array(5).fill(0))
    expect(storyOf(box)).not.toContain('two at once')
  })
})
