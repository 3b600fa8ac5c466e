// Scripts written for the original penv run unchanged: bash, words and JSON fields as they knew them.

import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeSandbox, type Result, type Sandbox } from '../support/sandbox.ts'

const FIXTURE = join(import.meta.dirname, '..', 'fixtures', 'original-scripts')

function makeOriginal(): {
  box: Sandbox
  servers: string
  penv: (cwd: string, ...args: string[]) => Promise<Result>
} {
  const box = makeSandbox()
  cpSync(FIXTURE, box.main, { recursive: true })
  box.write(box.main, { 'migrations/1.sql': 'create table users;\n' })
  box.git(box.main, 'add', '--all')
  box.git(box.main, 'commit', '--quiet', '-m', 'scripts')
  const servers = join(box.root, 'servers')
  return {
    box,
    servers,
    penv: async (cwd, ...args) => {
      const result = await box.run(args, { cwd, env: { FAKE_SERVERS: servers } })
      expect(result.exit, result.stderr).toBe(0)
      return result
    },
  }
}

const json = (result: Result) => result.json() as Record<string, unknown>

describe('scripts of the original penv', () => {
  it('go through up, verify, seed and destroy in two worktrees', async () => {
    const { box, servers, penv } = makeOriginal()
    const trees = [box.worktree('login'), box.worktree('cart')]
    const ids: string[] = []
    for (const tree of trees) {
      const up = await penv(tree, 'up', '--seed')
      expect(up.stderr).toMatch(/provisioned preview_\w+ \(3 keys, port 2\d{4}\)/)
      const id = (await penv(tree, 'id')).stdout.trim()
      ids.push(id)
      expect((await penv(tree, 'get', 'name', 'preview')).stdout).toBe(`preview_${id}\n`)
      await penv(tree, 'verify')
      expect(readFileSync(join(servers, 'postgres', `preview_${id}`, 'users'), 'utf8')).toBe(
        'ada admin\nlinus member\n',
      )
      expect(readFileSync(join(tree, '.env.preview'), 'utf8')).toContain(
        `\nDATABASE_URL=postgres://localhost:5432/preview_${id}\n`,
      )
    }
    expect(readdirSync(join(servers, 'redis')).sort()).toEqual(['2', '3'])
    await penv(trees[0] as string, 'destroy', '--force')
    expect(readdirSync(join(servers, 'postgres'))).toEqual([`preview_${ids[1]}`])
    await penv(trees[1] as string, 'verify')
    box.git(box.main, 'worktree', 'remove', '--force', trees[1] as string)
    await penv(box.main, 'destroy', '--id', ids[1] as string)
    expect(readdirSync(join(servers, 'postgres'))).toEqual([])
    expect(readdirSync(join(servers, 'redis'))).toEqual([])
    expect((await penv(box.main, 'list')).stdout).toBe('')
  })

  it('run again on what is there: up twice is up once', async () => {
    const { box, servers, penv } = makeOriginal()
    const tree = box.worktree('login')
    await penv(tree, 'up')
    const before = readFileSync(join(tree, '.env.preview'), 'utf8')
    await penv(tree, 'up', '--no-migrate')
    expect(readFileSync(join(tree, '.env.preview'), 'utf8')).toBe(before)
    expect(readdirSync(join(servers, 'redis'))).toEqual(['2'])
    rmSync(join(tree, '.env.preview'))
    await penv(tree, 'up')
    expect(readFileSync(join(tree, '.env.preview'), 'utf8').split('\n').sort()).toEqual(
      before.split('\n').sort(),
    )
  })

  it('find the JSON fields that they read', async () => {
    const { box, penv } = makeOriginal()
    const tree = box.worktree('login')
    await penv(tree, 'up')
    const id = (await penv(tree, 'id')).stdout.trim()
    expect(json(await penv(tree, 'id', '--json'))).toEqual({ id })
    expect(json(await penv(tree, 'is-worktree', '--json'))).toEqual({ isWorktree: true })
    expect(json(await penv(tree, 'get', 'port', 'api', '--json'))).toEqual({
      name: 'api',
      port: expect.any(Number),
    })
    expect(json(await penv(tree, 'get', 'index', 'redis', '2-63', '--json'))).toEqual({
      name: 'redis',
      index: 2,
    })
    expect(json(await penv(tree, 'get', 'name', 'preview', '--json'))).toEqual({
      suffix: 'preview',
      value: `preview_${id}`,
    })
    expect(json(await penv(tree, 'list', '--json'))).toMatchObject({ envs: [{ id, root: tree }] })
    for (const command of ['up', 'verify', 'down', 'destroy'])
      expect(json(await penv(box.main, command, '--json'))).toEqual({
        skipped: true,
        reason: expect.any(String),
      })
    expect(existsSync(join(box.main, '.env.preview'))).toBe(false)
  })
})
