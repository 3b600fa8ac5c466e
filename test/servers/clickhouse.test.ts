// clickhouse against a real server, by its own client and by HTTP.
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  findProgram,
  freePort,
  missingPrograms,
  serverDirectory,
  startServer,
  waitFor,
  waitForServer,
} from '../support/servers.ts'
import { describeAdapter, type RunningServer } from './conformance.ts'

const clickhouseServer = findProgram('clickhouse-server')
const client = findProgram('clickhouse-client')
const missing = missingPrograms({ 'clickhouse-server': clickhouseServer, 'clickhouse-client': client })

const PASSWORD = `p@ss <w%rd>&/'"$x:#\\é?`

const inXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

async function start(protocol: 'native' | 'http'): Promise<RunningServer> {
  const directory = serverDirectory()
  const [tcp, http, between] = [await freePort(), await freePort(), await freePort()]
  for (const name of ['data', 'data/tmp', 'data/user_files']) mkdirSync(join(directory, name))
  writeFileSync(
    join(directory, 'config.xml'),
    `<yandex><logger><level>warning</level><console>1</console></logger>
    <tcp_port>${tcp}</tcp_port><http_port>${http}</http_port><interserver_http_port>${between}</interserver_http_port>
    <listen_host>127.0.0.1</listen_host><path>${directory}/data/</path><tmp_path>${directory}/data/tmp/</tmp_path>
    <user_files_path>${directory}/data/user_files/</user_files_path><users_config>users.xml</users_config>
    <default_profile>default</default_profile><default_database>default</default_database>
    <mark_cache_size>5368709</mark_cache_size></yandex>`,
  )
  writeFileSync(
    join(directory, 'users.xml'),
    `<yandex><profiles><default></default></profiles><quotas><default></default></quotas><users><app>
    <password>${inXml(PASSWORD)}</password><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota></app></users></yandex>`,
  )
  const server = startServer(clickhouseServer as string, [`--config-file=${join(directory, 'config.xml')}`], {
    directory,
    asCaller: true,
  })
  const env = {
    CLICKHOUSE_PROTOCOL: protocol,
    CLICKHOUSE_HOST: '127.0.0.1',
    CLICKHOUSE_PORT: String(tcp),
    CLICKHOUSE_HTTP_PORT: String(http),
    CLICKHOUSE_USER: 'app',
    CLICKHOUSE_PASSWORD: PASSWORD,
  }
  await waitForServer(server, 'clickhouse', () =>
    query({ env }, 'default', 'select 1').then(
      () => true,
      () => false,
    ),
  )
  return {
    version: await query({ env }, 'default', 'select version()'),
    address: `127.0.0.1:${protocol === 'native' ? tcp : http}`,
    env,
    password: PASSWORD,
    wrongEnv: { ...env, CLICKHOUSE_PASSWORD: 'wr0ng-but-secret' },
    // It would take its time to say goodbye to the other replicas that it has not.
    stop: () => server.stop('SIGKILL'),
  }
}

/** By HTTP, as an application's driver would. */
async function query(
  server: { env: Record<string, string> },
  database: string,
  sql: string,
): Promise<string> {
  const { CLICKHOUSE_HTTP_PORT, CLICKHOUSE_USER, CLICKHOUSE_PASSWORD } = server.env
  const authorization = Buffer.from(`${CLICKHOUSE_USER}:${CLICKHOUSE_PASSWORD}`).toString('base64')
  const answer = await fetch(`http://127.0.0.1:${CLICKHOUSE_HTTP_PORT}/?database=${database}`, {
    method: 'POST',
    body: sql,
    headers: { authorization: `Basic ${authorization}` },
  })
  const text = (await answer.text()).trim()
  if (!answer.ok) throw new Error(text)
  return text
}

async function write(server: RunningServer, database: string, value: string): Promise<void> {
  await query(server, database, 'drop table if exists kept')
  await query(server, database, 'create table kept (value String) engine = TinyLog')
  await query(server, database, `insert into kept values ('${value}')`)
}

async function read(server: RunningServer, database: string): Promise<string | undefined> {
  const there = `select count() from system.tables where database = '${database}' and name = 'kept'`
  if ((await query(server, 'default', there)) === '0') return undefined
  return query(server, database, 'select value from kept')
}

for (const protocol of ['native', 'http'] as const)
  describeAdapter({
    service: 'clickhouse',
    variant: protocol,
    missing,
    clients: protocol === 'native' ? ['clickhouse-client', 'curl'] : ['curl'],
    start: () => start(protocol),
    wrongTargets: [
      'shop',
      'default',
      'system',
      'preview_login_k3v9xab',
      'x; drop database shop; login_k3v9xa',
    ],
    prepareMain: async server => void (await query(server, 'default', 'create database shop')),
    write,
    read,
    writeMain: (server, value) => write(server, 'shop', value),
    readMain: server => read(server, 'shop'),
    lookalikes: async server => void (await query(server, 'default', 'create database preview_login_a2b3c4')),
    hold: async (server, slice) => {
      const { CLICKHOUSE_PORT = '', CLICKHOUSE_USER = '', CLICKHOUSE_PASSWORD = '' } = server.env
      const session = startServer(
        client as string,
        [
          '--host=127.0.0.1',
          `--port=${CLICKHOUSE_PORT}`,
          `--user=${CLICKHOUSE_USER}`,
          `--password=${CLICKHOUSE_PASSWORD}`,
          `--database=${slice}`,
          '--query=select count() from numbers(100000000000) where number % 7 = sleep(0)',
        ],
        { directory: tmpdir(), asCaller: true },
      )
      const count = `select count() from system.processes where query like 'select count() from numbers%'`
      await waitFor('a session', async () => (await query(server, 'default', count)) === '1')
      return () => session.stop('SIGKILL')
    },
  })
