// Promise 3: slots become free only after teardown has succeeded, whatever became of the worktree and however the
// destroy before was killed.

import { existsSync, readdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pause, pidOf, release, say, statusOf, storyOf } from '../support/lifecycle.ts'
import { ended, makeSandbox, type Sandbox } from '../support/sandbox.ts'

const PROVISION = `#!/bin/sh
set -eu
index=$(penv get index redis 1-9)
penv env "REDIS_URL=redis://127.0.0.1:6379/$index"
mkdir -p "$HOME/redis/$index"
: > "$HOME/redis/$index/key"
`
// Flushes what the file says, as a script with redis-cli -u "$REDIS_URL" does.
const TEARDOWN = `#!/bin/sh
set -eu
. "$PENV_ROOT/.env.preview"
rm -rf "$HOME/redis/\${REDIS_URL##*/}/key"
${say('flushed ${REDIS_URL##*/} branch=$PENV_BRANCH gone=$PENV_GONE index=$(penv get index redis) id=$(penv id)')}`

const SCRIPTS = { 'provision.sh': PROVISION, 'teardown.sh': TEARDOWN }

async function upIn(box: Sandbox, tree: string): Promise<string> {
  await box.penv(tree, ['up'], { stderr: 'any' })
  return (await box.penv(tree, ['id'])).stdout.trim()
}

const keysOf = (box: Sandbox, index: number) => readdirSync(join(box.home, 'redis', String(index)))

