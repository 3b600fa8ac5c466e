// mysql against a real MariaDB: the common promises, and the copy of a template with all that a schema can hold.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import { describeServer, startServer, waitFor } from '../support/servers.ts'
import { describeAdapter, type RunningServer } from './conformance.ts'
import { clientArguments, missingMysql, query, startMysql } from './mysql-server.ts'

async function valueIn(server: RunningServer, database: string): Promise<string | undefined> {
  const there = `select count(*) from information_schema.tables where table_schema = '${database}' and table_name = 'kept'`
  if ((await query(server, 'mysql', there)) === '0') return undefined
  const value = await query(server, database, 'select value from kept')
  return value === '' ? undefined : value
}

async function keep(server: RunningServer, database: string, value: string): Promise<void> {
  await query(
    server,
    database,
    `create table if not exists kept (value text); delete from kept; insert into kept values ('${value}')`,
  )
}

/** A session with a transaction open on the table, which would make a drop wait for it. */
async function hold(server: RunningServer, database: string): Promise<() => Promise<void>> {
  const sql = 'start transaction; select count(*) from kept; select sleep(600)'
  const session = startServer('mariadb', [...clientArguments(server, database), '-e', sql], {
    directory: tmpdir(),
    env: { MYSQL_PWD: server.env.MYSQL_PWD ?? '' },
    asCaller: true,
  })
  const count = `select count(*) from information_schema.processlist where db = '${database}' and info like '%sleep(600)%'`
  await waitFor('a session', async () => (await query(server, 'mysql', count)) === '1')
  return () => session.stop()
}

describeAdapter({
  service: 'mysql',
  aliases: ['mariadb', 'percona'],
  missing: missingMysql,
  clients: ['mysql', 'mariadb', 'mysqldump', 'mariadb-dump'],
  start: startMysql,
  wrongTargets: [
    'shop',
    'mysql',
    'information_schema',
    'preview_login_k3v9xab',
    'x; drop database shop; login_k3v9xa',
  ],
  prepareMain: async server => void (await query(server, 'mysql', 'create database shop')),
  write: keep,
  read: valueIn,
  writeMain: (server, value) => keep(server, 'shop', value),
  readMain: server => valueIn(server, 'shop'),
  lookalikes: async server => void (await query(server, 'mysql', 'create database preview_login_a2b3c4')),
  hold,
})

const SCHEMA = `
alter database character set latin1;
set names utf8mb4;
create table parents (id int primary key auto_increment, \`ключ é\` int default 5, name varchar(20) character set utf8mb4 not null, \`odd \`\` name\` int default 3,
  letters int generated always as (char_length(name)) stored, seen datetime default '0000-00-00 00:00:00') auto_increment = 40;
create table children (id int primary key, parent int not null, constraint of_parent foreign key (parent) references parents (id));
create table log (entry text character set utf8mb4);
create view names as select upper(name) as name from parents;
create function twice(n int) returns int deterministic return n * 2;
create trigger logged after insert on parents for each row insert into log values (new.name);
set sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
insert into parents (id, name, seen) values (0, 'zero', '0000-00-00 00:00:00'), (7, 'été 🦉', '2020-02-02 00:00:00');
insert into children values (1, 7), (2, 0);
create sequence numbers start with 100;
select nextval(numbers);`

