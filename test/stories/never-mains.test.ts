// Promise 4: no command touches the main checkout's resources or another environment's, and a copied .env.preview is
// never acted on.

import {
  copyFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorOf, say, statusOf, storyOf } from '../support/lifecycle.ts'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'

const SCRIPTS = {
  'provision.sh':
    '#!/bin/sh\nset -eu\nindex=$(penv get index redis 1-9)\nname=$(penv get name db)\npenv env "REDIS_INDEX=$index" "DATABASE=$name"\n',
  'verify.sh': `#!/bin/sh\n. "$PENV_ROOT/.env.preview"\n${say('verified $REDIS_INDEX')}`,
  'teardown.sh': `#!/bin/sh\nset -eu\n. "$PENV_ROOT/.env.preview"\n${say('flushed ${REDIS_INDEX:-nothing} ${DATABASE:-nothing}')}`,
}

async function twoTrees(): Promise<{ box: Sandbox; a: string; b: string; idA: string }> {
  const box = makeSandbox()
  box.scripts(SCRIPTS)
  const [a, b] = [box.worktree('aa'), box.worktree('bb')]
  await box.penv(a, ['up'], { stderr: 'any' })
  return { box, a, b, idA: (await box.penv(a, ['id'])).stdout.trim() }
}

const copy = (a: string, b: string) => copyFileSync(join(a, '.env.preview'), join(b, '.env.preview'))

