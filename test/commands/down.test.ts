// `penv down`: what is stopped and what stays.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorOf, isAlive, pidOf, say, statusOf, storyOf } from '../support/lifecycle.ts'
import { makeSandbox } from '../support/sandbox.ts'

const PROVISION = '#!/bin/sh\nset -eu\nport=$(penv get port web)\npenv env "PORT=$port"\n'

describe('down', () => {
  it('stops what down.sh stops, and keeps state, values and data; up goes on from there', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `${PROVISION}sleep 100 &\necho $! > "$PENV_DATA/pid"\n${say('server $!')}`,
      'down.sh':
        '#!/bin/sh\nset -eu\n[ ! -e "$PENV_DATA/pid" ] || kill "$(cat "$PENV_DATA/pid")"\nrm -f "$PENV_DATA/pid"\n',
    })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const before = await statusOf(box, tree)
    const server = await pidOf(box, 'server')
    expect(isAlive(server)).toBe(true)
    expect((await box.penv(tree, ['down'], { stderr: /running/ })).stdout).toBe(`${before.id} is down\n`)
    expect(isAlive(server)).toBe(false)
    expect(await statusOf(box, tree)).toMatchObject({
      state: 'ready',
      ports: before.ports,
      lastRun: { command: 'down', ok: true },
    })
    // Twice is once.
    expect((await box.penv(tree, ['down', '--json'], { stderr: 'any' })).json()).toEqual({
      id: before.id,
      ran: true,
    })
    await box.penv(tree, ['up'], { stderr: 'any' })
    expect((await statusOf(box, tree)).ports).toEqual(before.ports)
    expect(isAlive(await pidOf(box, 'server', 2))).toBe(true)
  })

  it('has nothing to do without a down.sh, or where the environment never was', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PROVISION })
    const tree = box.worktree('login')
    expect((await box.penv(tree, ['down', '--json'], { stderr: /has never been up/ })).json()).toMatchObject({
      skipped: true,
    })
    expect(box.revisions()).toEqual([])
    await box.penv(tree, ['up'], { stderr: 'any' })
    const { stdout } = await box.penv(tree, ['down', '--json'], { stderr: /down.sh does not exist/ })
    expect(JSON.parse(stdout)).toMatchObject({ ran: false })
  })

  it('fails as DOWN_FAILED, and changes nothing', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PROVISION, 'down.sh': '#!/bin/sh\nexit 4\n' })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const result = await box.run(['down', '--json'], { cwd: tree })
    expect(result.exit).toBe(8)
    expect(errorOf(result.stdout)).toMatchObject({ code: 'DOWN_FAILED', details: { exitCode: 4 } })
    expect(await statusOf(box, tree)).toMatchObject({ state: 'ready', ports: { web: expect.any(Number) } })
  })

  it('runs the kept script where the branch of the moment has none', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PROVISION, 'down.sh': `#!/bin/sh\n${say('down')}` })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    rmSync(join(tree, '.preview'), { recursive: true })
    await box.penv(tree, ['down'], { stderr: 'any' })
    expect(storyOf(box)).toEqual(['down'])
  })
})

describe('list', () => {
  it('shows which command is running now', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\npenv list --json > "$HOME/list.json"\n${say('$(grep -c \'"running":"up"\' "$HOME/list.json")')}`,
    })
    await box.penv(box.worktree('login'), ['up'], { stderr: 'any' })
    expect(storyOf(box)).toEqual(['1'])
  })
})
