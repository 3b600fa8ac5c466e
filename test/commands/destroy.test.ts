// `penv destroy`: flush before release, from the worktree or without it, and nothing of anybody else.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorOf, say, statusOf, storyOf } from '../support/lifecycle.ts'
import { findMountObstacle } from '../support/mount.ts'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'

const PROVISION = `#!/bin/sh
set -eu
port=$(penv get port web)
index=$(penv get index redis 1-1)
name=$(penv get name db)
penv env "PORT=$port" "REDIS_INDEX=$index" "DATABASE=$name"
: > "$PENV_DATA/notes"
`
const TEARDOWN = `#!/bin/sh\nset -eu\n. "$PENV_ROOT/.env.preview"\n${say('flushed $REDIS_INDEX dropped $DATABASE')}`

async function upWith(
  box: Sandbox,
  scripts: Record<string, string>,
  name = 'login',
): Promise<[tree: string, id: string]> {
  if (!existsSync(join(box.main, '.preview'))) box.scripts({ 'provision.sh': PROVISION, ...scripts })
  const tree = box.worktree(name)
  await box.penv(tree, ['up'], { stderr: 'any' })
  return [tree, (await box.penv(tree, ['id'])).stdout.trim()]
}

/** Nothing of the environment is left: record, files, marker. */
function expectGone(box: Sandbox, tree: string, id: string): void {
  expect(Object.keys(box.ledger().environments)).not.toContain(id)
  expect(existsSync(join(tree, '.env.preview'))).toBe(false)
  expect(existsSync(join(box.stateDir, 'envs', id))).toBe(false)
  const gitDir = /gitdir: (.*)/.exec(existsSync(tree) ? readFileSync(join(tree, '.git'), 'utf8') : '')?.[1]
  const markers = gitDir === undefined ? [] : readdirSync(gitDir).filter(name => name.startsWith('penv'))
  expect(markers).toEqual([])
}

