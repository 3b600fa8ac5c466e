// mongodb against FerretDB with SQLite, which speaks its protocol: the common promises and copies of templates.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import {
  describeServer,
  findProgram,
  freePort,
  missingPrograms,
  runClient,
  serverDirectory,
  startServer,
  waitFor,
  waitForServer,
} from '../support/servers.ts'
import { describeAdapter, type RunningServer } from './conformance.ts'

const ferretdb = findProgram('ferretdb')
const mongosh = findProgram('mongosh')
const missing = missingPrograms({ ferretdb, mongosh })

const PASSWORD = `p@ss w%rd/'"$x:#é?`

async function start(): Promise<RunningServer> {
  const directory = serverDirectory()
  for (const name of ['data', 'state']) mkdirSync(join(directory, name))
  const port = await freePort()
  const server = startServer(
    ferretdb as string,
    [
      '--handler=sqlite',
      `--sqlite-url=file:${directory}/data/`,
      `--state-dir=${directory}/state`,
      `--listen-addr=127.0.0.1:${port}`,
      '--debug-addr=-',
      '--telemetry=disable',
      '--test-enable-new-auth',
      '--setup-database=admin',
      '--setup-username=app',
      `--setup-password=${PASSWORD}`,
    ],
    { directory, asCaller: true },
  )
  await waitForServer(server, 'ferretdb', () => server.output().includes('Listening on TCP'))
  const urlWith = (password: string) =>
    `mongodb://app:${encodeURIComponent(password).replaceAll("'", '%27')}@127.0.0.1:${port}/?authSource=admin`
  return {
    version: 'FerretDB 1.24',
    address: `127.0.0.1:${port}`,
    env: { MONGO_URL: urlWith(PASSWORD) },
    password: PASSWORD,
    wrongEnv: { MONGO_URL: urlWith('wr0ng-but-secret') },
    stop: () => server.stop(),
  }
}

/** Runs a script in a database, `db`, as an application; what it prints. */
async function evaluate(server: RunningServer, database: string, script: string): Promise<string> {
  const code = `const db = connect(process.env.MONGO_URL).getSiblingDB("${database}"); ${script}; void 0`
  const args = ['--nodb', '--quiet', '--norc', '--eval', code]
  return (await runClient(mongosh as string, args, { env: server.env })).trim()
}

const write = async (server: RunningServer, database: string, value: string) =>
  void (await evaluate(
    server,
    database,
    `db.kept.deleteMany({}); db.kept.insertOne({ _id: 1, value: "${value}" })`,
  ))

async function read(server: RunningServer, database: string): Promise<string | undefined> {
  const value = await evaluate(
    server,
    database,
    `const found = db.kept.findOne({ _id: 1 }); print(found ? found.value : "")`,
  )
  return value === '' ? undefined : value
}

describeAdapter({
  service: 'mongodb',
  aliases: ['ferretdb'],
  missing,
  clients: ['mongosh'],
  start,
  wrongTargets: ['shop', 'admin', 'preview_login_k3v9xab', 'x.login_k3v9xa', '../login_k3v9xa'],
  write,
  read,
  writeMain: (server, value) => write(server, 'shop', value),
  readMain: server => read(server, 'shop'),
  lookalikes: server => write(server, 'preview_login_a2b3c4', 'of main'),
  hold: async (server, slice) => {
    const session = startServer(
      mongosh as string,
      [
        '--nodb',
        '--quiet',
        '--norc',
        '--eval',
        `const db = connect(process.env.MONGO_URL).getSiblingDB("${slice}"); print(db.kept.countDocuments({}) + " held"); sleep(600000)`,
      ],
      { directory: tmpdir(), env: server.env, asCaller: true },
    )
    await waitFor('a session', () => session.output().includes('1 held'))
    return () => session.stop('SIGKILL')
  },
})

