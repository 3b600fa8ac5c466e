// `penv id` and `penv is-worktree`: argv, stdout, stderr and exit code of the built program.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeSandbox, PROGRAM } from '../support/sandbox.ts'

describe('the id of a worktree', () => {
  it('is printed before anything was allocated, is the one that is recorded, and leaves no trace', async () => {
    const box = makeSandbox()
    const tree = box.worktree('shop-login')
    const { stdout } = await box.penv(tree, ['id'])
    expect(stdout).toMatch(/^shop_login_[0-9a-z]{6}\n$/)
    expect(existsSync(box.stateDir)).toBe(false)
    await box.penv(tree, ['get', 'port', 'web'])
    expect(Object.keys(box.ledger().environments)).toEqual([stdout.trim()])
    expect((await box.penv(tree, ['id'])).stdout).toBe(stdout)
  })

  it('is one, by whatever path the worktree is reached', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    mkdirSync(join(tree, 'sub'))
    symlinkSync(tree, join(box.root, 'link'))
    const { stdout } = await box.penv(tree, ['id'])
    for (const cwd of [join(tree, 'sub'), join(box.root, 'link'), join(box.root, 'link', 'sub')]) {
      expect((await box.penv(cwd, ['id'])).stdout).toBe(stdout)
      expect((await box.run(['id'], { cwd, env: { PWD: cwd } })).stdout).toBe(stdout)
    }
  })

  it('is plain ASCII and another one for each folder and branch in any script', async () => {
    const box = makeSandbox()
    const ids = new Set<string>()
    const names = ['фикс', 'правка', '修正', '新機能', '🦊', '🐻', 'é', 'è', '-rf', 'my tree']
    for (const [at, name] of names.entries()) {
      const { stdout } = await box.penv(box.worktree(name, at % 2 ? `b${at}` : `ветка-${at}`), ['id'])
      expect(stdout).toMatch(/^[a-z][a-z0-9_]{2,26}\n$/)
      ids.add(stdout)
    }
    expect(ids.size).toBe(names.length)
  })

  it('differs in each namespace', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const ids = new Set<string>()
    for (const PENV_NAMESPACE of [undefined, 'ci1', 'ci2'])
      ids.add((await box.run(['id'], { cwd: tree, env: { PENV_NAMESPACE } })).stdout)
    expect(ids.size).toBe(3)
  })

  it('is null in JSON where there is none, and nothing in text, with 0', async () => {
    const box = makeSandbox()
    for (const cwd of [box.main, box.home]) {
      expect((await box.penv(cwd, ['id'])).stdout).toBe('')
      expect((await box.penv(cwd, ['id', '--json'])).stdout).toBe('{"id":null}\n')
    }
    const tree = box.worktree('login')
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    expect((await box.penv(tree, ['id', '--json'])).stdout).toBe(`{"id":"${id}"}\n`)
  })

  it.each([[['id', 'x']], [['id', '--unknown']], [['is-worktree', 'x']], [['is-worktree', '--renew']]])(
    'is not told to a call that is none: %j',
    async args => {
      const box = makeSandbox()
      const failed = await box.penv(box.worktree('login'), ['--json', ...args], {
        exit: 2,
        stderr: /^penv: /,
      })
      expect(failed.json()).toMatchObject({ error: { code: 'USAGE' } })
    },
  )
})

describe('is-worktree', () => {
  it.each([
    ['a linked worktree', 'login', true],
    ['the main checkout', 'shop', false],
    ['no repository', 'home', false],
  ])('in %s says so by its exit code, and prints nothing', async (_, directory, answer) => {
    const box = makeSandbox()
    box.worktree('login')
    const cwd = join(box.root, directory)
    expect((await box.penv(cwd, ['is-worktree'], { exit: answer ? 0 : 1 })).stdout).toBe('')
    const json = await box.penv(cwd, ['is-worktree', '--json'], { exit: answer ? 0 : 1 })
    expect(json.stdout).toBe(`{"isWorktree":${answer}}\n`)
  })

  it('does not need the ledger', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'port', 'web'])
    truncateSync(join(box.stateDir, 'ledger', box.revisions()[0] as string), 5)
    await box.penv(tree, ['is-worktree'])
    expect((await box.run(['is-worktree'], { cwd: tree, env: { PENV_HOME: 'relative' } })).exit).toBe(0)
  })
})

describe('where git has no answer', () => {
  const SETUPS: [string, (box: ReturnType<typeof makeSandbox>, tree: string) => string][] = [
    [
      'the private git directory is gone',
      (box, tree) => {
        rmSync(join(box.main, '.git', 'worktrees'), { recursive: true })
        return tree
      },
    ],
    [
      '.git is a broken file',
      (box, _) => {
        mkdirSync(join(box.root, 'odd'))
        writeFileSync(join(box.root, 'odd', '.git'), 'nonsense')
        return join(box.root, 'odd')
      },
    ],
  ]
  it.each(SETUPS)(
    'id, is-worktree and get fail with 4, never as on the main checkout: %s',
    async (_, setUp) => {
      const box = makeSandbox()
      const cwd = setUp(box, box.worktree('login'))
      for (const args of [['id'], ['is-worktree'], ['get', 'port', 'web', '--main', '3000']]) {
        expect((await box.penv(cwd, args, { exit: 4, stderr: /^penv: / })).stdout).toBe('')
        expect((await box.penv(cwd, [...args, '--json'], { exit: 4, stderr: /./ })).json()).toMatchObject({
          error: { code: 'GIT_FAILED' },
        })
      }
    },
  )

  it('in a directory that is gone id fails with 4, list answers, and session is quiet', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'port', 'web'])
    const inNowhere = (...args: string[]) =>
      spawnSync(
        '/bin/sh',
        [
          '-c',
          'cd "$1" && rmdir "$1" && shift && exec "$@"',
          'sh',
          nowhere,
          process.execPath,
          PROGRAM,
          ...args,
        ],
        {
          cwd: box.root,
          env: box.env,
          encoding: 'utf8',
        },
      )
    const nowhere = join(box.root, 'nowhere')
    for (const [args, status] of [
      [['id'], 4],
      [['is-worktree'], 4],
      [['get', 'port', 'web'], 4],
      [['list'], 0],
      [['session'], 0],
    ] as const) {
      mkdirSync(nowhere)
      const result = inNowhere(...args)
      expect([args[0], result.status]).toEqual([args[0], status])
      expect(result.stderr.split('\n').length).toBeLessThanOrEqual(3)
    }
    mkdirSync(nowhere)
    expect(inNowhere('list').stdout).toContain(tree)
    expect(() => rmdirSync(nowhere)).toThrow('ENOENT')
  })
})
