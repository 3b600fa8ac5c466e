// A kill -9 at whatever moment leaves nothing that the next command does not simply continue from.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { say, statusOf, storyOf } from '../support/lifecycle.ts'
import { ended, makeSandbox, type Sandbox } from '../support/sandbox.ts'

const ROUNDS = 6

/** Starts a command and kills it after a share of the time that it takes undisturbed. */
async function killAt(box: Sandbox, args: string[], cwd: string, afterMs: number): Promise<void> {
  const child = box.start(args, { cwd })
  const end = ended(child)
  const killer = setTimeout(() => child.kill('SIGKILL'), afterMs)
  await end
  clearTimeout(killer)
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await run()
  return performance.now() - startedAt
}

describe('a kill at any moment', () => {
  it('of up is continued by up: one record, the same values, one whole file', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh
set -eu
mkdir "$HOME/inside-$PENV_ID" || { ${say('two at once').trim()}; exit 9; }
trap 'rmdir "$HOME/inside-$PENV_ID"' EXIT
trap 'exit 1' TERM
port=$(penv get port web)
index=$(penv get index redis 1-64)
penv env "PORT=$port"
penv env "INDEX=$index"
`,
    })
    const whole = await timeOf(() => box.penv(box.worktree('first'), ['up'], { stderr: 'any' }))
    for (let round = 0; round < ROUNDS; round++) {
      const tree = box.worktree(`t${round}`)
      await killAt(box, ['up'], tree, (whole * (round + 1)) / ROUNDS)
      const seen = await statusOf(box, tree)
      await box.penv(tree, ['up'], { stderr: 'any' })
      const { id, state, ports, indexes } = await statusOf(box, tree)
      expect([id, state]).toEqual([seen.id, 'ready'])
      expect({ ...ports, ...seen.ports }).toEqual(ports)
      expect(readFileSync(join(tree, '.env.preview'), 'utf8')).toBe(
        `PENV_ID=${id}\nPORT=${ports.web}\nINDEX=${indexes.redis}\n`,
      )
      expect(readdirSync(tree).sort()).toEqual(['.env.preview', '.git', '.preview'])
    }
    expect(storyOf(box)).toEqual([])
    const records = Object.values(box.ledger().environments) as {
      ports: { web: number }
      indexes: { redis: { value: number } }
    }[]
    expect(records).toHaveLength(ROUNDS + 1)
    expect(new Set(records.map(({ ports }) => ports.web)).size).toBe(ROUNDS + 1)
    expect(new Set(records.map(({ indexes }) => indexes.redis.value)).size).toBe(ROUNDS + 1)
  })
})
