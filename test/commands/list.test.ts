// `penv list`: argv, stdout, stderr and exit code of the built program.

import { realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findGitDirOf } from '../../src/host/git.ts'
import { makeSandbox } from '../support/sandbox.ts'

describe('the list', () => {
  it('is empty on a fresh machine, from anywhere, and makes nothing', async () => {
    const box = makeSandbox()
    for (const cwd of [box.main, box.home]) {
      expect((await box.penv(cwd, ['list'])).stdout).toBe('')
      expect((await box.penv(cwd, ['list', '--json'])).stdout).toBe('{"envs":[]}\n')
    }
    expect(box.revisions()).toEqual([])
  })

  it('shows the environments of all repositories, the oldest first, from anywhere', async () => {
    const box = makeSandbox()
    box.git(box.root, 'init', '--quiet', 'other')
    box.git(join(box.root, 'other'), 'commit', '--quiet', '--allow-empty', '-m', 'start')
    box.git(join(box.root, 'other'), 'worktree', 'add', '--quiet', '-b', 'x', join(box.root, 'foreign'))
    const trees = [box.worktree('my tree'), realpathSync(join(box.root, 'foreign')), box.worktree('cart')]
    for (const tree of trees) await box.penv(tree, ['get', 'port', 'web'])
    const { envs } = (await box.penv(box.home, ['list', '--json'])).json() as {
      envs: Record<string, unknown>[]
    }
    expect(envs.map(env => env.root)).toEqual(trees)
    expect(envs[0]).toEqual({
      id: expect.stringMatching(/^my_tree_/),
      state: 'allocated',
      root: trees[0],
      present: true,
      repo: join(box.main, '.git'),
      branch: 'my-tree',
      ports: { web: expect.any(Number) },
      indexes: {},
      names: {},
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      running: null,
    })
    const { stdout } = await box.penv(box.home, ['list'])
    const lines = stdout.trim().split('\n')
    expect(lines).toHaveLength(4)
    expect(lines[1]).toMatch(/^my_tree_\w+ +allocated +my-tree +web=\d+ +.*my tree$/)
  })

  it('shows the branch of now, and none when detached', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'port', 'web'])
    box.git(tree, 'switch', '--quiet', '-c', 'feat/new')
    expect((await box.penv(tree, ['list', '--json'])).json()).toMatchObject({
      envs: [{ branch: 'feat/new' }],
    })
    box.git(tree, 'checkout', '--quiet', '--detach')
    expect((await box.penv(tree, ['list', '--json'])).json()).toMatchObject({ envs: [{ branch: '' }] })
    expect((await box.penv(tree, ['list'])).stdout).toContain('(detached)')
  })

  it('keeps and marks what is gone', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'port', 'web'])
    rmSync(tree, { recursive: true })
    expect((await box.penv(box.main, ['list', '--json'])).json()).toMatchObject({
      envs: [{ root: tree, present: false }],
    })
    expect((await box.penv(box.main, ['list'])).stdout).toMatch(/ \(gone\)\n$/)
  })

  it('shows the others though the marker of one is broken', async () => {
    const box = makeSandbox()
    const [a, b] = [box.worktree('a'), box.worktree('b')]
    for (const tree of [a, b]) await box.penv(tree, ['get', 'port', 'web'])
    writeFileSync(join(findGitDirOf(a) as string, 'penv'), 'broken')
    expect((await box.penv(b, ['list', '--json'])).json()).toMatchObject({
      envs: [
        { root: a, present: true },
        { root: b, present: true },
      ],
    })
    expect((await box.penv(b, ['get', 'port', 'web'])).stdout).toMatch(/^\d+\n$/)
    expect((await box.penv(a, ['get', 'port', 'web'], { exit: 7, stderr: /marker/ })).stdout).toBe('')
  })

  it('shortens the home directory, and takes no argument', async () => {
    const box = makeSandbox()
    box.git(box.main, 'worktree', 'add', '--quiet', '-b', 'x', join(box.home, 'x'))
    await box.penv(join(box.home, 'x'), ['get', 'port', 'web'])
    expect((await box.penv(box.home, ['list'])).stdout).toMatch(/ ~\/x\n$/)
    await box.penv(box.home, ['list', 'all'], { exit: 2, stderr: /^penv: / })
  })
})
