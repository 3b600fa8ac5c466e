// s3 against two real servers, with aws and with curl: versitygw checks signatures and has versions and tags; s3rver
// (from npm, so that it runs wherever Node does) has none of them.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import {
  describeServer,
  findProgram,
  freePort,
  missingPrograms,
  serverDirectory,
  startServer,
  waitForServer,
} from '../support/servers.ts'
import { describeAdapter, type RunningServer } from './conformance.ts'
import { type Credentials, encodeKey, s3 } from './s3-client.ts'

// aws is a Python program that takes a second to start, and longer on a busy machine.
vi.setConfig({ testTimeout: 180_000 })

const SECRET = 's3/cr+et "\\:%41'

interface Bench {
  server: 'versitygw' | 's3rver'
  client: 'aws' | 'curl'
}

const missingFor = ({ server, client }: Bench) =>
  missingPrograms({ [server]: findProgram(server), [client]: findProgram(client) })

/** A PATH without aws, so that the adapter takes curl. */
function pathWithoutAws(directory: string): string {
  const tools =
    'awk bash busybox cat chmod curl cut dash date dirname env expr find grep head id ls mkdir mktemp mv od rm sed sh sleep sort tail tr uname wc'
  const bin = join(directory, 'bin')
  mkdirSync(bin)
  for (const tool of tools.split(' ')) {
    const found = findProgram(tool)
    if (found !== undefined) symlinkSync(found, join(bin, tool))
  }
  return bin
}

async function start({ server: program, client }: Bench): Promise<RunningServer> {
  const directory = serverDirectory()
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  const data = join(directory, 'data')
  const versions = join(directory, 'versions')
  const isGateway = program === 'versitygw'
  const key = isGateway ? 'PENVTESTKEY' : 'S3RVER'
  const secret = isGateway ? SECRET : 'S3RVER'
  const server = startServer(
    'sh',
    [
      '-c',
      'mkdir "$1" "$2" && shift 2 && exec "$@"',
      'sh',
      data,
      versions,
      findProgram(program) ?? '',
      ...(isGateway
        ? ['--port', address, 'posix', '--versioning-dir', versions, data]
        : ['--address', '127.0.0.1', '--port', `${port}`, '--directory', data]),
    ],
    { directory, env: { ROOT_ACCESS_KEY: key, ROOT_SECRET_KEY: secret } },
  )
  const credentials = { address, key, secret }
  await waitForServer(server, program, async () => {
    try {
      return (await s3(credentials, 'GET', '/')).status === 200
    } catch {
      return false
    }
  })
  return {
    version: /(?:versitygw|s3rver)-v?\d[\d.]*/.exec(realpathSync(findProgram(program) ?? ''))?.[0] ?? program,
    address,
    env: {
      ...(client === 'aws' ? {} : { PATH: pathWithoutAws(directory) }),
      AWS_ENDPOINT_URL: `http://${address}/`,
      AWS_ACCESS_KEY_ID: key,
      AWS_SECRET_ACCESS_KEY: secret,
    },
    password: secret,
    wrongEnv: { AWS_SECRET_ACCESS_KEY: 'not-the-one' },
    stop: () => server.stop(),
  }
}

const credentialsOf = ({ address, env }: RunningServer): Credentials => ({
  address,
  key: env.AWS_ACCESS_KEY_ID ?? '',
  secret: env.AWS_SECRET_ACCESS_KEY ?? '',
})

async function put(server: RunningServer, path: string, body = ''): Promise<void> {
  const { status, text } = await s3(credentialsOf(server), 'PUT', path, body)
  if (status !== 200) throw new Error(`PUT ${path}: ${status} ${text}`)
}

async function valueIn(server: RunningServer, bucket: string): Promise<string | undefined> {
  const { status, text } = await s3(credentialsOf(server), 'GET', `/${bucket}/kept`)
  return status === 200 ? text : undefined
}

const kebab = (id: string) => `preview-${id.replaceAll('_', '-')}`

const benches: Bench[] = [
  { server: 'versitygw', client: 'aws' },
  { server: 'versitygw', client: 'curl' },
  { server: 's3rver', client: 'curl' },
]

