// rabbitmq against a real RabbitMQ: the common promises by the management API, and the same work by rabbitmqctl.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'amqplib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import {
  describeServer,
  findProgram,
  freePort,
  missingPrograms,
  type ServerProcess,
  serverDirectory,
  startServer,
  testPath,
  waitForServer,
} from '../support/servers.ts'
import { describeAdapter, type RunningServer } from './conformance.ts'

/** The real programs: what Debian has on PATH are wrappers that change the user. */
const programs = '/usr/lib/rabbitmq/bin'
const missing = missingPrograms({
  'rabbitmq-server': findProgram('rabbitmq-server', [programs]),
  epmd: findProgram('epmd'),
  curl: findProgram('curl'),
})
const PASSWORD = 'p:@/ "\\é%41'

interface Broker extends RunningServer {
  /** What rabbitmqctl needs to reach this node, and no management API. It must not start a daemon of its own. */
  ctlEnv: Record<string, string>
}

async function startBroker(plugins: string): Promise<Broker> {
  const directory = serverDirectory()
  const [amqp, api, dist, epmdPort] = [await freePort(), await freePort(), await freePort(), await freePort()]
  writeFileSync(join(directory, 'enabled_plugins'), `[${plugins}].\n`)
  writeFileSync(
    join(directory, 'rabbitmq.conf'),
    [
      `listeners.tcp.1 = 127.0.0.1:${amqp}`,
      'management.tcp.ip = 127.0.0.1',
      `management.tcp.port = ${api}`,
      'default_user = admin',
      'default_pass = admin',
      '',
    ].join('\n'),
  )
  const epmd = startServer(findProgram('epmd') ?? '', ['-port', `${epmdPort}`, '-address', '127.0.0.1'], {
    directory,
  })
  const node = `penv${amqp}@localhost`
  const nodeEnv = {
    PATH: `${programs}:${testPath}`,
    ERL_EPMD_PORT: `${epmdPort}`,
    RABBITMQ_NODENAME: node,
  }
  const broker = startServer(findProgram('rabbitmq-server', [programs]) ?? '', [], {
    directory,
    env: {
      ...nodeEnv,
      RABBITMQ_CONF_ENV_FILE: '/dev/null',
      RABBITMQ_CONFIG_FILE: join(directory, 'rabbitmq.conf'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(directory, 'enabled_plugins'),
      RABBITMQ_MNESIA_BASE: join(directory, 'data'),
      RABBITMQ_LOGS: '-',
      RABBITMQ_LOG_BASE: directory,
      RABBITMQ_PID_FILE: join(directory, 'pid'),
      RABBITMQ_DIST_PORT: `${dist}`,
      // Makes the start script become the broker, so that its pid is the broker's.
      RUNNING_UNDER_SYSTEMD: 'true',
    },
  })
  const admin = (method: string, path: string, body?: object) =>
    request(api, 'admin', 'admin', method, path, body)
  try {
    if (plugins === '')
      await waitForServer(broker, 'rabbitmq', () => / completed with \d+ plugins/.test(broker.output()))
    else {
      await waitForServer(broker, 'rabbitmq', async () => (await admin('GET', 'whoami')).status === 200)
      await admin('PUT', 'users/penv', { password: PASSWORD, tags: 'administrator' })
    }
  } catch (error) {
    await stopBoth(broker, epmd)
    throw error
  }
  return {
    version: /RabbitMQ (\d\S+)/.exec(broker.output())?.[1] ?? '',
    address: `127.0.0.1:${api}`,
    env: {
      RABBITMQ_MANAGEMENT_URL: `http://127.0.0.1:${api}`,
      RABBITMQ_HOST: '127.0.0.1',
      RABBITMQ_PORT: `${amqp}`,
      RABBITMQ_USER: 'penv',
      RABBITMQ_PASSWORD: PASSWORD,
    },
    password: PASSWORD,
    wrongEnv: { RABBITMQ_PASSWORD: 'not-the-one' },
    ctlEnv: {
      ERL_FLAGS: '-start_epmd false',
      ...nodeEnv,
      HOME: directory,
      RABBITMQ_PORT: `${amqp}`,
      RABBITMQ_USER: 'admin',
    },
    stop: () => stopBoth(broker, epmd),
  }
}

async function stopBoth(broker: ServerProcess, epmd: ServerProcess): Promise<void> {
  await broker.stop()
  await epmd.stop()
}

async function request(
  port: number,
  user: string,
  password: string,
  method: string,
  path: string,
  body?: object,
) {
  const login = Buffer.from(`${user}:${password}`).toString('base64')
  try {
    return await fetch(`http://127.0.0.1:${port}/api/${path}`, {
      method,
      headers: { authorization: `Basic ${login}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  } catch {
    return { status: 0 }
  }
}

/** An AMQP connection as an application makes it; undefined where the virtual host is absent or not permitted. */
async function connectTo(server: RunningServer, host: string) {
  const { RABBITMQ_PORT: port, RABBITMQ_USER: username = '', RABBITMQ_PASSWORD: password = '' } = server.env
  try {
    const connection = await connect({
      hostname: '127.0.0.1',
      port: Number(port),
      username,
      password,
      vhost: host,
    })
    connection.on('error', () => {})
    return connection
  } catch {
    return undefined
  }
}

async function write(server: RunningServer, host: string, value: string): Promise<void> {
  const connection = await connectTo(server, host)
  if (connection === undefined) throw new Error(`no virtual host ${host}`)
  const channel = await connection.createConfirmChannel()
  await channel.assertQueue('kept')
  await channel.purgeQueue('kept')
  channel.sendToQueue('kept', Buffer.from(value), { persistent: true })
  await channel.waitForConfirms()
  await connection.close()
}

async function read(server: RunningServer, host: string): Promise<string | undefined> {
  const connection = await connectTo(server, host)
  if (connection === undefined) return undefined
  const channel = await connection.createChannel()
  await channel.assertQueue('kept')
  const message = await channel.get('kept', { noAck: false })
  const value = message === false ? undefined : message.content.toString()
  if (message !== false) channel.nack(message)
  await channel.close()
  await connection.close()
  return value
}

describeAdapter({
  service: 'rabbitmq',
  missing,
  clients: ['curl', 'rabbitmqctl'],
  start: () => startBroker('rabbitmq_management'),
  wrongTargets: ['/', 'shop', 'preview_login_k3v9xa2', 'preview/login_k3v9xa', '%2F'],
  prepareMain: async server => {
    const port = Number(new URL(server.env.RABBITMQ_MANAGEMENT_URL ?? '').port)
    await request(port, 'admin', 'admin', 'PUT', 'permissions/%2F/penv', {
      configure: '.*',
      write: '.*',
      read: '.*',
    })
  },
  write,
  read,
  writeMain: (server, value) => write(server, '/', value),
  readMain: server => read(server, '/'),
  lookalikes: async server => {
    const port = Number(new URL(server.env.RABBITMQ_MANAGEMENT_URL ?? '').port)
    const names = ['shop_user_a2b3c4', 'a","description":"penv x', '{"description":"penv x","name":"trap"}']
    for (const name of names)
      await request(port, 'admin', 'admin', 'PUT', `vhosts/${encodeURIComponent(name)}`, {
        description: 'of "main"',
      })
  },
  hold: async (server, host) => {
    const connection = await connectTo(server, host)
    const channel = await connection?.createChannel()
    channel?.on('error', () => {})
    await channel?.assertQueue('watched')
    await channel?.consume('watched', () => {})
    return async () => void (await connection?.close().catch(() => {}))
  },
})

describeServer('rabbitmq adapter without the management API', missing, () => {
  const id = 'login_k3v9xa'
  const slice = `preview_${id}`
  let broker: Broker
  let data: string

  const run = (script: string, env: Record<string, string> = {}) =>
    runVerbs({ service: 'rabbitmq', script, id, data, env: { ...broker.ctlEnv, ...env } })

  beforeAll(async () => {
    data = serverDirectory()
    broker = await startBroker('')
  })
  afterAll(() => broker?.stop())

  it('does all of it with rabbitmqctl on the node that it is told', async () => {
    const verbs = ['create', 'create', 'verify', 'list', 'drop', 'drop', 'list']
    const done = await run(verbs.map(verb => `rabbitmq_${verb} ${slice}`).join('\n'))
    expect(done, done.stderr).toMatchObject({ code: 0, stdout: `${slice}\n` })
    for (const script of [
      `rabbitmq_verify ${slice}`,
      'rabbitmq_drop /',
      'rabbitmq_drop preview_fix_p2m8qd',
    ]) {
      const refused = await run(script)
      expect(refused.code, script).not.toBe(0)
      expect(refused.stderr).toMatch(/^penv: /)
    }
  })

  it('asks no other node than the one of the management API it was given', async () => {
    const { RABBITMQ_NODENAME: _, ...rest } = broker.ctlEnv
    const url = `http://127.0.0.1:${await freePort()}`
    const result = await runVerbs({
      service: 'rabbitmq',
      script: `rabbitmq_create ${slice}`,
      id,
      data,
      env: { ...rest, RABBITMQ_MANAGEMENT_URL: url },
    })
    expect(result.code).not.toBe(0)
    expect(result.stderr).toContain(new URL(url).host)
    expect(result.stderr).toContain('rabbitmq-plugins enable rabbitmq_management')
  })

  it('says when the node does not answer', async () => {
    await broker.stop()
    for (const verb of ['create', 'verify', 'drop', 'list']) {
      const result = await run(`rabbitmq_${verb} ${slice}`)
      expect(result.code, verb).not.toBe(0)
      expect(result.stderr).toMatch(/^penv: cannot .* with rabbitmqctl: /)
    }
  })
})
