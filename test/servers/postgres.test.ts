// postgres against a real server: the common promises, and what only PostgreSQL has (templates, owners, long names).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import { describeServer, startServer, waitFor } from '../support/servers.ts'
import { describeAdapter, type RunningServer } from './conformance.ts'
import { missingPostgres, query, startPostgres } from './postgres-server.ts'

const KEPT = 'create table if not exists kept (value text)'

async function valueIn(server: RunningServer, database: string): Promise<string | undefined> {
  const there = await query(
    server,
    'postgres',
    `select count(*) from pg_database where datname = '${database}'`,
  )
  if (there === '0') return undefined
  const value = await query(
    server,
    database,
    `set client_min_messages = error; ${KEPT}; select value from kept`,
  )
  return value === '' ? undefined : value
}

async function keep(server: RunningServer, database: string, value: string): Promise<void> {
  await query(
    server,
    database,
    `set client_min_messages = error; ${KEPT}; delete from kept; insert into kept values ('${value}')`,
  )
}

/** A session that sleeps in the database, as a worker of the preview would. */
async function hold(server: RunningServer, database: string): Promise<() => Promise<void>> {
  const session = startServer('psql', ['-XAtqwc', 'select pg_sleep(600)', database], {
    directory: tmpdir(),
    env: server.env,
    asCaller: true,
  })
  await waitFor('a session', async () => {
    const count = `select count(*) from pg_stat_activity where datname = '${database}' and query like '%pg_sleep(600)%'`
    return (await query(server, 'postgres', count)) === '1'
  })
  return () => session.stop()
}

describeAdapter({
  service: 'postgres',
  missing: missingPostgres,
  clients: ['psql'],
  start: startPostgres,
  wrongTargets: [
    'shop',
    'postgres',
    'template1',
    'preview_login_k3v9xab',
    'x login_k3v9xa',
    '../login_k3v9xa',
  ],
  prepareMain: async server => void (await query(server, 'postgres', 'create database shop')),
  write: keep,
  read: valueIn,
  writeMain: (server, value) => keep(server, 'shop', value),
  readMain: server => valueIn(server, 'shop'),
  lookalikes: async server => void (await query(server, 'postgres', 'create database preview_login_a2b3c4')),
  hold,
})

