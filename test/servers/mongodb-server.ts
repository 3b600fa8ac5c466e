// FerretDB with SQLite for tests: it speaks MongoDB's protocol, on a free port, with a password.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  findProgram,
  freePort,
  missingPrograms,
  serverDirectory,
  startServer,
  waitForServer,
} from '../support/servers.ts'
import type { RunningServer } from './conformance.ts'

const ferretdb = findProgram('ferretdb')
export const mongosh = findProgram('mongosh')
export const missingMongodb = missingPrograms({ ferretdb, mongosh })

const PASSWORD = `p@ss w%rd/'"$x:#é?`
const LOGIN = [
  '--test-enable-new-auth',
  '--setup-database=admin',
  '--setup-username=app',
  `--setup-password=${PASSWORD}`,
]

/** Without `hasLogin` everybody may do all, as in the image when it is given no account. */
export async function startMongodb({ hasLogin = true } = {}): Promise<RunningServer & { port: number }> {
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
      ...(hasLogin ? LOGIN : []),
    ],
    { directory, asCaller: true },
  )
  await waitForServer(server, 'ferretdb', () => server.output().includes('Listening on TCP'))
  const urlWith = (password: string) =>
    `mongodb://app:${encodeURIComponent(password).replaceAll("'", '%27')}@127.0.0.1:${port}/?authSource=admin`
  return {
    version: 'FerretDB 1.24',
    address: `127.0.0.1:${port}`,
    port,
    env: { MONGO_URL: hasLogin ? urlWith(PASSWORD) : `mongodb://127.0.0.1:${port}/` },
    password: PASSWORD,
    wrongEnv: { MONGO_URL: urlWith('wr0ng-but-secret') },
    stop: () => server.stop(),
  }
}