describeServer('mongodb templates', missing, () => {
  const id = 'login_k3v9xa'
  const slice = `preview_${id}`
  const template = 'penv_tpl_shop_1'
  let data: string
  let server: RunningServer
  const run = (script: string, env: Record<string, string> = {}) =>
    runVerbs({ service: 'mongodb', script, id, data, env: { ...server.env, ...env } })
  const succeed = async (script: string) => {
    const result = await run(script)
    expect(result, result.stderr).toMatchObject({ code: 0 })
    return result
  }
  const create = (from: string) => `mongodb_create ${slice} ${from}; printf 'cloned=%s' "$mongodb_cloned"`

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'penv-mongo-'))
    server = await start()
    await succeed(`mongodb_create ${template}`)
    await evaluate(
      server,
      template,
      `db.createCollection("empty"); db.createCollection("recent", { capped: true, size: 4096, max: 5 })
       db.recent.insertOne({ _id: 1 })
       const many = []; for (let n = 0; n < 2500; n++) many.push({ _id: n, email: n + "@example", at: new Date(n) })
       db.people.insertMany(many); db.people.createIndex({ email: 1 }, { unique: true, name: "by email" })`,
    )
    await succeed(`mongodb_freeze ${template}`)
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(data, { recursive: true, force: true })
  })

  it('copies documents, indexes, options and empty collections', async () => {
    const { stdout, stderr } = await succeed(create(template))
    expect({ stdout, stderr }).toEqual({ stdout: 'cloned=1', stderr: '' })
    const seen = await evaluate(
      server,
      slice,
      `const names = db.getCollectionNames().sort()
       const people = db.people.findOne({ _id: 2499 })
       let unique = ""
       try { db.people.insertOne({ _id: "new", email: "7@example" }) } catch (error) { unique = error.message }
       print(JSON.stringify({ names, count: db.people.countDocuments({}), at: people.at.getTime(), isUnique: /duplicate/i.test(unique),
         index: db.people.getIndexes().map(index => index.name), isCapped: db.recent.isCapped() }))`,
    )
    expect(JSON.parse(seen)).toEqual({
      names: ['empty', 'penv_owner', 'people', 'recent'],
      count: 2500,
      at: 2499,
      isUnique: true,
      index: ['_id_', 'by email'],
      isCapped: true,
    })
  })

  it('marks the copy as the environment and not as a template', async () => {
    expect((await succeed('mongodb_list')).stdout).toBe(`${slice}\n`)
    expect((await succeed(create(template))).stdout).toBe('cloned=')
    await succeed(`mongodb_verify ${slice}; mongodb_drop ${slice}`)
  })

  it('starts over a copy that was killed half-way', async () => {
    await evaluate(
      server,
      slice,
      `db.half.insertOne({}); db.penv_owner.insertOne({ _id: "penv", mark: "penv copying" })`,
    )
    expect((await succeed(create(template))).stdout).toBe('cloned=1')
    expect(
      await evaluate(server, slice, 'print(db.half.countDocuments({}), db.people.countDocuments({}))'),
    ).toBe('0 2500')
    await succeed(`mongodb_drop ${slice}`)
  })

  it('creates an empty database, and says why, without the template', async () => {
    const { stdout, stderr } = await succeed(create('penv_tpl_gone'))
    expect(stdout).toBe('cloned=')
    expect(stderr.match(/^penv: /gm)).toHaveLength(1)
    expect(stderr).toContain('penv_tpl_gone')
    await succeed(`mongodb_verify ${slice}; mongodb_drop ${slice}`)
  })

  it('refuses a database that another environment owns', async () => {
    await evaluate(server, slice, `db.penv_owner.insertOne({ _id: "penv", mark: "penv other_z9z9z9" })`)
    for (const verb of ['mongodb_create', 'mongodb_verify'])
      expect((await run(`${verb} ${slice}`)).stderr).toContain('other_z9z9z9')
    await evaluate(server, slice, 'db.dropDatabase()')
  })

  it('freezes and drops as a template what is one, and nothing else', async () => {
    for (const name of ['shop', slice, 'penv_tpl_', 'admin'])
      for (const verb of ['mongodb_freeze', 'mongodb_drop_template'])
        expect((await run(`${verb} ${name}`)).code).not.toBe(0)
    expect((await run('mongodb_freeze penv_tpl_gone')).code).not.toBe(0)
    await succeed(`mongodb_drop_template ${template}; mongodb_drop_template ${template}`)
    expect((await run(`mongodb_freeze ${template}`)).code).not.toBe(0)
  })

  it.each([
    [
      'mongodb://u:p%40@one:1,two:2/shop?ssl=true',
      'mongodb://u:p%40@one:1,two:2/NAME?authSource=shop&ssl=true',
    ],
    ['mongodb://u:p@one', 'mongodb://u:p@one/NAME?authSource=admin'],
    ['mongodb+srv://u:p@one/?authSource=x', 'mongodb+srv://u:p@one/NAME?authSource=x'],
    ['mongodb://one:1?ssl=true', 'mongodb://one:1/NAME?ssl=true'],
    ['', 'mongodb://127.0.0.1:27017/NAME'],
  ])('gives for MONGO_URL "%s" the URL "%s"', async (base, expected) => {
    const { stdout } = await run(`mongodb_url ${slice}`, { MONGO_URL: base })
    expect(stdout).toBe(`${expected.replace('NAME', slice)}\n`)
  })
})
