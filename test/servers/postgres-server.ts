// A PostgreSQL server for tests: a fresh cluster with password authentication on a free port.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  findProgram,
  freePort,
  missingPrograms,
  runClient,
  serverDirectory,
  serverUser,
  startServer,
  versionDirectories,
  waitForServer,
} from '../support/servers.ts'
import type { RunningServer } from './conformance.ts'

const directories = versionDirectories('/usr/lib/postgresql', 'bin')
const postgres = findProgram('postgres', directories)
const initdb = findProgram('initdb', directories)
const psql = findProgram('psql', directories)

export const missingPostgres = missingPrograms({ postgres, initdb, psql })

export const PASSWORD = `p@ss w%rd/'"$x:#é?`

/** The account may do all; use `query` as it, or give another role's variables. */
export async function startPostgres({
  user: name = 'app',
  password = PASSWORD,
} = {}): Promise<RunningServer & { port: number; dataDirectory: string }> {
  const directory = serverDirectory()
  const data = join(directory, 'data')
  const passwordFile = join(directory, 'password')
  writeFileSync(passwordFile, `${password}\n`)
  mkdirSync(data)
  const user = serverUser()
  if (user.uid !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, directory])
  const options = ['-D', data, '-U', name, `--pwfile=${passwordFile}`, '-A', 'scram-sha-256', '-E', 'UTF8']
  execFileSync(initdb as string, [...options, '--no-locale', '--no-sync'], {
    ...user,
    env: { PATH: process.env.PATH, HOME: directory },
    stdio: 'pipe',
  })
  const port = await freePort()
  const env = { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: name, PGPASSWORD: password }
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${directory}`,
    'fsync=off',
    'shared_buffers=32MB',
    'max_connections=60',
  ]
  const server = startServer(
    postgres as string,
    ['-D', data, ...settings.flatMap(setting => ['-c', setting])],
    {
      directory,
    },
  )
  await waitForServer(server, 'postgres', () =>
    runClient(psql as string, ['-XAtqwc', 'select 1', 'postgres'], { env }).then(
      () => true,
      () => false,
    ),
  )
  return {
    version: await runClient(psql as string, ['-XAtqwc', 'show server_version', 'postgres'], { env }),
    address: `127.0.0.1:${port}`,
    port,
    dataDirectory: data,
    env,
    password,
    wrongEnv: { ...env, PGPASSWORD: 'wr0ng-but-secret' },
    stop: () => server.stop('SIGINT'),
  }
}

/** Rows as psql prints them, one value a line. */
export async function query(
  server: { env: Record<string, string> },
  database: string,
  sql: string,
): Promise<string> {
  const args = ['-XAtqw', '-v', 'ON_ERROR_STOP=1', '-d', database]
  return (await runClient(psql as string, args, { env: server.env, input: sql })).trim()
}