describe('teardown outlives the worktree', () => {
  const WAYS: [title: string, remove: (box: Sandbox, tree: string) => void][] = [
    ['rm -rf', (_box, tree) => rmSync(tree, { recursive: true })],
    [
      'rm -rf and prune',
      (box, tree) => {
        rmSync(tree, { recursive: true })
        box.git(box.main, 'worktree', 'prune')
      },
    ],
    ['git worktree remove', (box, tree) => box.git(box.main, 'worktree', 'remove', '--force', tree)],
    [
      'removal of its private git directory',
      (box, tree) => rmSync(box.git(tree, 'rev-parse', '--git-dir').trim(), { recursive: true }),
    ],
    [
      'removal of the whole repository',
      (box, tree) => {
        rmSync(tree, { recursive: true })
        rmSync(box.main, { recursive: true })
      },
    ],
    [
      'a plain folder in its place',
      (box, tree) => {
        rmSync(tree, { recursive: true })
        box.write(tree, {
          '.env.preview': 'REDIS_URL=redis://127.0.0.1:6379/0\n',
          '.preview/teardown.sh': '#!/bin/sh\nexit 1\n',
        })
      },
    ],
    [
      'another repository in its place',
      (box, tree) => {
        rmSync(tree, { recursive: true })
        box.git(box.root, 'init', '--quiet', tree)
      },
    ],
  ]
  it.each(WAYS)(
    'and flushes the index of its own file, then releases it, after %s',
    async (_title, remove) => {
      const box = makeSandbox()
      box.scripts(SCRIPTS)
      const tree = box.worktree('login', 'feat/login')
      const id = await upIn(box, tree)
      remove(box, tree)
      await box.penv(box.home, ['destroy', id], { stderr: 'any' })
      expect(storyOf(box)).toEqual([`flushed 1 branch=feat/login gone=1 index=1 id=${id}`])
      expect(keysOf(box, 1)).toEqual([])
      expect(box.ledger().environments).toEqual({})
      expect(existsSync(join(box.stateDir, 'envs', id))).toBe(false)
    },
  )

  it('says so in the folder that git has forgotten, and how to go on', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    await upIn(box, tree)
    rmSync(box.git(tree, 'rev-parse', '--git-dir').trim(), { recursive: true })
    for (const command of ['destroy', 'up', 'verify', 'down', 'status']) {
      const { exit, stderr } = await box.run([command], { cwd: tree })
      expect(exit).toBe(4)
      expect(stderr).toMatch(/git no longer knows this folder[\s\S]*run: penv list/)
    }
    expect(storyOf(box)).toEqual([])
    expect(Object.keys(box.ledger().environments)).toHaveLength(1)
  })

  it('removes the file that it wrote from a folder that git has forgotten', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    const id = await upIn(box, tree)
    rmSync(box.git(tree, 'rev-parse', '--git-dir').trim(), { recursive: true })
    await box.penv(box.main, ['destroy', id], { stderr: 'any' })
    expect(existsSync(join(tree, '.env.preview'))).toBe(false)
    expect(existsSync(join(tree, '.preview'))).toBe(true)
  })

  it('does not touch the worktree that was made again at the same path', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login', 'a')
    const old = await upIn(box, tree)
    rmSync(tree, { recursive: true })
    box.git(box.main, 'worktree', 'prune')
    expect(box.worktree('login', 'b')).toBe(tree)
    const before = await statusOf(box, tree)
    expect(before).toMatchObject({ state: 'none', indexes: {}, orphans: [old] })
    const fresh = await upIn(box, tree)
    expect(fresh).not.toBe(old)
    expect((await statusOf(box, tree)).indexes.redis).toBe(2)
    const file = readFileSync(join(tree, '.env.preview'), 'utf8')
    await box.penv(tree, ['destroy', old], { stderr: 'any' })
    expect(storyOf(box)).toEqual([`flushed 1 branch=a gone=1 index=1 id=${old}`])
    expect(await statusOf(box, tree)).toMatchObject({
      id: fresh,
      state: 'ready',
      indexes: { redis: 2 },
      orphans: [],
    })
    expect(readFileSync(join(tree, '.env.preview'), 'utf8')).toBe(file)
    expect(keysOf(box, 2)).toEqual(['key'])
    await box.penv(tree, ['verify'], { stderr: 'any' })
  })

  it('never reuses the slots of the old one in the meantime', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    await upIn(box, tree)
    rmSync(tree, { recursive: true })
    const list = (await box.penv(box.main, ['list', '--json'])).json() as {
      envs: { present: boolean; root: string }[]
    }
    expect(list.envs).toMatchObject([{ present: false, root: tree }])
    expect((await box.penv(box.main, ['list'])).stdout).toContain('(gone)')
    expect((await box.penv(box.worktree('other'), ['get', 'index', 'redis', '1-9'])).stdout).toBe('2\n')
  })

  it('keeps the record of a worktree that is only away, and knows it again when it is back', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    const id = await upIn(box, tree)
    renameSync(tree, join(box.root, 'unplugged'))
    expect((await box.penv(box.main, ['list', '--json'])).json()).toMatchObject({
      envs: [{ id, present: false }],
    })
    renameSync(join(box.root, 'unplugged'), tree)
    expect(await statusOf(box, tree)).toMatchObject({ id, state: 'ready', indexes: { redis: 1 } })
  })
})