describe('destroy', () => {
  it('tears down, then removes every file, the marker and the record', async () => {
    const box = makeSandbox()
    const [tree, id] = await upWith(box, { 'teardown.sh': TEARDOWN })
    expect((await box.penv(tree, ['destroy', '--json'], { stderr: /teardown/ })).json()).toEqual({
      id,
      destroyed: true,
      leftBehind: [],
    })
    expect(storyOf(box)).toEqual([`flushed 1 dropped db_${id}`])
    expectGone(box, tree, id)
    expect(box.git(tree, 'status', '--porcelain')).toBe('')
  })

  const NOTHING: [title: string, prepare: (box: Sandbox, tree: string) => void][] = [
    ['never was up', () => {}],
    ['has no scripts', (_box, tree) => rmSync(join(tree, '.preview'), { recursive: true })],
    [
      'holds somebody else’s copy of .env.preview',
      (box, tree) => box.write(tree, { '.env.preview': 'PENV_ID=other_abc123\nREDIS_INDEX=1\n' }),
    ],
  ]
  it.each(NOTHING)(
    'says that there is nothing where the worktree %s, and touches nothing',
    async (_title, prepare) => {
      const box = makeSandbox()
      box.scripts({ 'provision.sh': PROVISION, 'teardown.sh': TEARDOWN })
      const tree = box.worktree('login')
      prepare(box, tree)
      const before = box.git(tree, 'status', '--porcelain', '--ignored')
      for (const args of [['destroy'], ['destroy', '--force']]) {
        const { stdout, stderr } = await box.penv(tree, args, { stderr: /nothing to destroy/ })
        expect(stdout + stderr).not.toMatch(/is destroyed/)
      }
      expect((await box.penv(tree, ['destroy', '--json'], { stderr: 'any' })).json()).toMatchObject({
        skipped: true,
        reason: expect.stringContaining('holds nothing'),
      })
      expect(storyOf(box)).toEqual([])
      expect(box.git(tree, 'status', '--porcelain', '--ignored')).toBe(before)
    },
  )

  it('releases what was only allocated, without scripts', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'index', 'redis', '7-7'])
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    await box.penv(tree, ['destroy'])
    expectGone(box, tree, id)
    const other = box.worktree('other')
    expect((await box.penv(other, ['get', 'index', 'redis', '7-7'])).stdout).toBe('7\n')
  })

  it('keeps every slot when teardown.sh fails, until a rerun succeeds', async () => {
    const box = makeSandbox()
    const [tree, id] = await upWith(box, {
      'teardown.sh': `#!/bin/sh\n${say('dropped')}[ -e "$HOME/fixed" ] || exit 23\n${say('flushed')}`,
    })
    const failed = await box.run(['destroy', '--json'], { cwd: tree })
    expect(failed.exit).toBe(8)
    expect(errorOf(failed.stdout)).toMatchObject({
      code: 'TEARDOWN_FAILED',
      details: { exitCode: 23, state: 'teardown-failed', id },
    })
    expect(await statusOf(box, tree)).toMatchObject({ state: 'teardown-failed', indexes: { redis: 1 } })
    expect(existsSync(join(tree, '.env.preview'))).toBe(true)
    expect(readdirSync(join(box.stateDir, 'envs', id, 'data'))).toEqual(['notes'])
    const other = box.worktree('other')
    const exhausted = await box.run(['get', 'index', 'redis', '1-1', '--json'], { cwd: other })
    expect(exhausted.exit).toBe(6)
    expect(errorOf(exhausted.stdout)).toMatchObject({ details: { holders: [{ id, root: tree }] } })
    box.write(box.home, { fixed: '' })
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(storyOf(box)).toEqual(['dropped', 'dropped', 'flushed'])
    expectGone(box, tree, id)
    expect((await box.penv(other, ['get', 'index', 'redis', '1-1'])).stdout).toBe('1\n')
  })

  it('releases with --force, and names every name, index and port that it leaves behind', async () => {
    const box = makeSandbox()
    const [tree, id] = await upWith(box, { 'teardown.sh': '#!/bin/sh\nexit 1\n' })
    const { ports } = await statusOf(box, tree)
    const { stdout, stderr } = await box.penv(tree, ['destroy', '--force', '--json'], {
      stderr: /left behind/,
    })
    const leftBehind = [`name db_${id}`, 'index 1 (redis)', `port ${ports.web} (web)`]
    expect(JSON.parse(stdout)).toEqual({ id, destroyed: true, leftBehind })
    for (const line of leftBehind) expect(stderr).toContain(line)
    expectGone(box, tree, id)
  })

  const UNUSABLE: [title: string, spoil: (box: Sandbox, tree: string) => void][] = [
    [
      'teardown.sh has CRLF',
      (box, tree) => box.write(tree, { '.preview/teardown.sh': '#!/bin/sh\r\nexit 0\r\n' }),
    ],
    [
      '.env.preview is a directory',
      (_box, tree) => {
        rmSync(join(tree, '.env.preview'))
        mkdirSync(join(tree, '.env.preview'))
      },
    ],
    [
      '.env.preview is no text',
      (_box, tree) => writeFileSync(join(tree, '.env.preview'), Buffer.from([0x50, 0xff, 0xfe])),
    ],
  ]
  it.each(UNUSABLE)('keeps the slots when %s, and goes on with --force', async (_title, spoil) => {
    const box = makeSandbox()
    const [tree] = await upWith(box, { 'teardown.sh': TEARDOWN })
    spoil(box, tree)
    const failed = await box.run(['destroy', '--json'], { cwd: tree })
    expect([8, 9]).toContain(failed.exit)
    expect(await box.run(['list', '--json'])).toMatchObject({
      stdout: expect.stringContaining('"state":"teardown-failed"'),
    })
    await box.penv(tree, ['destroy', '--force'], { stderr: /left behind: index 1/ })
    expect(box.ledger().environments).toEqual({})
  })

  it('uses the snapshot’s teardown.sh where the branch of the moment has none', async () => {
    const box = makeSandbox()
    const [tree, id] = await upWith(box, { 'teardown.sh': TEARDOWN })
    rmSync(join(tree, '.preview', 'teardown.sh'))
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(storyOf(box)).toEqual([`flushed 1 dropped db_${id}`])
    expectGone(box, tree, id)
  })

  it('uses the snapshot where the branch of the moment has no scripts at all', async () => {
    const box = makeSandbox()
    const [tree, id] = await upWith(box, { 'teardown.sh': TEARDOWN })
    rmSync(join(tree, '.preview'), { recursive: true })
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(storyOf(box)).toEqual([`flushed 1 dropped db_${id}`])
    expectGone(box, tree, id)
  })

  it('goes by the worktree’s own teardown.sh where that was changed since up', async () => {
    const box = makeSandbox()
    const [tree] = await upWith(box, { 'teardown.sh': TEARDOWN })
    box.write(tree, { '.preview/teardown.sh': `#!/bin/sh\n${say('new')}` })
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(storyOf(box)).toEqual(['new'])
  })

  it('acts on another environment by its id, from anywhere, and on no other', async () => {
    const box = makeSandbox()
    const [a, idA] = await upWith(box, {
      'provision.sh': PROVISION.replace('1-1', '1-2'),
      'teardown.sh': TEARDOWN,
    })
    const [b, idB] = await upWith(box, {}, 'cart')
    for (const args of [
      ['destroy', idA, '--json'],
      ['destroy', '--id', idB, '--json'],
    ]) {
      const { stdout } = await box.run(args, { cwd: b, env: { PENV_ID: idB, REDIS_INDEX: '99' } })
      expect(JSON.parse(stdout)).toMatchObject({ destroyed: true })
    }
    expect(storyOf(box)).toEqual([`flushed 1 dropped db_${idA}`, `flushed 2 dropped db_${idB}`])
    expectGone(box, a, idA)
    expectGone(box, b, idB)
  })

  const IDS: [args: string[], exit: number][] = [
    [['destroy', '--id', '../victim/rec'], 5],
    [['destroy', '../../etc'], 5],
    [['destroy', '__proto__'], 5],
    [['destroy', 'constructor'], 5],
    [['destroy', '--id'], 2],
    [['destroy', '--id', ''], 2],
    [['destroy', ''], 2],
    [['destroy', 'a', 'b'], 2],
    [['destroy', 'a', '--id', 'b'], 2],
    [['destroy', '--bogus'], 2],
  ]
  it.each(IDS)('touches nothing when the id is wrong: %j', async (args, exit) => {
    const box = makeSandbox()
    const [tree] = await upWith(box, { 'teardown.sh': TEARDOWN })
    const before = box.revisions()
    const result = await box.run([...args, '--json'], { cwd: tree })
    expect(result.exit).toBe(exit)
    expect(errorOf(result.stdout).code).toBe(exit === 2 ? 'USAGE' : 'NO_ENVIRONMENT')
    expect(box.revisions()).toEqual(before)
    expect(storyOf(box)).toEqual([])
  })
})