describeServer('mysql templates', missingMysql, () => {
  const id = 'login_k3v9xa'
  const slice = `preview_${id}`
  const template = 'penv_tpl_shop_1'
  let data: string
  let server: RunningServer

  const run = (script: string, env: Record<string, string> = {}) =>
    runVerbs({ service: 'mysql', script, id, data, env: { ...server.env, ...env } })
  const succeed = async (script: string, env: Record<string, string> = {}) => {
    const result = await run(script, env)
    expect(result, result.stderr).toMatchObject({ code: 0 })
    return result
  }
  const create = (from: string) => `mysql_create ${slice} ${from}; printf 'cloned=%s' "$mysql_cloned"`
  const there = async (name: string) =>
    (await query(
      server,
      'mysql',
      `select count(*) from information_schema.schemata where schema_name = '${name}'`,
    )) === '1'

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'penv-my-'))
    server = await startMysql()
    await succeed(`mysql_create ${template}`)
    await query(server, template, SCHEMA)
    await succeed(`mysql_freeze ${template}`)
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(data, { recursive: true, force: true })
  })

  it('copies rows, keys, views, functions, triggers and the character set', async () => {
    const { stdout, stderr } = await succeed(create(template))
    expect({ stdout, stderr }).toEqual({ stdout: 'cloned=1', stderr: '' })
    const asked = (sql: string) => query(server, slice, `set names utf8mb4; ${sql}`)
    expect(await asked('select id, name, letters, seen from parents order by id')).toBe(
      '0\tzero\t4\t0000-00-00 00:00:00\n7\tété 🦉\t5\t2020-02-02 00:00:00',
    )
    expect(await asked('select entry from log order by entry')).toBe('été 🦉\nzero')
    expect(await asked('select name from names order by name')).toBe('ÉTÉ 🦉\nZERO')
    expect(await asked('select twice(4)')).toBe('8')
    await expect(asked('insert into children values (9, 99)')).rejects.toThrow(/of_parent/)
    expect(
      await asked(
        `insert into parents (name) values ('new'); select max(id) from parents; select count(*) from log`,
      ),
    ).toBe('40\n3')
    expect(await asked('select @@character_set_database')).toBe('latin1')
    expect(Number(await asked('select nextval(numbers)'))).toBeGreaterThan(100)
    expect(await query(server, template, 'select count(*) from parents')).toBe('2')
  })

  it('keeps the copy apart from the template', async () => {
    expect(await query(server, slice, 'select count(*) from parents')).toBe('3')
    const references = `select distinct unique_constraint_schema from information_schema.referential_constraints where constraint_schema = '${slice}'`
    expect(await query(server, 'mysql', references)).toBe(slice)
    expect(await query(server, slice, 'show create view names')).not.toContain(template)
  })

  it('marks the copy as the environment and not as a template', async () => {
    expect((await succeed('mysql_list')).stdout).toBe(`${slice}\n`)
    expect((await succeed(create(template))).stdout).toBe('cloned=')
    await succeed(`mysql_verify ${slice}; mysql_drop ${slice}`)
  })

  it.each(['penv copying', 'penv template'])(
    'starts over a copy that was killed at the mark "%s"',
    async mark => {
      await query(
        server,
        'mysql',
        `create database ${slice}; create table ${slice}.half (id int);
       create procedure ${slice}.penv_owner() comment '${mark}' select 1`,
      )
      expect((await succeed(create(template))).stdout).toBe('cloned=1')
      await expect(query(server, slice, 'select * from half')).rejects.toThrow(/half/)
      await succeed(`mysql_drop ${slice}`)
    },
  )

  it('creates an empty database, and says why, when the template does not exist or cannot be copied', async () => {
    const gone = await succeed(create('penv_tpl_gone'))
    expect(gone.stdout).toBe('cloned=')
    expect(gone.stderr.match(/^penv: /gm)).toHaveLength(1)
    expect(gone.stderr).toContain('penv_tpl_gone')
    await succeed(`mysql_verify ${slice}; mysql_drop ${slice}`)

    await succeed('mysql_create penv_tpl_broken')
    await query(
      server,
      'penv_tpl_broken',
      'create table base (id int); create view stale as select id from base',
    )
    await query(server, 'penv_tpl_broken', 'drop table base')
    const broken = await succeed(create('penv_tpl_broken'))
    expect(broken.stdout).toBe('cloned=')
    expect(await query(server, slice, 'show tables')).toBe('')
    await succeed(`mysql_verify ${slice}; mysql_drop ${slice}; mysql_drop_template penv_tpl_broken`)
  })

  it('refuses a database that another environment owns, and leaves it', async () => {
    await query(
      server,
      'mysql',
      `create database ${slice}; create procedure ${slice}.penv_owner() comment 'penv other_z9z9z9' select 1`,
    )
    for (const verb of ['mysql_create', 'mysql_verify']) {
      const { code, stderr } = await run(`${verb} ${slice}`)
      expect(code).not.toBe(0)
      expect(stderr).toContain('other_z9z9z9')
    }
    await query(server, 'mysql', `drop database ${slice}`)
  })

  it('fails when the account may not create databases', async () => {
    await query(server, 'mysql', `create user small@'%' identified by 'small'`)
    const { code, stderr } = await run(`mysql_create ${slice}`, { MYSQL_USER: 'small', MYSQL_PWD: 'small' })
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/denied/)
    expect(await there(slice)).toBe(false)
  })

  it('refuses a name that the server would not take, and to drop as a template what is none', async () => {
    expect((await run(`mysql_create ${'x'.repeat(52)}_${id}`)).stderr).toContain('65 bytes')
    for (const name of ['mysql', 'shop', slice, 'penv_tpl_'])
      expect((await run(`mysql_drop_template ${name}`)).code).not.toBe(0)
  })

  it('drops a template, twice', async () => {
    await succeed(`mysql_drop_template ${template}; mysql_drop_template ${template}`)
    expect(await there(template)).toBe(false)
  })
})