for (const bench of benches) {
  const { server: program, client } = bench
  const hasTags = program === 'versitygw'
  describeAdapter({
    service: 's3',
    variant: `${program} with ${client}`,
    aliases: ['minio'],
    missing: missingFor(bench),
    hasPassword: program === 'versitygw',
    hasPasswordInUrl: false,
    clients: [client],
    start: () => start(bench),
    sliceOf: kebab,
    wrongTargets: ['shop', 'preview-login-k3v9xa2', 'preview_login_k3v9xa', '-', 'preview-login-k3v9xa/x'],
    prepareMain: server => put(server, '/shop'),
    write: (server, bucket, value) => put(server, `/${bucket}/kept`, value),
    read: valueIn,
    writeMain: (server, value) => put(server, '/shop/kept', value),
    readMain: server => valueIn(server, 'shop'),
    lookalikes: async server => {
      await put(server, '/shop-login-ilouil')
      if (hasTags) await put(server, '/shop-login-a2b3c4')
    },
  })

  describeServer(`s3 buckets on ${program} with ${client}`, missingFor(bench), () => {
    const id = 'login_k3v9xa'
    const bucket = kebab(id)
    let server: RunningServer
    let data: string

    const run = (script: string, env: Record<string, string> = {}) =>
      runVerbs({ service: 's3', script, id, data, env: { ...server.env, ...env } })
    const succeed = async (script: string) => {
      const result = await run(script)
      expect(result, result.stderr).toMatchObject({ code: 0 })
      return result
    }

    beforeAll(async () => {
      data = mkdtempSync(join(tmpdir(), 'penv-s3-'))
      server = await start(bench)
    })
    afterAll(async () => {
      await server?.stop()
      rmSync(data, { recursive: true, force: true })
    })

    it('drops a bucket whatever its keys are', async () => {
      await succeed(`s3_create ${bucket}`)
      // s3rver itself fails on the odder ones.
      const odd = ['q?x=1&y=%41', 'plus+#', 'été 🦉', '"quoted" <\'&amp;\'>', 'tilde~!*()', '...a', 'tab\tin']
      const keys = ['a b', 'one&two', 'x/y/z', ...(hasTags ? odd : [])]
      for (const key of keys) await put(server, `/${bucket}/${encodeKey(key)}`, key)
      await succeed(`s3_drop ${bucket}`)
      expect((await s3(credentialsOf(server), 'GET', `/${bucket}`)).status).toBe(404)
    })

    it('drops a bucket with more objects than one listing has', async () => {
      await succeed(`s3_create ${bucket}`)
      for (let from = 0; from < 1040; from += 40)
        await Promise.all(Array.from({ length: 40 }, (_, i) => put(server, `/${bucket}/many/${from + i}`)))
      await succeed(`s3_drop ${bucket}`)
      expect((await s3(credentialsOf(server), 'GET', `/${bucket}`)).status).toBe(404)
    })

    it.runIf(hasTags)('drops old versions and deletion marks too', async () => {
      await succeed(`s3_create ${bucket}`)
      const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
      await s3(credentialsOf(server), 'PUT', `/${bucket}`, versioning, 'versioning=')
      await put(server, `/${bucket}/a%26b`, 'one')
      await put(server, `/${bucket}/a%26b`, 'two')
      await s3(credentialsOf(server), 'DELETE', `/${bucket}/a%26b`)
      const { text } = await s3(credentialsOf(server), 'GET', `/${bucket}`, '', 'versions=')
      expect(text).toContain('<DeleteMarker>')
      await succeed(`s3_drop ${bucket}`)
      expect((await s3(credentialsOf(server), 'GET', `/${bucket}`)).status).toBe(404)
    })

    it.runIf(hasTags)('keeps tags that somebody else gave', async () => {
      const tags =
        '<Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><TagSet><Tag><Key>team</Key><Value>shop</Value></Tag></TagSet></Tagging>'
      await put(server, `/${bucket}`)
      await s3(credentialsOf(server), 'PUT', `/${bucket}`, tags, 'tagging=')
      await succeed(`s3_create ${bucket}\ns3_verify ${bucket}`)
      expect((await s3(credentialsOf(server), 'GET', `/${bucket}`, '', 'tagging=')).text).toContain('shop')
      await succeed(`s3_drop ${bucket}`)
    })

    it('says that credentials are missing', async () => {
      const { code, stderr } = await run('s3_list', { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' })
      expect(code).not.toBe(0)
      expect(stderr).toMatch(/^penv: cannot list buckets .*credentials/)
    })

    it("takes MinIO's names for the credentials", async () => {
      const { AWS_ACCESS_KEY_ID: user = '', AWS_SECRET_ACCESS_KEY: secret = '', ...env } = server.env
      const names = { MINIO_ROOT_USER: user, MINIO_ROOT_PASSWORD: secret }
      const result = await runVerbs({
        service: 'minio',
        script: 'minio_list',
        id,
        data,
        env: { ...env, ...names },
      })
      expect(result, result.stderr).toMatchObject({ code: 0 })
    })
  })
}