describeServer('postgres templates', missingPostgres, () => {
  const id = 'login_k3v9xa'
  const slice = `preview_${id}`
  const template = 'penv_tpl_shop_1'
  let data: string
  let server: RunningServer

  const run = (script: string, env: Record<string, string> = {}) =>
    runVerbs({ service: 'postgres', script, id, data, env: { ...server.env, ...env } })
  const succeed = async (script: string, env: Record<string, string> = {}) => {
    const result = await run(script, env)
    expect(result, result.stderr).toMatchObject({ code: 0 })
    return result
  }
  const CREATE = `postgres_create ${slice} ${template}; printf 'cloned=%s' "$postgres_cloned"`
  const databases = async () =>
    (await query(server, 'postgres', 'select datname from pg_database order by 1')).split('\n')

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'penv-pg-'))
    server = await startPostgres()
    await succeed(`postgres_create ${template}`)
    await keep(server, template, 'of the template')
    await succeed(`postgres_freeze ${template}`)
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(data, { recursive: true, force: true })
  })

  it('clones a frozen template, owned by the one who asked', async () => {
    const { stdout, stderr } = await succeed(CREATE)
    expect({ stdout, stderr }).toEqual({ stdout: 'cloned=1', stderr: '' })
    expect(await valueIn(server, slice)).toBe('of the template')
    const owner = `select pg_get_userbyid(datdba) from pg_database where datname = '${slice}'`
    expect(await query(server, 'postgres', owner)).toBe('app')
  })

  it('says that nothing was cloned when the database was there already', async () => {
    expect((await succeed(CREATE)).stdout).toBe('cloned=')
    expect(await valueIn(server, slice)).toBe('of the template')
    await succeed(`postgres_drop ${slice}`)
  })

  it('does not count templates among the environments, nor lets a session into one', async () => {
    expect((await succeed('postgres_list')).stdout).toBe('')
    await expect(query(server, template, 'select 1')).rejects.toThrow(/not currently accepting connections/)
  })

  it('ends the sessions of a template when freezing it', async () => {
    await succeed(`postgres_create penv_tpl_busy`)
    const release = await hold(server, 'penv_tpl_busy')
    await succeed(`postgres_freeze penv_tpl_busy; postgres_create ${slice} penv_tpl_busy`)
    await release()
    await succeed(`postgres_drop ${slice}; postgres_drop_template penv_tpl_busy`)
  })

  it.each([
    ['is in use', async () => hold(server, 'in_use'), 'in_use'],
    ['does not exist', async () => undefined, 'penv_tpl_gone'],
  ])('creates an empty database, and says why, when the template %s', async (_why, prepare, from) => {
    if (from === 'in_use') await query(server, 'postgres', 'create database in_use')
    const release = await prepare()
    const { stdout, stderr } = await succeed(
      `postgres_create ${slice} ${from}; printf 'cloned=%s' "$postgres_cloned"`,
    )
    await release?.()
    expect(stdout).toBe('cloned=')
    expect(stderr.match(/^penv: /gm)).toHaveLength(1)
    expect(stderr).toContain(from)
    expect(await valueIn(server, slice)).toBeUndefined()
    await succeed(`postgres_verify ${slice}; postgres_drop ${slice}`)
  })

  it('creates an empty database when the role may not clone', async () => {
    await query(server, 'postgres', `create role small login createdb password 'small'`)
    await query(server, 'postgres', 'create database private')
    const small = { PGUSER: 'small', PGPASSWORD: 'small' }
    const refused = await succeed(
      `postgres_create ${slice} private; printf 'cloned=%s' "$postgres_cloned"`,
      small,
    )
    expect(refused.stdout).toBe('cloned=')
    expect(refused.stderr).toContain('42501')
    await succeed(`postgres_verify ${slice}; postgres_drop ${slice}`, small)
  })

  it('creates an empty database when the collation of the template is outdated', async () => {
    // Before 15 a database has no recorded version that a newer C library could differ from.
    if (Number(await query(server, 'postgres', 'show server_version_num')) < 150_000) return
    await query(server, 'postgres', `create database aged template template0 locale 'C.UTF-8'`)
    await query(server, 'postgres', `update pg_database set datcollversion = '0.1' where datname = 'aged'`)
    const aged = await succeed(`postgres_create ${slice} aged; printf 'cloned=%s' "$postgres_cloned"`)
    expect(aged.stdout).toBe('cloned=')
    expect(aged.stderr).toMatch(/collation version/)
    await succeed(`postgres_drop ${slice}`)
  })

  it('fails without a database when the role may not create one, or another role owns it', async () => {
    await query(server, 'postgres', `create role limited login password 'limited'`)
    const limited = { PGUSER: 'limited', PGPASSWORD: 'limited' }
    const refused = await run(`postgres_create ${slice}`, limited)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('42501')
    expect(await databases()).not.toContain(slice)

    await succeed(`postgres_create ${slice}`)
    const taken = await run(`postgres_drop ${slice}`, limited)
    expect(taken.code).not.toBe(0)
    expect(await databases()).toContain(slice)
    await succeed(`postgres_drop ${slice}`)
  })

  it('drops a database of this environment that is flagged as a template', async () => {
    await succeed(`postgres_create ${slice}`)
    await query(server, 'postgres', `alter database ${slice} is_template true`)
    await succeed(`postgres_drop ${slice}`)
    expect(await databases()).not.toContain(slice)
  })

  it('refuses a name that the server would cut, and creates nothing', async () => {
    const long = `${'x'.repeat(57)}_${id}`
    expect(long).toHaveLength(70)
    const { code, stderr } = await run(`postgres_create ${long}`)
    expect(code).not.toBe(0)
    expect(stderr).toContain('70 bytes')
    expect((await databases()).filter(name => name.startsWith('xxx'))).toEqual([])
    await succeed(
      `postgres_create ${long.slice(7)}; postgres_verify ${long.slice(7)}; postgres_drop ${long.slice(7)}`,
    )
  })

  it('notices a database that another environment owns under a name like ours', async () => {
    await succeed(`postgres_create ${slice}`)
    await query(server, 'postgres', `comment on database ${slice} is 'penv other_z9z9z9'`)
    const { code, stderr } = await run(`postgres_verify ${slice}`)
    expect(code).not.toBe(0)
    expect(stderr).toContain(slice)
    await query(server, 'postgres', `comment on database ${slice} is null`)
    await succeed(`postgres_create ${slice}; postgres_list | grep -qx ${slice}; postgres_drop ${slice}`)
  })

  it.each([
    'shop',
    'postgres',
    'template1',
    'penv_tpl_',
    'preview_login_k3v9xa',
    `penv_tpl_x"; drop database postgres`,
  ])('refuses to freeze or drop "%s" as a template', async name => {
    for (const verb of ['postgres_freeze', 'postgres_drop_template'])
      expect((await run(`${verb} '${name}'`)).code).not.toBe(0)
  })

  it('lets two create the same database at once', async () => {
    const both = await Promise.all([run(`postgres_create ${slice}`), run(`postgres_create ${slice}`)])
    expect(both.map(result => [result.code, result.stderr])).toEqual([
      [0, ''],
      [0, ''],
    ])
    await succeed(`postgres_drop ${slice}`)
  })

  it('is not led elsewhere by PGDATABASE and PGSERVICE of the caller', async () => {
    const elsewhere = { PGDATABASE: 'postgres', PGSERVICE: 'nowhere' }
    await succeed(`postgres_create ${slice}; postgres_verify ${slice}`, elsewhere)
    await succeed(`postgres_drop ${slice}`, { PGDATABASE: slice })
  })

  it('drops a template that is frozen, twice', async () => {
    await succeed(`postgres_drop_template ${template}; postgres_drop_template ${template}`)
    expect(await databases()).not.toContain(template)
  })
})
