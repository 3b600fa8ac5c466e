import { existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeSandbox } from '../support/sandbox.ts'

const SCRIPTS = {
  'provision.sh': `#!/bin/sh
set -eu
port=$(penv get port web)
index=$(penv get index redis 1-15)
penv env "PORT=$port" "REDIS_INDEX=$index" "DATA=$PENV_DATA/notes"
mkdir -p "$PENV_DATA/notes"
`,
  'teardown.sh': `#!/bin/sh
set -eu
. "$PENV_ROOT/.env.preview"
printf '%s\\n' "flushed $REDIS_INDEX gone=$PENV_GONE" >> "$HOME/teardown.log"
`,
}

describe('two worktrees', () => {
  it('have their own id, port, index and data, and leave nothing behind', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const [a, b] = [box.worktree('login'), box.worktree('cart')]
    for (const tree of [a, b]) await box.penv(tree, ['up'], { stderr: /running .preview\/provision.sh/ })
    const [statusA, statusB] = [
      await box.penv(a, ['status', '--json']),
      await box.penv(b, ['status', '--json']),
    ].map(result => result.json() as { id: string; ports: { web: number }; indexes: { redis: number } })
    expect(statusA?.id).not.toBe(statusB?.id)
    expect(statusA?.ports.web).not.toBe(statusB?.ports.web)
    expect([statusA?.indexes.redis, statusB?.indexes.redis].sort()).toEqual([1, 2])
    expect(box.git(a, 'status', '--porcelain')).toBe('')
    for (const tree of [a, b]) await box.penv(tree, ['verify'], { stderr: /verify.sh does not exist/ })
    for (const tree of [a, b]) await box.penv(tree, ['destroy'], { stderr: /teardown/ })
    expect((await box.penv(a, ['list'])).stdout).toBe('')
    expect(existsSync(join(a, '.env.preview'))).toBe(false)
    expect(existsSync(join(box.stateDir, 'envs', statusA?.id ?? ''))).toBe(false)
  })

  it('tears down from the snapshot when the worktree is gone', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('my login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    box.git(box.main, 'worktree', 'remove', '--force', tree)
    await box.penv(box.main, ['destroy', '--id', id], { stderr: /running/ })
    expect(readFileSync(join(box.home, 'teardown.log'), 'utf8')).toBe('flushed 1 gone=1\n')
    expect(box.ledger().environments).toEqual({})
  })

  it('keeps id and values when the worktree is moved by hand', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const port = (await box.penv(tree, ['get', 'port', 'web'])).stdout
    const id = (await box.penv(tree, ['id'])).stdout
    const moved = join(box.root, 'elsewhere')
    renameSync(tree, moved)
    expect((await box.penv(moved, ['id'])).stdout).toBe(id)
    expect((await box.penv(moved, ['get', 'port', 'web'])).stdout).toBe(port)
    expect((await box.penv(box.main, ['list', '--json'])).json()).toMatchObject({
      envs: [{ root: moved, present: true }],
    })
  })
})
