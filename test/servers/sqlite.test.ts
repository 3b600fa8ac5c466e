// sqlite with real files: the common promises, templates, rows that are still in the WAL, and links to main's file.
import { type ChildProcess, spawn } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import { describeServer, findProgram, missingPrograms, runClient, waitFor } from '../support/servers.ts'
import { describeAdapter } from './conformance.ts'

const sqlite3 = findProgram('sqlite3')
const missing = missingPrograms({ sqlite3 })

const query = async (file: string, sql: string) =>
  (await runClient(sqlite3 as string, ['-batch', '-bail', file], { input: sql })).trim()

async function keep(file: string, value: string): Promise<void> {
  await query(
    file,
    `create table if not exists kept (value text); delete from kept; insert into kept values ('${value}');`,
  )
}

async function valueIn(file: string): Promise<string | undefined> {
  if (!existsSync(file) || (await query(file, `select name from sqlite_master where name = 'kept';`)) === '')
    return undefined
  return query(file, 'select value from kept;')
}

/** A process that has the database open in WAL mode and goes on having it, its last row not yet in the main file. */
async function openWriter(file: string, sql: string): Promise<ChildProcess> {
  const writer = spawn(sqlite3 as string, ['-batch', file], { stdio: ['pipe', 'pipe', 'inherit'] })
  let output = ''
  writer.stdout.on('data', chunk => {
    output += chunk
  })
  writer.stdin.write(
    `pragma journal_mode = wal;\npragma wal_autocheckpoint = 0;\n${sql}\nselect 'written';\n`,
  )
  await waitFor('a row in the WAL', () => output.includes('written'))
  return writer
}

const end = (child: ChildProcess) =>
  new Promise<void>(resolve => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })

const root = mkdtempSync(join(tmpdir(), 'penv sqlite '))
const pathOf = (slice: string) => join(root, 'envs', slice.replace(/\.db$/, ''), 'data', slice)
const main = join(root, 'main', 'dev.db')

describeAdapter({
  service: 'sqlite',
  missing,
  hasServer: false,
  hasPassword: false,
  dataRoot: root,
  clients: ['sqlite3'],
  sliceOf: id => `${id}.db`,
  foreignNameOf: id => `../../${id}/data/${id}.db`,
  start: async () => {
    mkdirSync(join(root, 'main'))
    mkdirSync(join(root, 'envs', 'login_k3v9xa', 'data'), { recursive: true })
    symlinkSync(main, join(root, 'envs', 'login_k3v9xa', 'data', 'main.db'))
    const version = (await query(':memory:', 'select sqlite_version();')).trim()
    return { version, address: '', env: {}, password: '', stop: async () => undefined }
  },
  wrongTargets: [main, '../../../main/dev.db', 'main.db', '..', '.', '-x', '*'],
  write: (_server, slice, value) => keep(pathOf(slice), value),
  read: (_server, slice) => valueIn(pathOf(slice)),
  writeMain: (_server, value) => keep(main, value),
  readMain: () => valueIn(main),
  lookalikes: async () =>
    writeFileSync(join(root, 'envs', 'login_k3v9xa', 'data', 'notes.db'), 'SQLite format 2'),
  hold: async (_server, slice) => {
    const writer = await openWriter(pathOf(slice), `insert into kept values ('later');`)
    return () => end(writer)
  },
})

