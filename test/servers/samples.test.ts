// The samples as a person copies them: up, verify, destroy in two worktrees against a real server each.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'
import { describeServer, serverBin } from '../support/servers.ts'
import type { RunningServer } from './conformance.ts'
import { missingMongodb, startMongodb } from './mongodb-server.ts'
import { missingMysql, startMysql } from './mysql-server.ts'
import { missingPostgres, startPostgres } from './postgres-server.ts'

const SAMPLES = join(import.meta.dirname, '..', '..', 'samples', 'preview')
// Stands for the repository's own migration tool: it says which database it was pointed at, never the password.
const MIGRATE =
  '#!/bin/sh\nset -eu\nurl=${DATABASE_URL:-$MONGODB_URI}\nname=${url##*/}\nprintf \'%s\\n\' "${name%%[?]*}" >> "$HOME/migrated.log"\n'

interface Sample {
  name: string
  missing: string | undefined
  start: () => Promise<RunningServer>
  /** Paths of migration tools below the root. */
  tools: string[]
  databases: number
}

const samples: Sample[] = [
  { name: 'mysql', missing: missingMysql, start: startMysql, tools: ['bin/migrate'], databases: 1 },
  { name: 'mongo', missing: missingMongodb, start: startMongodb, tools: ['bin/migrate'], databases: 1 },
  {
    name: 'monorepo',
    missing: missingPostgres,
    start: startPostgres,
    tools: ['apps/api/bin/migrate', 'apps/admin/bin/migrate'],
    databases: 2,
  },
]

for (const { name, missing, start, tools, databases } of samples)
  describeServer(`the ${name} sample`, missing, () => {
    let server: RunningServer
    beforeAll(async () => {
      server = await start()
    })
    afterAll(() => server?.stop())

    function makeShop(): Sandbox {
      const box = makeSandbox()
      Object.assign(box.env, server.env, { PATH: `${box.env.PATH}:${serverBin}` })
      cpSync(join(SAMPLES, name), join(box.main, '.preview'), { recursive: true })
      for (const tool of tools) {
        box.write(box.main, { [`${tool}.sh`]: MIGRATE })
        cpSync(join(box.main, `${tool}.sh`), join(box.main, tool))
      }
      box.git(box.main, 'add', '--all')
      box.git(box.main, 'commit', '--quiet', '-m', 'shop')
      return box
    }

    it('gives two worktrees what is theirs, and leaves the server as it was', {
      timeout: 180_000,
    }, async () => {
      const box = makeShop()
      const trees = [box.worktree('one'), box.worktree('two')]
      const names = new Set<string>()
      for (const tree of trees) {
        const up = (await box.penv(tree, ['up', '--json'], { stderr: 'any' })).json() as {
          names: Record<string, string>
        }
        for (const full of Object.values(up.names)) names.add(full)
        await box.penv(tree, ['verify'], { stderr: 'any' })
        await box.penv(tree, ['up'], { stderr: 'any' })
      }
      expect(names.size).toBe(2 * databases)
      const templates = Object.keys((box.ledger().templates ?? {}) as object)
      if (templates.length > 0) await box.penv(trees[0] as string, ['bootstrap', '--drop'], { stderr: 'any' })
      for (const tree of trees) await box.penv(tree, ['destroy'], { stderr: 'any' })
      expect(box.ledger().environments).toEqual({})
    })
  })
