// What one more isolated world costs: on one shared PostgreSQL server by a cloned template, on the same server by
// plain migrations, and with a server for each world. Prints a table for the README and writes dist/bench/worlds.json.
// Figures only: nothing here asserts a time.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { missingPostgres, query, startPostgres } from '../servers/postgres-server.ts'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'
import { type ServerProcess, startServer } from '../support/servers.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const WORLDS = [1, 2, 4, 8]
const TABLES = 60
const ROWS = 200_000
/** Sessions that an app keeps open in its world. */
const SESSIONS = 2
const MIB = 1024 * 1024

type Server = Awaited<ReturnType<typeof startPostgres>>

interface World {
  seconds: number
  memoryMiB: number
  diskMiB: number
}

const migration = Array.from({ length: TABLES }, (_, at) => {
  const rows = Math.floor(ROWS / TABLES)
  return `create table t${at} (id serial primary key, name text not null, at timestamptz not null default now());
create index on t${at} (name);
insert into t${at} (name) select 'row ' || n || ' of t${at}' from generate_series(1, ${rows}) n;`
}).join('\n')

function makeShop(server: Server, hasTemplate: boolean): Sandbox {
  const box = makeSandbox('penv-bench-')
  Object.assign(box.env, server.env)
  cpSync(join(ROOT, 'samples', 'preview', 'postgres-redis'), join(box.main, '.preview'), { recursive: true })
  // The figure is Postgres alone.
  const provision = join(box.main, '.preview', 'provision.sh')
  const text = readFileSync(provision, 'utf8')
    .split('\n')
    .filter(line => !/redis|REDIS/.test(line))
    .join('\n')
  writeFileSync(provision, text)
  writeFileSync(
    join(box.main, '.preview', 'teardown.sh'),
    '#!/bin/sh\nset -eu\n. "$PENV_ADAPTERS/postgres.sh"\ndatabase=$(penv get name preview)\npostgres_drop "$database"\n',
  )
  if (!hasTemplate) rmSync(join(box.main, '.preview', 'bootstrap.sh'))
  box.write(box.main, { 'migrations/001_tables.sql': migration })
  box.git(box.main, 'add', '--all')
  box.git(box.main, 'commit', '--quiet', '-m', 'shop')
  return box
}

async function up(box: Sandbox, tree: string): Promise<number> {
  const startedAt = performance.now()
  await box.penv(tree, ['up'], { stderr: 'any' })
  return (performance.now() - startedAt) / 1000
}

/** Keeps an app's sessions open, each having read every table. */
function openSessions(server: Server, database: string): ServerProcess[] {
  const reads = Array.from({ length: TABLES }, (_, at) => `select count(*) from t${at};`).join(' ')
  return Array.from({ length: SESSIONS }, () =>
    startServer('psql', ['-XAtqw', '-d', database, '-c', `${reads} select pg_sleep(3600)`], {
      directory: '/tmp',
      env: server.env,
    }),
  )
}

/** Proportional memory of all processes of the servers, as the kernel accounts it. */
function memoryOf(servers: readonly Server[]): number {
  const directories = new Set(servers.map(server => server.dataDirectory))
  let kib = 0
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')) continue
      if (!directories.has(execFileSync('readlink', [`/proc/${pid}/cwd`], { encoding: 'utf8' }).trim()))
        continue
      kib += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
    } catch {
      // It ended meanwhile.
    }
  }
  return kib / 1024
}