describe('destroy --worktree', () => {
  it('removes the worktree too, from inside it', async () => {
    const box = makeSandbox()
    const [tree, id] = await upWith(box, { 'teardown.sh': TEARDOWN })
    mkdirSync(join(tree, 'sub'))
    await box.penv(join(tree, 'sub'), ['destroy', '--worktree'], { stderr: 'any' })
    expect(existsSync(tree)).toBe(false)
    expect(box.git(box.main, 'worktree', 'list', '--porcelain')).not.toContain(tree)
    expectGone(box, tree, id)
  })

  it('removes it by id, from the main checkout', async () => {
    const box = makeSandbox()
    const [tree, id] = await upWith(box, { 'teardown.sh': TEARDOWN })
    await box.penv(box.main, ['destroy', id, '--worktree'], { stderr: 'any' })
    expect(existsSync(tree)).toBe(false)
    expectGone(box, tree, id)
  })

  it('removes one that holds nothing', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['destroy', '--worktree'], { stderr: /its worktree is removed/ })
    expect(existsSync(tree)).toBe(false)
  })

  const WORK: [title: string, work: (box: Sandbox, tree: string) => void][] = [
    ['an untracked file', (box, tree) => box.write(tree, { 'new.txt': 'x' })],
    ['a changed file', (box, tree) => box.write(tree, { '.preview/provision.sh': '#!/bin/sh\n# changed\n' })],
    [
      'a staged file',
      (box, tree) => {
        box.write(tree, { 'new.txt': 'x' })
        box.git(tree, 'add', 'new.txt')
      },
    ],
  ]
  it.each(WORK)(
    'refuses before anything is torn down when it would lose %s, unless forced',
    async (_title, work) => {
      const box = makeSandbox()
      const [tree, id] = await upWith(box, { 'teardown.sh': TEARDOWN })
      work(box, tree)
      const refused = await box.run(['destroy', '--worktree', '--json'], { cwd: tree })
      expect(refused.exit).toBe(1)
      expect(errorOf(refused.stdout)).toMatchObject({ code: 'WORKTREE_DIRTY' })
      expect(storyOf(box)).toEqual([])
      expect((await statusOf(box, tree)).state).toBe('ready')
      await box.penv(tree, ['destroy', '--worktree', '--force'], { stderr: 'any' })
      expect(existsSync(tree)).toBe(false)
      expectGone(box, tree, id)
    },
  )

  it('refuses to lose the work of a worktree that was moved by hand', async () => {
    const box = makeSandbox()
    const [tree] = await upWith(box, { 'teardown.sh': TEARDOWN })
    const moved = join(box.root, 'moved')
    renameSync(tree, moved)
    box.write(moved, { 'new.txt': 'x' })
    expect((await box.run(['destroy', '--worktree'], { cwd: moved })).exit).toBe(1)
    expect(readFileSync(join(moved, 'new.txt'), 'utf8')).toBe('x')
  })

  it('keeps the worktree when teardown fails', async () => {
    const box = makeSandbox()
    const [tree] = await upWith(box, { 'teardown.sh': '#!/bin/sh\nexit 1\n' })
    expect((await box.run(['destroy', '--worktree'], { cwd: tree })).exit).toBe(8)
    expect(existsSync(tree)).toBe(true)
  })

  it('says what is done and what is not, when git will not remove it', async () => {
    const box = makeSandbox()
    const [tree, id] = await upWith(box, { 'teardown.sh': TEARDOWN })
    box.git(box.main, 'worktree', 'lock', tree)
    const result = await box.run(['destroy', '--worktree', '--json'], { cwd: tree })
    expect(result.exit).toBe(8)
    expect(errorOf(result.stdout)).toMatchObject({
      code: 'WORKTREE_NOT_REMOVED',
      message: expect.stringContaining('locked'),
    })
    expectGone(box, tree, id)
    expect(existsSync(tree)).toBe(true)
  })
})

