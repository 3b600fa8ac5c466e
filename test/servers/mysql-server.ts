// A MariaDB server for tests: a fresh data directory, an account with a password, a free port.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import {
  findProgram,
  freePort,
  missingPrograms,
  runClient,
  serverDirectory,
  serverUser,
  startServer,
  waitForServer,
} from '../support/servers.ts'
import type { RunningServer } from './conformance.ts'

const mariadbd = findProgram('mariadbd')
const installer = findProgram('mariadb-install-db')
const client = findProgram('mariadb')

export const missingMysql = missingPrograms({ mariadbd, 'mariadb-install-db': installer, mariadb: client })

const PASSWORD = `p@ss w%rd/'"$x:#é?`

/** `root` makes the server as an image does: that password for root from everywhere, and no account without one. */
export async function startMysql({
  root: rootPassword,
}: {
  root?: string
} = {}): Promise<RunningServer & { port: number }> {
  const directory = serverDirectory()
  const data = join(directory, 'data')
  const options = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal']
  execFileSync(installer as string, [...options, '--skip-test-db', '--skip-name-resolve'], {
    ...serverUser(),
    env: { PATH: `${process.env.PATH}:/usr/sbin`, HOME: directory },
    cwd: directory,
    stdio: 'pipe',
  })
  const port = await freePort()
  const socket = join(directory, 'socket')
  const server = startServer(
    mariadbd as string,
    [
      '--no-defaults',
      `--datadir=${data}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      `--socket=${socket}`,
      '--skip-name-resolve',
      '--innodb-buffer-pool-size=32M',
      '--innodb-flush-log-at-trx-commit=0',
      '--lc-messages=en_US',
    ],
    { directory },
  )
  const root = (sql: string) =>
    runClient(client as string, ['--no-defaults', '-uroot', `--socket=${socket}`], { input: sql })
  await waitForServer(server, 'mariadb', () =>
    root('select 1').then(
      () => true,
      () => false,
    ),
  )
  const quoted = PASSWORD.replaceAll("'", "''")
  await root(
    `set names utf8mb4; create user app@'%' identified by '${quoted}'; grant all on *.* to app@'%' with grant option;`,
  )
  const version = (await root('select version()')).trim().split('\n').at(-1) ?? ''
  if (rootPassword !== undefined)
    await root(
      `create user root@'%' identified by '${rootPassword}'; grant all on *.* to root@'%' with grant option; drop user root@'127.0.0.1', root@'::1'; alter user root@localhost identified by '${rootPassword}';`,
    )
  const env = {
    MYSQL_HOST: '127.0.0.1',
    MYSQL_TCP_PORT: String(port),
    MYSQL_USER: rootPassword === undefined ? 'app' : 'root',
    MYSQL_PWD: rootPassword ?? PASSWORD,
  }
  return {
    version,
    address: `127.0.0.1:${port}`,
    port,
    env,
    password: env.MYSQL_PWD,
    wrongEnv: { ...env, MYSQL_PWD: 'wr0ng-but-secret' },
    stop: () => server.stop(),
  }
}

/** The options of the client for a database, for programs that stay connected. */
export function clientArguments(server: { env: Record<string, string> }, database: string): string[] {
  const { MYSQL_HOST, MYSQL_TCP_PORT, MYSQL_USER } = server.env
  return ['--no-defaults', `-h${MYSQL_HOST}`, `-P${MYSQL_TCP_PORT}`, `-u${MYSQL_USER}`, '-NBr', database]
}

/** Rows as the client prints them, one a line. */
export async function query(
  server: { env: Record<string, string> },
  database: string,
  sql: string,
): Promise<string> {
  const options = { env: { MYSQL_PWD: server.env.MYSQL_PWD ?? '' }, input: sql }
  return (await runClient(client as string, clientArguments(server, database), options)).trim()
}