function diskOf(servers: readonly Server[]): number {
  return servers.reduce(
    (sum, { dataDirectory }) =>
      sum + Number(execFileSync('du', ['-sk', dataDirectory], { encoding: 'utf8' }).split('\t')[0]) / 1024,
    0,
  )
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** All sessions of a world have read its tables. */
async function settle(server: Server, sessions: number): Promise<void> {
  while (
    Number(
      await query(server, 'postgres', "select count(*) from pg_stat_activity where wait_event = 'PgSleep'"),
    ) < sessions
  );
}

async function measureShared(hasTemplate: boolean): Promise<World[]> {
  const server = await startPostgres()
  const box = makeShop(server, hasTemplate)
  // The template is built once per schema, not per world.
  if (hasTemplate) await box.penv(box.worktree('builder'), ['bootstrap'], { stderr: 'any' })
  const worlds: World[] = []
  const sessions: ServerProcess[] = []
  for (let at = 1; at <= Math.max(...WORLDS); at++) {
    const tree = box.worktree(`world${at}`)
    const [memory, disk] = [memoryOf([server]), diskOf([server])]
    const seconds = await up(box, tree)
    const name = (await box.run(['get', 'name', 'preview'], { cwd: tree })).stdout.trim()
    sessions.push(...openSessions(server, name))
    await settle(server, sessions.length)
    worlds.push({ seconds, memoryMiB: memoryOf([server]) - memory, diskMiB: diskOf([server]) - disk })
  }
  await Promise.all(sessions.map(session => session.stop()))
  await server.stop()
  return worlds
}

async function measureOwn(): Promise<World[]> {
  const servers: Server[] = []
  const sessions: ServerProcess[] = []
  const worlds: World[] = []
  for (let at = 1; at <= Math.max(...WORLDS); at++) {
    const [memory, disk] = [memoryOf(servers), diskOf(servers)]
    const startedAt = performance.now()
    const server = await startPostgres()
    const box = makeShop(server, false)
    const tree = box.worktree('world')
    await up(box, tree)
    const seconds = (performance.now() - startedAt) / 1000
    servers.push(server)
    sessions.push(
      ...openSessions(server, (await box.run(['get', 'name', 'preview'], { cwd: tree })).stdout.trim()),
    )
    await settle(server, SESSIONS)
    worlds.push({ seconds, memoryMiB: memoryOf(servers) - memory, diskMiB: diskOf(servers) - disk })
  }
  await Promise.all(sessions.map(session => session.stop()))
  await Promise.all(servers.map(server => server.stop()))
  return worlds
}

/** `up` that clones against the bare clone and the start of penv itself, in one run. */
async function measureUp(): Promise<{
  upSeconds: number
  cloneSeconds: number
  idSeconds: number
  startsBeyondClone: number
}> {
  const server = await startPostgres()
  const box = makeShop(server, true)
  await box.penv(box.worktree('builder'), ['bootstrap'], { stderr: 'any' })
  const template = Object.keys(box.ledger().templates as object)[0]
  const [ups, clones, ids]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < 7; round++) {
    const tree = box.worktree(`round${round}`)
    ups.push(await up(box, tree))
    let startedAt = performance.now()
    execFileSync('createdb', ['-T', template as string, '--strategy=file_copy', `bare${round}`], {
      env: { ...box.env, ...server.env },
    })
    clones.push((performance.now() - startedAt) / 1000)
    startedAt = performance.now()
    await box.penv(tree, ['id'])
    ids.push((performance.now() - startedAt) / 1000)
  }
  await server.stop()
  const [upSeconds, cloneSeconds, idSeconds] = [median(ups), median(clones), median(ids)]
  return { upSeconds, cloneSeconds, idSeconds, startsBeyondClone: (upSeconds - cloneSeconds) / idSeconds }
}

it('measures what one more world costs', async () => {
  expect(missingPostgres).toBeUndefined()
  const rows = {
    'shared server, cloned template': await measureShared(true),
    'shared server, migrations': await measureShared(false),
    'a server for each world': await measureOwn(),
  }
  const single = await measureUp()
  const machine = `${cpus().length} cores, ${Math.round(totalmem() / MIB / 1024)} GiB, ${TABLES} tables, ${ROWS} rows, ${SESSIONS} open sessions a world`
  const cell = (world: World | undefined) =>
    world
      ? `${world.seconds.toFixed(1)} s, ${Math.round(world.memoryMiB)} MiB, ${Math.round(world.diskMiB)} MiB`
      : ''
  const table = [
    `| time, memory and disk of | ${WORLDS.map(n => `world ${n}`).join(' | ')} |`,
    `| --- |${' --- |'.repeat(WORLDS.length)}`,
    ...Object.entries(rows).map(
      ([name, worlds]) => `| ${name} | ${WORLDS.map(n => cell(worlds[n - 1])).join(' | ')} |`,
    ),
  ].join('\n')
  mkdirSync(join(ROOT, 'dist', 'bench'), { recursive: true })
  writeFileSync(
    join(ROOT, 'dist', 'bench', 'worlds.json'),
    `${JSON.stringify({ machine, rows, single }, null, 2)}\n`,
  )
  process.stdout.write(
    `\n${machine}\n\n${table}\n\nup that clones: ${single.upSeconds.toFixed(2)} s; bare clone ${single.cloneSeconds.toFixed(2)} s; penv id ${single.idSeconds.toFixed(3)} s; beyond the clone: ${single.startsBeyondClone.toFixed(1)} starts of penv\n`,
  )
})
