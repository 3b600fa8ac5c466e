// `penv get name`: argv, stdout, stderr and exit code of the built program.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeSandbox } from '../support/sandbox.ts'

describe('a name', () => {
  it('is suffix and id, recorded before it is printed, and stays', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const { stdout } = await box.penv(tree, ['get', 'name', 'preview'])
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    expect(stdout).toBe(`preview_${id}\n`)
    expect(box.ledger().environments[id]).toMatchObject({ names: { preview: `preview_${id}` } })
    expect((await box.penv(tree, ['get', 'name', 'preview'])).stdout).toBe(stdout)
  })

  it('has another spelling for hosts and buckets, of the same name', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const snake = (await box.penv(tree, ['get', 'name', 'my_app'])).stdout
    const kebab = (await box.penv(tree, ['get', 'name', 'my_app', '--style', 'kebab'])).stdout
    expect(kebab).toBe(snake.replaceAll('_', '-'))
    expect(kebab).toMatch(/^[a-z][a-z0-9-]*[a-z0-9]\n$/)
  })

  it('differs for suffixes that differ only in case or sign, and none is above 50 bytes', async () => {
    const box = makeSandbox()
    const tree = box.worktree('a-name-of-more-than-twenty-characters', 'b')
    const long = 'x'.repeat(60)
    const suffixes = [
      'db',
      'Db',
      'DB',
      'd.b',
      'd-b',
      'd b',
      'my.app v2/x',
      long,
      `${long}y`,
      '2nd',
      'constructor',
    ]
    const { stdout } = await box.penv(tree, ['get', 'name', ...suffixes])
    const names = stdout.trim().split('\n')
    expect(new Set(names).size).toBe(suffixes.length)
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    for (const name of names) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/)
      expect(name.length).toBeLessThanOrEqual(50)
      expect(name.endsWith(`_${id}`)).toBe(true)
    }
    // One by one, in another order, they are the same.
    expect((await box.penv(tree, ['get', 'name', `${long}y`, 'Db'])).stdout).toBe(
      `${names[8]}\n${names[1]}\n`,
    )
  })

  it('differs for directories that differ only in sign or case, and for the same name elsewhere', async () => {
    const box = makeSandbox()
    const names = new Set<string>()
    const directories = ['feat-x', 'feat_x', 'feat.x', 'FEAT.X', join('sub', 'feat-x')]
    for (const [at, directory] of directories.entries())
      names.add((await box.penv(box.worktree(directory, `b${at}`), ['get', 'name', 'db'])).stdout)
    expect(names.size).toBe(directories.length)
  })

  it.each(['', '..', '../..', '---', '🦊', 'プレビュー'])(
    'is refused where nothing plain is left of %j',
    async suffix => {
      const box = makeSandbox()
      const tree = box.worktree('login')
      const failed = await box.penv(tree, ['get', 'name', '--json', '--', suffix], {
        exit: 2,
        stderr: /^penv: "/,
      })
      expect(failed.json()).toMatchObject({
        error: { code: 'USAGE', message: expect.stringContaining(suffix) },
      })
      expect(box.revisions()).toEqual([])
    },
  )

  it('is refused in a style that is none, and with a range', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    for (const args of [
      ['preview', '--style', 'camel'],
      ['preview', '--style', ''],
      ['preview', '--pool', 'x'],
      ['preview', '--renew'],
      [],
    ])
      expect((await box.penv(tree, ['get', 'name', ...args], { exit: 2, stderr: /^penv: / })).stdout).toBe('')
    expect(box.revisions()).toEqual([])
  })

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'is never an object: %s',
    async suffix => {
      const box = makeSandbox()
      const tree = box.worktree('login')
      const { stdout } = await box.penv(tree, ['get', 'name', suffix])
      expect(stdout).toMatch(/^[a-z][a-z0-9_]*\n$/)
      expect((await box.penv(tree, ['get', 'name', suffix])).stdout).toBe(stdout)
      expect((await box.penv(tree, ['get', 'name', suffix, '--json'])).json()).toEqual({
        suffix,
        value: stdout.trim(),
      })
    },
  )

  it('can be assigned by eval, whatever the suffix', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const script =
      'lines=$(penv get name preview my.app 2nd --export); eval "$lines"; echo "$PREVIEW $MY_APP $_2ND"'
    const read = execFileSync('/bin/sh', ['-euc', script], { cwd: tree, env: box.env, encoding: 'utf8' })
    const { stdout } = await box.penv(tree, ['get', 'name', 'preview', 'my.app', '2nd'])
    expect(read).toBe(stdout.trim().replaceAll('\n', ' ').concat('\n'))
  })

  it('is JSON as one, or in a list', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    expect((await box.penv(tree, ['get', 'name', 'a', 'b', '--json'])).json()).toEqual({
      names: [
        { suffix: 'a', value: `a_${id}` },
        { suffix: 'b', value: `b_${id}` },
      ],
    })
  })

  it('of the main checkout is nothing and 3, or what --main says', async () => {
    const box = makeSandbox()
    expect((await box.penv(box.main, ['get', 'name', 'preview'], { exit: 3, stderr: /./ })).stdout).toBe('')
    expect((await box.penv(box.main, ['get', 'name', 'preview', '--main', 'shop'])).stdout).toBe('shop\n')
  })
})
