// nats against a real NATS server: the common promises with JetStream, and the rest without it or without the client.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import {
  describeServer,
  findProgram,
  freePort,
  missingPrograms,
  serverDirectory,
  startServer,
  testPath,
  waitFor,
  waitForServer,
} from '../support/servers.ts'
import { describeAdapter, type RunningServer } from './conformance.ts'

const missing = missingPrograms({
  'nats-server': findProgram('nats-server'),
  nats: findProgram('nats'),
  curl: findProgram('curl'),
})
const PASSWORD = 'p:@/ "\\é%41'

async function start(hasStreams: boolean): Promise<RunningServer> {
  const directory = serverDirectory()
  const [port, monitor] = [await freePort(), await freePort()]
  const quoted = PASSWORD.replace(/[\\"]/g, '\\$&')
  writeFileSync(
    join(directory, 'nats.conf'),
    `listen: 127.0.0.1:${port}\nhttp: 127.0.0.1:${monitor}\n` +
      `authorization { user: "penv", password: "${quoted}" }\n` +
      (hasStreams ? `jetstream { store_dir: "${join(directory, 'data')}" }\n` : ''),
  )
  const server = startServer(findProgram('nats-server') ?? '', ['-c', join(directory, 'nats.conf')], {
    directory,
  })
  await waitForServer(server, 'nats', () => server.output().includes('Server is ready'))
  const address = `127.0.0.1:${port}`
  return {
    version: /Version: +(\S+)/.exec(server.output())?.[1] ?? '',
    address,
    env: {
      NATS_URL: `nats://${address}`,
      NATS_USER: 'penv',
      NATS_PASSWORD: PASSWORD,
      NATS_MONITOR_URL: `http://127.0.0.1:${monitor}`,
    },
    password: PASSWORD,
    wrongEnv: { NATS_PASSWORD: 'not-the-one' },
    stop: () => server.stop(),
  }
}

/** The client as an application's stand-in. */
async function nats(server: RunningServer, ...args: string[]): Promise<string> {
  const env = { PATH: testPath, HOME: tmpdir(), ...server.env }
  return (await promisify(execFile)(findProgram('nats') ?? '', args, { env })).stdout
}

async function streams(server: RunningServer): Promise<string[]> {
  const names = await nats(server, 'stream', 'ls', '--names', '--all')
  return names.split('\n').filter(name => name !== '')
}

async function makeStream(server: RunningServer, name: string, ...subjects: string[]): Promise<void> {
  const config = JSON.stringify({ name, subjects, storage: 'file' })
  const answer = await nats(server, 'request', '--raw', `$JS.API.STREAM.CREATE.${name}`, config)
  if (answer.includes('"error"')) throw new Error(answer)
}

async function keep(server: RunningServer, stream: string, subject: string, value: string): Promise<void> {
  if (!(await streams(server)).includes(stream)) await makeStream(server, stream, subject)
  await nats(server, 'publish', subject, value)
}

async function valueIn(server: RunningServer, stream: string, subject: string): Promise<string | undefined> {
  const query = JSON.stringify({ last_by_subj: subject })
  try {
    const answer = await nats(server, 'request', '--raw', `$JS.API.STREAM.MSG.GET.${stream}`, query)
    const data = (JSON.parse(answer) as { message?: { data: string } }).message?.data
    return data === undefined ? undefined : Buffer.from(data, 'base64').toString()
  } catch {
    return undefined
  }
}

describeAdapter({
  service: 'nats',
  missing,
  clients: ['nats', 'curl'],
  start: () => start(true),
  wrongTargets: ['shop', 'preview', '>', 'preview_login_k3v9xa2', 'preview_login_k3v9xa.>', '*'],
  write: (server, slice, value) => keep(server, `${slice}-items`, `${slice}.items`, value),
  read: (server, slice) => valueIn(server, `${slice}-items`, `${slice}.items`),
  writeMain: (server, value) => keep(server, 'items', 'items', value),
  readMain: server => valueIn(server, 'items', 'items'),
  lookalikes: async server => {
    for (const name of ['shop-penv', 'app_user_a2b3c4', 'app_user_a2b3c4-items'])
      await makeStream(server, name, name)
  },
  hold: async (server, slice) => {
    const { PATH: _, ...env } = server.env
    const reader = startServer(findProgram('nats') ?? '', ['subscribe', `${slice}.>`], {
      directory: tmpdir(),
      env,
    })
    await waitFor('a subscription', () => reader.output().includes('Subscribing'))
    return () => reader.stop()
  },
})

describeServer('nats prefixes', missing, () => {
  const id = 'login_k3v9xa'
  const slice = `preview_${id}`
  let server: RunningServer
  let plain: RunningServer
  let data: string
  let bare: string

  const on = (where: RunningServer, script: string, env: Record<string, string> = {}) =>
    runVerbs({ service: 'nats', script, id, data, env: { ...where.env, ...env } })
  const succeed = async (script: string, env: Record<string, string> = {}, where = server) => {
    const result = await on(where, script, env)
    expect(result, `${script}\n${result.stderr}`).toMatchObject({ code: 0 })
    return result
  }

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'penv-nats-'))
    bare = join(data, 'bin')
    mkdirSync(bare)
    for (const tool of ['sh', 'awk', 'cat', 'curl', 'od', 'sed', 'sort', 'tr'])
      symlinkSync(findProgram(tool) ?? '', join(bare, tool))
    server = await start(true)
    plain = await start(false)
  })
  afterAll(async () => {
    await server?.stop()
    await plain?.stop()
    rmSync(data, { recursive: true, force: true })
  })

  it('drops streams, buckets of keys and of objects, and nothing whose name only starts alike', async () => {
    await succeed(`nats_create ${slice}`)
    await makeStream(server, slice, `${slice}.a`)
    await makeStream(server, `${slice}-items`, `${slice}.b.>`)
    await nats(server, 'kv', 'add', `${slice}-keys`)
    await nats(server, 'object', 'add', `${slice}-files`)
    const foreign = [`${slice}2-items`, `${slice}_b_z9y8x7-items`, `x-${slice}`]
    for (const name of foreign) await makeStream(server, name, `of.${name}`)
    await nats(server, 'kv', 'add', `${slice}2-keys`)
    const { stderr } = await succeed(`nats_drop ${slice}`)
    expect((await streams(server)).sort()).toEqual([...foreign, `KV_${slice}2-keys`].sort())
    expect(stderr).toContain(`${slice}_b_z9y8x7-items`)
    for (const name of await streams(server)) await nats(server, 'stream', 'rm', '--force', name)
  })

  it.each([
    ['of main that keeps our messages', 'all', '*.orders'],
    ['of ours that takes the messages of main', `${slice}-items`, 'orders.>'],
  ])('notices a stream %s', async (_title, name, subject) => {
    await succeed(`nats_create ${slice}\nnats_verify ${slice}`)
    await makeStream(server, name, subject)
    const { code, stderr } = await on(server, `nats_verify ${slice}`)
    expect(code).not.toBe(0)
    expect(stderr).toContain(name)
    await nats(server, 'stream', 'rm', '--force', name)
    await succeed(`nats_verify ${slice}`)
  })

  it('lets the application have a stream on all of its own subjects', async () => {
    await succeed(`nats_create ${slice}`)
    await makeStream(server, `${slice}-all`, `${slice}.>`)
    await succeed(`nats_verify ${slice}\nnats_drop ${slice}`)
  })

  it('looks through the monitoring port where the client is missing, and says what it cannot do', async () => {
    const blind = { PATH: bare }
    for (const script of [`nats_create ${slice}`, `nats_verify ${slice}`]) {
      const { code, stderr } = await on(server, script, blind)
      expect(code, script).not.toBe(0)
      expect(stderr).toContain(slice)
    }
    await succeed(`nats_drop ${slice}`, blind)
    await succeed(`nats_create ${slice}`)
    const { stdout } = await succeed(`nats_create ${slice}\nnats_verify ${slice}\nnats_list`, blind)
    expect(stdout).toBe(`${slice}\n`)
    const { code, stderr } = await on(server, `nats_drop ${slice}`, blind)
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/monitoring port can only look\n {2}To get it done, install the nats command line/)
    await succeed(`nats_drop ${slice}`)
  })

  it('has nothing to create, list or drop where the server has no JetStream', async () => {
    const verbs = ['create', 'create', 'verify', 'list', 'drop', 'drop']
    const script = verbs.map(verb => `nats_${verb} ${slice}`).join('\n')
    for (const env of [{}, { PATH: bare }]) expect((await succeed(script, env, plain)).stdout).toBe('')
    const refused = await on(plain, `nats_verify ${slice}`, { NATS_PASSWORD: 'not-the-one' })
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toMatch(/^penv: cannot verify .*Authorization/)
  })

  it('shows no password of a URL when the login is refused', async () => {
    const url = `nats://penv:s3cret@${server.address}`
    const { code, stdout, stderr } = await on(server, 'nats_list', {
      NATS_URL: url,
      NATS_USER: '',
      NATS_PASSWORD: '',
    })
    expect(code).not.toBe(0)
    expect(stderr).toContain(server.address)
    expect(stdout + stderr).not.toContain('s3cret')
  })
})