describeServer('sqlite templates', missing, () => {
  const id = 'login_k3v9xa'
  let state: string
  let data: string
  let dev: string
  const run = (script: string) => runVerbs({ service: 'sqlite', script, id, data })
  const succeed = async (script: string) => {
    const result = await run(script)
    expect(result, result.stderr).toMatchObject({ code: 0 })
    return result
  }
  const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`
  const create = (from: string) => `sqlite_create app.db ${quoted(from)}; printf 'cloned=%s' "$sqlite_cloned"`

  beforeAll(() => {
    state = mkdtempSync(join(tmpdir(), "penv it's "))
    data = join(state, 'envs', id, 'data')
    mkdirSync(data, { recursive: true })
    mkdirSync(join(state, 'shop'))
    dev = join(state, 'shop', 'dev.db')
  })
  afterAll(() => rmSync(state, { recursive: true, force: true }))

  it('builds a template outside of the environment, freezes and copies it', async () => {
    await succeed('sqlite_create penv_tpl_shop')
    const template = join(state, 'templates', 'penv_tpl_shop')
    await query(template, 'pragma journal_mode = wal; create table kept (value text);')
    await keep(template, 'of the template')
    await succeed('sqlite_freeze penv_tpl_shop')
    expect(readdirSync(join(state, 'templates'))).toEqual(['penv_tpl_shop'])
    const { stdout, stderr } = await succeed(create('penv_tpl_shop'))
    expect({ stdout, stderr }).toEqual({ stdout: 'cloned=1', stderr: '' })
    expect(await valueIn(join(data, 'app.db'))).toBe('of the template')
    expect(statSync(join(data, 'app.db')).mode & 0o777).toBe(0o600)
    await keep(join(data, 'app.db'), 'ours')
    expect((await succeed(create('penv_tpl_shop'))).stdout).toBe('cloned=')
    expect(await valueIn(join(data, 'app.db'))).toBe('ours')
    expect((await succeed('sqlite_list')).stdout).toBe('app.db\n')
    await succeed('sqlite_verify app.db; sqlite_drop app.db')
    expect(await valueIn(template)).toBe('of the template')
  })

  it('copies rows that are still in the WAL of a database in use, and leaves that one as it is', async () => {
    const writer = await openWriter(
      dev,
      `create table kept (value text); insert into kept values ('in the WAL');`,
    )
    const before = readFileSync(dev)
    expect((await succeed(create(dev))).stdout).toBe('cloned=1')
    expect(await valueIn(join(data, 'app.db'))).toBe('in the WAL')
    expect(readFileSync(dev).equals(before)).toBe(true)
    await end(writer)
    await succeed('sqlite_drop app.db')
    expect((await succeed(create(dev))).stdout).toBe('cloned=1')
    expect(await valueIn(join(data, 'app.db'))).toBe('in the WAL')
    await succeed('sqlite_drop app.db')
    expect(await valueIn(dev)).toBe('in the WAL')
  })

  it('does not freeze a template that somebody has open, nor anything but a template', async () => {
    await succeed('sqlite_create penv_tpl_open')
    const writer = await openWriter(join(state, 'templates', 'penv_tpl_open'), 'create table t (a);')
    const { code, stderr } = await run('sqlite_freeze penv_tpl_open')
    await end(writer)
    expect(code).not.toBe(0)
    expect(stderr).toContain('penv_tpl_open')
    await succeed(
      'sqlite_freeze penv_tpl_open; sqlite_drop_template penv_tpl_open; sqlite_drop_template penv_tpl_open',
    )
    await succeed('sqlite_create app.db')
    for (const name of ['app.db', dev, '../shop/dev.db', 'penv_tpl_'])
      for (const verb of ['sqlite_freeze', 'sqlite_drop_template'])
        expect((await run(`${verb} ${quoted(name)}`)).code).not.toBe(0)
    expect((await run('sqlite_drop penv_tpl_shop')).code).not.toBe(0)
    await succeed('sqlite_drop app.db')
  })

  it.each(['penv_tpl_gone', '/nowhere/dev.db'])(
    'creates an empty database, and says why, without "%s"',
    async from => {
      const { stdout, stderr } = await succeed(create(from))
      expect(stdout).toBe('cloned=')
      expect(stderr.match(/^penv: /gm)).toHaveLength(1)
      expect(stderr).toContain(from)
      await succeed('sqlite_verify app.db; sqlite_drop app.db')
    },
  )

  it('creates an empty database when the template is not one, leaving no half copy', async () => {
    writeFileSync(join(state, 'shop', 'noise.db'), 'x'.repeat(5000))
    const { stdout, stderr } = await succeed(create(join(state, 'shop', 'noise.db')))
    expect(stdout).toBe('cloned=')
    expect(stderr).toMatch(/not a database/)
    expect((await succeed('sqlite_list')).stdout).toBe('app.db\n')
    await succeed('sqlite_drop app.db')
    expect(readdirSync(data)).toEqual([])
  })

  it('starts over a copy that was killed half-way', async () => {
    writeFileSync(join(data, 'app.db.penv-copying'), 'half')
    expect((await succeed(create('penv_tpl_shop'))).stdout).toBe('cloned=1')
    expect(readdirSync(data)).toEqual(['app.db'])
    await succeed('sqlite_drop app.db')
  })

  it('leaves alone a file that is no database, and notices a second name of main’s', async () => {
    writeFileSync(join(data, 'app.db'), 'letters of a person')
    expect((await run(create('penv_tpl_shop'))).code).not.toBe(0)
    expect(readFileSync(join(data, 'app.db'), 'utf8')).toBe('letters of a person')
    rmSync(join(data, 'app.db'))
    linkSync(dev, join(data, 'app.db'))
    expect((await run('sqlite_verify app.db')).code).not.toBe(0)
    await succeed('sqlite_drop app.db')
    expect(await valueIn(dev)).toBe('in the WAL')
  })

  it('gives a URL that SQLite opens', async () => {
    await succeed('sqlite_create app.db')
    const url = (await succeed('sqlite_url app.db')).stdout.trim()
    expect(url).toBe(`file:${join(data, 'app.db').replaceAll(' ', '%20')}`)
    await keep(join(data, 'app.db'), 'by its path')
    expect(await query(url, 'select value from kept;')).toBe('by its path')
  })
})
