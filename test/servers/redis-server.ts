// Redis servers for tests: one with 16 databases and a password, and a cluster of three masters.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  findProgram,
  freePort,
  missingPrograms,
  runClient,
  type ServerProcess,
  serverDirectory,
  startServer,
  waitFor,
  waitForServer,
} from '../support/servers.ts'
import type { RunningServer } from './conformance.ts'

const redisServer = findProgram('redis-server')
const cli = findProgram('redis-cli')

export const missingRedis = missingPrograms({ 'redis-server': redisServer, 'redis-cli': cli })

const PASSWORD = `p@ss w%rd/'"$x:#é?`

async function start(
  port: number,
  settings: string[],
  password: string,
): Promise<{ server: ServerProcess; env: Record<string, string> }> {
  const directory = serverDirectory()
  const config = join(directory, 'redis.conf')
  const quoted = password.replace(/["\\]/g, '\\$&')
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${directory}`,
    'save ""',
    `requirepass "${quoted}"`,
    ...settings,
  ]
  writeFileSync(config, `${lines.join('\n')}\n`)
  const server = startServer(redisServer as string, [config], { directory })
  const env = { REDIS_HOST: '127.0.0.1', REDIS_PORT: String(port), REDISCLI_AUTH: password }
  await waitForServer(server, 'redis', () =>
    command({ env }, '0', 'PING').then(
      answer => answer === 'PONG',
      () => false,
    ),
  )
  return { server, env }
}

/** @param password empty for a server that asks for none. */
export async function startRedis(password = PASSWORD): Promise<RunningServer> {
  const port = await freePort()
  const { server, env } = await start(port, ['databases 16'], password)
  const version = /redis_version:(\S+)/.exec(await command({ env }, '0', 'INFO', 'server'))?.[1] ?? ''
  return {
    version,
    address: `127.0.0.1:${port}`,
    env,
    password,
    wrongEnv: { ...env, REDISCLI_AUTH: 'wr0ng-but-secret' },
    stop: () => server.stop(),
  }
}

/** Three masters that hold all slots; `env` leads to the first. */
export async function startCluster(): Promise<{
  env: Record<string, string>
  address: string
  stop(): Promise<void>
}> {
  const nodes: { port: number; bus: number; server: ServerProcess; env: Record<string, string> }[] = []
  for (let index = 0; index < 3; index++) {
    const [port, bus] = [await freePort(), await freePort()]
    const settings = ['cluster-enabled yes', `cluster-port ${bus}`, 'cluster-node-timeout 2000']
    nodes.push({ port, bus, ...(await start(port, settings, 'cluster pass')) })
  }
  const [first] = nodes
  if (first === undefined) throw new Error('no node')
  const slots = ['0 5460', '5461 10922', '10923 16383']
  for (const [index, node] of nodes.entries()) {
    await command(node, '0', 'CLUSTER', 'ADDSLOTSRANGE', ...(slots[index] as string).split(' '))
    await command(first, '0', 'CLUSTER', 'MEET', '127.0.0.1', String(node.port), String(node.bus))
  }
  await waitFor('a cluster of three', async () => {
    const infos = await Promise.all(nodes.map(node => command(node, '0', 'CLUSTER', 'INFO')))
    return infos.every(info => /cluster_state:ok/.test(info) && /cluster_known_nodes:3/.test(info))
  })
  return {
    env: first.env,
    address: `127.0.0.1:${first.port}`,
    async stop() {
      await Promise.all(nodes.map(node => node.server.stop()))
    },
  }
}

/** One command in a database, as an application would send it; `-c` follows a cluster's redirections. */
export async function command(
  server: { env: Record<string, string> },
  database: string,
  ...args: string[]
): Promise<string> {
  const { REDIS_HOST = '', REDIS_PORT = '', REDISCLI_AUTH = '' } = server.env
  const connection = ['--no-auth-warning', '-h', REDIS_HOST, '-p', REDIS_PORT, '-n', database, '-c']
  return (await runClient(cli as string, [...connection, ...args], { env: { REDISCLI_AUTH } })).trim()
}