describe('a copy of another environment’s .env.preview', () => {
  it('in a worktree that never was up: verify fails, destroy does nothing, env refuses', async () => {
    const { box, a, b, idA } = await twoTrees()
    copy(a, b)
    expect((await box.run(['verify'], { cwd: b })).exit).toBe(1)
    for (const args of [['destroy'], ['destroy', '--force']])
      await box.penv(b, args, { stderr: /nothing to destroy/ })
    const refused = await box.run(['env', 'X=1', '--json'], { cwd: b })
    expect(refused.exit).toBe(9)
    expect(errorOf(refused.stdout)).toMatchObject({
      code: 'ENV_FOREIGN',
      message: expect.stringContaining(idA),
    })
    expect((await box.run(['exec', 'true'], { cwd: b })).exit).toBe(125)
    expect(storyOf(box)).toEqual([])
    expect(await statusOf(box, a)).toMatchObject({ state: 'ready', indexes: { redis: 1 } })
  })

  it('in a worktree that was up: verify fails and names whose it is, up starts the file afresh', async () => {
    const { box, a, b, idA } = await twoTrees()
    await box.penv(b, ['up'], { stderr: 'any' })
    copy(a, b)
    const verify = await box.run(['verify', '--json'], { cwd: b })
    expect(verify.exit).toBe(1)
    expect(errorOf(verify.stdout).message).toContain(`belongs to ${idA}`)
    expect(storyOf(box)).toEqual([])
    await box.penv(b, ['up'], { stderr: /a copy of another environment's: started afresh/ })
    const { id } = await statusOf(box, b)
    expect(readFileSync(join(b, '.env.preview'), 'utf8')).toBe(
      `PENV_ID=${id}\nREDIS_INDEX=2\nDATABASE=db_${id}\n`,
    )
    await box.penv(b, ['verify'], { stderr: 'any' })
    expect(storyOf(box)).toEqual(['verified 2'])
  })

  const STATES: [title: string, prepare: (box: Sandbox, b: string) => Promise<unknown>, flushed: string][] = [
    ['was up', (box, b) => box.penv(b, ['up'], { stderr: 'any' }), 'flushed 2 db_bb'],
    [
      'only has allocations',
      (box, b) => box.penv(b, ['get', 'index', 'redis', '1-9']),
      'flushed nothing nothing',
    ],
  ]
  it.each(STATES)(
    'destroy in a worktree that %s tears down its own resources',
    async (_title, prepare, flushed) => {
      const { box, a, b, idA } = await twoTrees()
      await prepare(box, b)
      copy(a, b)
      await box.penv(b, ['destroy'], { stderr: 'any' })
      expect(storyOf(box)).toEqual([expect.stringMatching(`^${flushed}`)])
      expect(Object.keys(box.ledger().environments)).toEqual([idA])
      expect(existsSync(join(b, '.env.preview'))).toBe(false)
      await box.penv(a, ['verify'], { stderr: 'any' })
    },
  )

  it('taken by git worktree and a copy tool into a new worktree is replaced by its first up', async () => {
    const { box, a, idA } = await twoTrees()
    const c = box.worktree('cc')
    for (const name of readdirSync(a).filter(name => name.startsWith('.env')))
      copyFileSync(join(a, name), join(c, name))
    await box.penv(c, ['up'], { stderr: /started afresh/ })
    const text = readFileSync(join(c, '.env.preview'), 'utf8')
    expect(text).not.toContain(idA)
    expect(text).toContain('REDIS_INDEX=2')
    expect((await box.penv(c, ['verify'], { stderr: 'any' })).exit).toBe(0)
  })

  it('sourced in the shell does not reach teardown of another one', async () => {
    const { box, a, b } = await twoTrees()
    await box.penv(b, ['up'], { stderr: 'any' })
    const sourced = Object.fromEntries(
      readFileSync(join(a, '.env.preview'), 'utf8')
        .trim()
        .split('\n')
        .map(line => line.split('=') as [string, string]),
    )
    rmSync(join(b, '.env.preview'))
    await box.run(['destroy'], { cwd: b, env: sourced })
    expect(storyOf(box)).toEqual([expect.stringMatching(/^flushed 2 db_bb/)])
  })
})

describe('.env.preview as a symlink', () => {
  it('to another environment’s file is replaced by up, never written through', async () => {
    const { box, a, b } = await twoTrees()
    const before = readFileSync(join(a, '.env.preview'), 'utf8')
    symlinkSync(join(a, '.env.preview'), join(b, '.env.preview'))
    await box.penv(b, ['up'], { stderr: 'any' })
    expect(readFileSync(join(a, '.env.preview'), 'utf8')).toBe(before)
    expect(lstatSync(join(b, '.env.preview')).isSymbolicLink()).toBe(false)
    expect((await box.penv(b, ['verify'], { stderr: 'any' })).exit).toBe(0)
  })

  it('to the main checkout’s .env leaves that alone, also in destroy', async () => {
    const { box, b } = await twoTrees()
    const main = 'DATABASE_URL=postgres://127.0.0.1/shop\n'
    writeFileSync(join(box.main, '.env'), main)
    symlinkSync(join(box.main, '.env'), join(b, '.env.preview'))
    await box.penv(b, ['up'], { stderr: 'any' })
    await box.penv(b, ['env', 'X=1'])
    await box.penv(b, ['destroy'], { stderr: 'any' })
    expect(readFileSync(join(box.main, '.env'), 'utf8')).toBe(main)
  })
})

describe('git and .env.preview', () => {
  it('never sees it: one line in the common exclude, however many worktrees, and a clean tree', async () => {
    const { box, a, b } = await twoTrees()
    await box.penv(b, ['up'], { stderr: 'any' })
    await box.penv(a, ['up'], { stderr: 'any' })
    for (const tree of [a, b, box.main]) expect(box.git(tree, 'status', '--porcelain')).toBe('')
    expect(
      readFileSync(join(box.main, '.git', 'info', 'exclude'), 'utf8').match(/env\.preview/g),
    ).toHaveLength(1)
    box.git(box.main, 'worktree', 'remove', b)
    expect(existsSync(b)).toBe(false)
  })
})

describe('the main checkout', () => {
  it('is left exactly as it was by everything that is done in a worktree', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    writeFileSync(join(box.main, '.env'), 'REDIS_INDEX=0\n')
    const see = () =>
      readdirSync(box.main)
        .sort()
        .map(name => [name, lstatSync(join(box.main, name)).mtimeMs])
    const tree = box.worktree('aa')
    const before = see().filter(([name]) => name !== '.git')
    for (const args of [['up'], ['verify'], ['down'], ['status'], ['destroy']])
      await box.run(args, { cwd: tree })
    for (const args of [['up'], ['verify'], ['down'], ['destroy'], ['destroy', '--force'], ['bootstrap']])
      await box.penv(box.main, args, { stderr: /nothing to do/ })
    expect(see().filter(([name]) => name !== '.git')).toEqual(before)
    expect(storyOf(box)).toEqual(['verified 1', expect.stringMatching(/^flushed 1/)])
  })
})
