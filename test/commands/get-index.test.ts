// `penv get index`: argv, stdout, stderr and exit code of the built program.

import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'

async function indexOf(box: Sandbox, tree: string, ...words: string[]): Promise<number> {
  const { stdout } = await box.penv(tree, ['get', 'index', ...words])
  expect(stdout).toMatch(/^\d+\n$/)
  return Number(stdout)
}

const trees = (box: Sandbox, count: number) =>
  Array.from({ length: count }, (_, at) => box.worktree(`w${at}`))

describe('an index', () => {
  it('is the lowest free number, and stays', async () => {
    const box = makeSandbox()
    const [a = '', b = ''] = trees(box, 2)
    expect(await indexOf(box, a, 'redis', '1-15')).toBe(1)
    expect(await indexOf(box, b, 'redis', '1-15')).toBe(2)
    expect(await indexOf(box, a, 'redis', '1-15')).toBe(1)
    expect(await indexOf(box, a, 'redis')).toBe(1)
  })

  it('is free again as soon as its environment is gone', async () => {
    const box = makeSandbox()
    const [a = '', b = ''] = trees(box, 2)
    await indexOf(box, a, 'redis', '1-15')
    await box.penv(a, ['destroy'], { stderr: 'any' })
    expect(await indexOf(box, b, 'redis', '1-15')).toBe(1)
  })

  it('is held once among all ranges that overlap, whatever the names', async () => {
    const box = makeSandbox()
    const [a = '', b = ''] = trees(box, 2)
    expect(await indexOf(box, a, 'redis', '1-3')).toBe(1)
    expect(await indexOf(box, a, 'cache', '1-3')).toBe(2)
    expect(await indexOf(box, b, 'queue', '2-9')).toBe(3)
    expect(await indexOf(box, b, 'other', '2-9')).toBe(4)
  })

  it('of another server has a pool of its own', async () => {
    const box = makeSandbox()
    const [a = '', b = ''] = trees(box, 2)
    expect(await indexOf(box, a, 'redis', '1-15')).toBe(1)
    expect(await indexOf(box, b, 'redis', '1-15', '--pool', 'second')).toBe(1)
    expect(await indexOf(box, a, 'cache', '1-15', '--pool', 'second')).toBe(2)
    expect(await indexOf(box, b, 'redis')).toBe(1)
  })

  it('does not change its pool: somebody else may hold the number there', async () => {
    const box = makeSandbox()
    const [a = '', b = ''] = trees(box, 2)
    await indexOf(box, a, 'redis', '1-15', '--pool', 'second')
    await indexOf(box, b, 'redis', '1-15')
    const args = ['get', 'index', 'redis', '1-15', '--pool', 'second']
    const failed = await box.penv(b, [...args, '--json'], { exit: 2, stderr: /--renew/ })
    expect(failed.json()).toMatchObject({ error: { code: 'RANGE_MISMATCH', details: { pool: 'default' } } })
    expect(await indexOf(box, b, ...args.slice(2), '--renew')).toBe(2)
    expect(await indexOf(box, b, ...args.slice(2))).toBe(2)
  })

  it('is asked for at once by many, and each gets its own', async () => {
    const box = makeSandbox()
    const values = await Promise.all(trees(box, 8).map(tree => indexOf(box, tree, 'redis', '1-8')))
    expect(values.sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('that is 0 is obeyed, with a note that it usually is the main checkout', async () => {
    const box = makeSandbox()
    const { stdout } = await box.penv(box.worktree('a'), ['get', 'index', 'redis', '0-15'], {
      stderr: /main/,
    })
    expect(stdout).toBe('0\n')
  })

  it('needs a range at its first use, and nothing is done without', async () => {
    const box = makeSandbox()
    const tree = box.worktree('a')
    const failed = await box.penv(tree, ['get', 'index', 'redis', '--json'], {
      exit: 2,
      stderr: /penv get index redis 1-15/,
    })
    expect(failed.json()).toMatchObject({ error: { code: 'USAGE' } })
    expect(box.revisions()).toEqual([])
  })

  it.each(['15-1', '1-', '1:15', '1-2147483648', '1-2-3', '99999999999'])(
    'of a range that cannot be is a usage error: %s',
    async range => {
      const box = makeSandbox()
      const tree = box.worktree('a')
      const failed = await box.penv(tree, ['get', 'index', 'redis', range, '--json'], {
        exit: 2,
        stderr: /^penv: "/,
      })
      expect(failed.json()).toMatchObject({
        error: { code: 'USAGE', message: expect.stringContaining(range) },
      })
      expect(box.revisions()).toEqual([])
    },
  )

  it('stands in a range that holds it; another range is a mismatch, and --renew takes another', async () => {
    const box = makeSandbox()
    const tree = box.worktree('a')
    await indexOf(box, tree, 'redis', '1-15')
    expect(await indexOf(box, tree, 'redis', '1-63')).toBe(1)
    const failed = await box.penv(tree, ['get', 'index', 'redis', '2-63', '--json'], {
      exit: 2,
      stderr: /--renew/,
    })
    expect(failed.json()).toMatchObject({
      error: { code: 'RANGE_MISMATCH', details: { value: 1, range: '2-63' } },
    })
    expect(await indexOf(box, tree, 'redis', '2-63', '--renew')).toBe(2)
    expect(await indexOf(box, tree, 'other', '1-63')).toBe(1)
  })

  it('of an exhausted pool fails with its holders, and prints nothing', async () => {
    const box = makeSandbox()
    const [a = '', b = '', c = ''] = trees(box, 3)
    for (const tree of [a, b]) await indexOf(box, tree, 'redis', '1-2')
    const failed = await box.penv(c, ['get', 'index', 'redis', '1-2', '--json'], {
      exit: 6,
      stderr: /all 2 are held/,
    })
    expect(failed.json()).toMatchObject({
      error: {
        code: 'POOL_EXHAUSTED',
        details: {
          holders: [
            { root: a, value: 1 },
            { root: b, value: 2 },
          ],
        },
      },
    })
    expect((await box.penv(c, ['get', 'index', 'redis', '1-2'], { exit: 6, stderr: /./ })).stdout).toBe('')
  })

  it.each([
    ['the pool is exhausted', ['1-1'], 6],
    ['the range is bad', ['1-0'], 2],
  ])('never falls back to database 0 in a script that stops at errors: %s', async (_, words, exit) => {
    const box = makeSandbox()
    const [a = '', b = ''] = trees(box, 2)
    await indexOf(box, a, 'redis', '1-1')
    const script = `index=$(penv get index redis ${words.join(' ')}); echo "flush $index"`
    expect(() =>
      execFileSync('/bin/sh', ['-euc', script], { cwd: b, env: box.env, encoding: 'utf8', stdio: 'pipe' }),
    ).toThrow(expect.objectContaining({ status: exit, stdout: '' }))
  })

  it('comes several at once, for eval, and as JSON', async () => {
    const box = makeSandbox()
    const tree = box.worktree('a')
    const { stdout } = await box.penv(tree, ['get', 'index', 'redis', 'cache', '1-15', '--export'])
    expect(stdout).toBe('REDIS=1\nCACHE=2\n')
    expect((await box.penv(tree, ['get', 'index', 'redis', '--json'])).stdout).toBe(
      '{"name":"redis","index":1}\n',
    )
    expect((await box.penv(tree, ['get', 'index', 'redis', 'cache', '--json'])).json()).toEqual({
      indexes: [
        { name: 'redis', index: 1 },
        { name: 'cache', index: 2 },
      ],
    })
  })

  it.each(['constructor', '__proto__', 'toString'])('is never an object: %s', async name => {
    const box = makeSandbox()
    const { exit, stdout } = await box.run(['get', 'index', name, '1-15'], { cwd: box.worktree('a') })
    expect([exit, stdout]).toEqual(/^[a-z]+$/.test(name) ? [0, '1\n'] : [2, ''])
  })

  it('of the main checkout is nothing and 3, or what --main says', async () => {
    const box = makeSandbox()
    expect(
      (await box.penv(box.main, ['get', 'index', 'redis', '1-15'], { exit: 3, stderr: /./ })).stdout,
    ).toBe('')
    expect(await indexOf(box, box.main, 'redis', '1-15', '--main', '0')).toBe(0)
  })
})
