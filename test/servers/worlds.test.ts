// The postgres-redis sample as a person copies it, against real servers.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'
import { describeServer } from '../support/servers.ts'
import type { RunningServer } from './conformance.ts'
import { missingPostgres, query, startPostgres } from './postgres-server.ts'
import { command, missingRedis, startRedis } from './redis-server.ts'

const SAMPLE = join(import.meta.dirname, '..', '..', 'samples', 'preview', 'postgres-redis')

describeServer('the postgres-redis sample', missingPostgres ?? missingRedis, () => {
  let postgres: RunningServer
  let redis: RunningServer
  beforeAll(async () => {
    ;[postgres, redis] = await Promise.all([startPostgres(), startRedis()])
    await query(postgres, 'postgres', 'create database main_db')
    await command(redis, '0', 'SET', 'main', 'keep')
  })
  afterAll(() => Promise.all([postgres?.stop(), redis?.stop()]))

  function makeShop(): Sandbox {
    const box = makeSandbox()
    Object.assign(box.env, postgres.env, redis.env)
    cpSync(SAMPLE, join(box.main, '.preview'), { recursive: true })
    box.write(box.main, {
      'migrations/001_notes.sql': 'create table notes (id serial primary key, text text not null);\n',
      'seed.sql': "insert into notes (text) values ('seeded');\n",
    })
    box.git(box.main, 'add', '--all')
    box.git(box.main, 'commit', '--quiet', '-m', 'shop')
    return box
  }

  const databases = () => query(postgres, 'postgres', 'select datname from pg_database order by 1')
  const migrationsOf = (database: string) =>
    query(postgres, database, 'select name from schema_migrations order by 1')
  const databaseOf = (box: Sandbox, tree: string) =>
    box.run(['get', 'name', 'preview'], { cwd: tree }).then(({ stdout }) => stdout.trim())

  it('gives eight worktrees their own database and index, and leaves the servers as they were', {
    timeout: 180_000,
  }, async () => {
    const box = makeShop()
    const before = await databases()
    const trees = Array.from({ length: 8 }, (_, at) => box.worktree(`w${at}`))
    const ups = await Promise.all(trees.map(cwd => box.run(['up', '--seed', '--json'], { cwd })))
    expect(ups.map(({ exit, stderr }) => (exit === 0 ? 0 : stderr))).toEqual(trees.map(() => 0))
    const holdings = ups.map(up => up.json() as { names: { preview: string }; indexes: { redis: number } })
    expect(new Set(holdings.map(({ names }) => names.preview)).size).toBe(8)
    expect(new Set(holdings.map(({ indexes }) => indexes.redis)).size).toBe(8)

    // The tests of all eight branches at once: each writes its own rows and keys, and sees no other.
    await Promise.all(
      holdings.map(async ({ names, indexes }, at) => {
        await query(postgres, names.preview, `insert into notes (text) values ('of w${at}')`)
        await command(redis, String(indexes.redis), 'SET', 'key', `of w${at}`)
        expect(await query(postgres, names.preview, 'select text from notes order by id')).toBe(
          `seeded\nof w${at}`,
        )
        expect(await command(redis, String(indexes.redis), 'GET', 'key')).toBe(`of w${at}`)
      }),
    )
    const verified = await Promise.all(trees.map(cwd => box.run(['verify', '--json'], { cwd })))
    expect(verified.map(({ exit, stderr }) => (exit === 0 ? 0 : stderr))).toEqual(trees.map(() => 0))

    await box.run(['bootstrap', '--drop'], { cwd: trees[0] as string })
    const destroyed = await Promise.all(trees.map(cwd => box.run(['destroy', '--json'], { cwd })))
    expect(destroyed.map(({ exit, stderr }) => (exit === 0 ? 0 : stderr))).toEqual(trees.map(() => 0))
    expect(await databases()).toBe(before)
    for (const { indexes } of holdings)
      expect(await command(redis, String(indexes.redis), 'DBSIZE')).toBe('0')
    expect(await command(redis, '0', 'GET', 'main')).toBe('keep')
  })

  it('adds the newer migration to a clone, and builds anew for a branch that lacks the newest', {
    timeout: 120_000,
  }, async () => {
    const box = makeShop()
    const first = box.worktree('first')
    await box.penv(first, ['up'], { stderr: /bootstrap.sh/ })

    const newer = box.worktree('newer')
    box.write(newer, { 'migrations/002_tags.sql': 'create table tags (id serial primary key);\n' })
    await box.penv(newer, ['up'], { stderr: 'any' })
    const templatesOf = () =>
      Object.values(box.ledger().templates as Record<string, { name: string; inputs: object }>)
    expect(templatesOf()).toHaveLength(1)
    expect(await migrationsOf(await databaseOf(box, newer))).toBe('001_notes.sql\n002_tags.sql')

    // A template with both is there; a branch with the first alone must not get it.
    await box.penv(newer, ['bootstrap', '--force'], { stderr: 'any' })
    const older = box.worktree('older')
    await box.penv(older, ['up'], { stderr: 'any' })
    expect(await migrationsOf(await databaseOf(box, older))).toBe('001_notes.sql')

    const diverged = box.worktree('diverged')
    box.write(diverged, {
      'migrations/001_notes.sql': 'create table notes (id serial primary key, other text);\n',
    })
    await box.penv(diverged, ['up'], { stderr: /bootstrap.sh/ })
    expect(
      await query(
        postgres,
        await databaseOf(box, diverged),
        "select column_name from information_schema.columns where table_name = 'notes' order by 1",
      ),
    ).toBe('id\nother')
    await box.penv(first, ['bootstrap', '--drop'], { stderr: 'any' })
    for (const tree of [first, newer, older, diverged]) await box.penv(tree, ['destroy'], { stderr: 'any' })
  })

  it('drops the database of a worktree that is gone, and flushes its index', {
    timeout: 60_000,
  }, async () => {
    const box = makeShop()
    const tree = box.worktree('gone')
    const up = (await box.penv(tree, ['up', '--json'], { stderr: 'any' })).json() as {
      id: string
      names: { preview: string }
      indexes: { redis: number }
    }
    await command(redis, String(up.indexes.redis), 'SET', 'stale', '1')
    box.git(box.main, 'worktree', 'remove', '--force', tree)
    await box.penv(box.main, ['destroy', up.id], { stderr: 'any' })
    expect(await databases()).not.toContain(up.names.preview)
    expect(await command(redis, String(up.indexes.redis), 'DBSIZE')).toBe('0')
  })

  it('fails loudly and keeps the slots when the server does not answer', { timeout: 60_000 }, async () => {
    const box = makeShop()
    const tree = box.worktree('down')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const database = await databaseOf(box, tree)
    const { PGPORT } = box.env
    box.env.PGPORT = '1'
    await box.penv(tree, ['destroy'], { exit: 8, stderr: /127\.0\.0\.1:1/ })
    expect(Object.values(box.ledger().environments)[0]).toMatchObject({
      state: 'teardown-failed',
      names: { preview: database },
    })
    box.env.PGPORT = PGPORT as string
    await box.penv(tree, ['bootstrap', '--drop'], { stderr: 'any' })
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(await databases()).not.toContain(database)
  })

  it('never shows the password on stderr, in the ledger or in a log', { timeout: 60_000 }, async () => {
    const box = makeShop()
    const tree = box.worktree('secret')
    const up = await box.run(['up', '--verbose'], { cwd: tree })
    const encoded = encodeURIComponent(postgres.password ?? '')
    const ledger = readFileSync(join(box.stateDir, 'ledger', box.revisions().at(-1) ?? ''), 'utf8')
    const shown = [
      up.stdout,
      up.stderr,
      ledger,
      (await box.run(['status', '--json'], { cwd: tree })).stdout,
      (await box.run(['session'], { cwd: tree })).stdout,
    ].join('\n')
    expect(up.exit).toBe(0)
    for (const secret of [postgres.password ?? '', encoded]) expect(shown).not.toContain(secret)
    expect(readFileSync(join(tree, '.env.preview'), 'utf8').toLowerCase()).toContain(
      encoded.toLowerCase().slice(0, 6),
    )
    writeFileSync(join(tree, 'done'), '')
    await box.penv(tree, ['bootstrap', '--drop'], { stderr: 'any' })
    await box.penv(tree, ['destroy'], { stderr: 'any' })
  })
})
