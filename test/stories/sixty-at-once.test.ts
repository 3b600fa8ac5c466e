// Sixty worktrees are brought up at the same instant, and torn down at the same instant.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeSandbox } from '../support/sandbox.ts'

it('sixty worktrees up at once are sixty records with a port each, and nothing when all are destroyed', {
  timeout: 600_000,
}, async () => {
  const box = makeSandbox()
  box.scripts({
    'provision.sh': '#!/bin/sh\nset -eu\nport=$(penv get port web)\npenv env "PORT=$port"\n',
    'teardown.sh': '#!/bin/sh\nset -eu\n. "$PENV_ROOT/.env.preview"\ntest -n "$PORT"\n',
  })
  const trees = Array.from({ length: 60 }, (_, at) => box.worktree(`w${at}`))
  const ups = await Promise.all(trees.map(cwd => box.run(['up', '--quiet'], { cwd })))
  expect(ups.filter(({ exit, stderr }) => exit !== 0 || stderr !== '')).toEqual([])
  const records = Object.values(box.ledger().environments) as {
    root: string
    state: string
    ports: Record<string, number>
    run?: unknown
  }[]
  expect(records.map(({ root }) => root).sort()).toEqual([...trees].sort())
  expect(new Set(records.map(({ state, run }) => `${state} ${run === undefined}`))).toEqual(
    new Set(['ready true']),
  )
  expect(new Set(records.map(({ ports }) => ports.web)).size).toBe(60)
  for (const { root, ports } of records)
    expect(readFileSync(join(root, '.env.preview'), 'utf8')).toContain(`PORT=${ports.web}\n`)

  const ends = await Promise.all(trees.map(cwd => box.run(['destroy', '--quiet'], { cwd })))
  expect(ends.filter(({ exit, stderr }) => exit !== 0 || stderr !== '')).toEqual([])
  expect(box.ledger().environments).toEqual({})
})