describe('a destroy that was killed', () => {
  it('in teardown.sh keeps everything, and is continued by the next one', async () => {
    const box = makeSandbox()
    box.scripts({
      ...SCRIPTS,
      'teardown.sh': `#!/bin/sh\n${pause('teardown')}exec /bin/sh "$PENV_DIR/flush"\n`,
      flush: TEARDOWN,
    })
    const tree = box.worktree('login')
    await upIn(box, tree)
    const child = box.start(['destroy'], { cwd: tree })
    const gone = ended(child)
    await pidOf(box, 'teardown')
    child.kill('SIGKILL')
    await gone
    expect(await statusOf(box, tree)).toMatchObject({
      state: 'teardown-failed',
      run: null,
      indexes: { redis: 1 },
    })
    release(box, 'teardown')
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(storyOf(box).at(-1)).toMatch(/^flushed 1/)
    expect(box.ledger().environments).toEqual({})
  })

  // The steps behind teardown, in the order of the design; a kill may fall behind any of them.
  const STEPS: [title: string, step: (box: Sandbox, tree: string, id: string) => void][] = [
    ['teardown was noted as done', box => editRecord(box, record => ({ ...record, tornDown: true }))],
    ['.env.preview was removed', (_box, tree) => unlinkSync(join(tree, '.env.preview'))],
    [
      'half of the state was removed',
      (box, _tree, id) => rmSync(join(box.stateDir, 'envs', id, 'root'), { recursive: true }),
    ],
    [
      'the state was removed',
      (box, _tree, id) => rmSync(join(box.stateDir, 'envs', id), { recursive: true }),
    ],
    [
      'the marker was removed',
      (box, tree) => unlinkSync(join(box.git(tree, 'rev-parse', '--git-dir').trim(), 'penv')),
    ],
  ]
  const CONTINUED: [how: string, args: (id: string) => string[], inTree: boolean, behind: number[]][] = [
    ['in the worktree', () => ['destroy'], true, [0, 1, 2, 3, 4]],
    ['by id', id => ['destroy', id], false, [2, 4]],
    ['in the worktree that goes too', () => ['destroy', '--worktree'], true, [4]],
  ]
  for (const [how, args, inTree, behind] of CONTINUED)
    it.each(behind.map(at => [STEPS[at]?.[0], at] as const))(
      `behind "%s" is continued ${how}`,
      async (_title, at) => {
        const box = makeSandbox()
        box.scripts({
          ...SCRIPTS,
          'teardown.sh': `${TEARDOWN}[ -e "$HOME/release-held" ] || {\n${pause('held')}}\n`,
        })
        const tree = box.worktree('login')
        const id = await upIn(box, tree)
        const child = box.start(['destroy'], { cwd: tree })
        const gone = ended(child)
        const script = await pidOf(box, 'held')
        child.kill('SIGKILL')
        await gone
        process.kill(script, 'SIGKILL')
        for (const [, step] of STEPS.slice(0, at + 1)) step(box, tree, id)
        release(box, 'held')
        await box.penv(inTree ? tree : box.main, args(id), { stderr: 'any' })
        expect(box.ledger().environments).toEqual({})
        expect(existsSync(join(box.stateDir, 'envs', id))).toBe(false)
        expect(existsSync(join(tree, '.env.preview'))).toBe(false)
        expect(storyOf(box).filter(line => line.startsWith('flushed'))).toHaveLength(1)
        if (args(id).includes('--worktree')) return expect(existsSync(tree)).toBe(false)
        // The worktree starts afresh afterwards.
        await upIn(box, tree)
        expect((await statusOf(box, tree)).indexes.redis).toBe(1)
      },
    )

  it('at any moment leaves nothing that the next one does not finish', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    for (let round = 0; round < 6; round++) {
      const tree = box.worktree(`t${round}`)
      await upIn(box, tree)
      const child = box.start(['destroy'], { cwd: tree })
      const gone = ended(child)
      // Spread over the whole run, from its first instruction to its end.
      const killer = setTimeout(() => child.kill('SIGKILL'), 60 + round * 35)
      await gone
      clearTimeout(killer)
      await box.penv(tree, ['destroy'], { stderr: 'any' })
      expect(box.ledger().environments).toEqual({})
      expect(existsSync(join(tree, '.env.preview'))).toBe(false)
      expect(keysOf(box, 1)).toEqual([])
    }
    expect(readdirSync(join(box.stateDir, 'envs'))).toEqual([])
  })
})

/** Writes the next revision, as the killed process had committed it. */
function editRecord(box: Sandbox, edit: (record: Record<string, unknown>) => Record<string, unknown>): void {
  const ledger = box.ledger()
  const environments = Object.fromEntries(
    Object.entries(ledger.environments).map(([id, record]) => [id, edit(record)]),
  )
  const next = Number(box.revisions().at(-1)?.slice(0, 12)) + 1
  writeFileSync(
    join(box.stateDir, 'ledger', `${String(next).padStart(12, '0')}.json`),
    `${JSON.stringify({ ...ledger, environments })}\n`,
    { mode: 0o600 },
  )
}