describe('a destroy that cannot remove the data', () => {
  const isRoot = process.getuid?.() === 0
  const obstacle = isRoot ? findMountObstacle() : undefined
  const note = obstacle === undefined ? '' : ` (not run: ${obstacle})`

  it.runIf(obstacle === undefined)(
    `keeps the slots, and goes on without a second teardown${note}`,
    async () => {
      const box = makeSandbox()
      const [tree, id] = await upWith(box, { 'teardown.sh': TEARDOWN })
      const data = join(box.stateDir, 'envs', id, 'data')
      // Root is stopped by a busy mount only.
      mkdirSync(join(data, 'busy'))
      if (isRoot) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', join(data, 'busy')])
      else chmodSync(data, 0o500)
      try {
        const result = await box.run(['destroy', '--json'], { cwd: tree })
        expect(result.exit).toBe(7)
        expect(errorOf(result.stdout)).toMatchObject({
          code: 'STATE_UNWRITABLE',
          details: { state: 'teardown-failed' },
        })
        expect(Object.keys(box.ledger().environments)).toEqual([id])
      } finally {
        if (isRoot) execFileSync('umount', [join(data, 'busy')])
        else chmodSync(data, 0o700)
      }
      await box.penv(tree, ['destroy'])
      expect(storyOf(box)).toHaveLength(1)
      expectGone(box, tree, id)
    },
  )
})
