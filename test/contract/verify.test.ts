import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type EnvironmentRecord, emptyLedger, type Ledger } from '../../src/core/ledger.ts'
import {
  type Check,
  checkAgainstLedger,
  checkEnvFile,
  checkPorts,
  checkSharedResources,
} from '../../src/core/verify-checks.ts'
import { codeSpansOf, sectionOf, tableOf } from '../support/markdown.ts'
import { makeSandbox } from '../support/sandbox.ts'

const contract = readFileSync(join(import.meta.dirname, '..', '..', 'contract', 'CONTRACT.md'), 'utf8')
const VERDICTS = ['ok', 'warn', 'fail', 'unchecked']
const rows = tableOf(sectionOf(contract, 'What verify checks'))

function record(id: string, ports: Record<string, number>): EnvironmentRecord {
  const at = '2026-01-01T00:00:00.000Z'
  const place = { repo: '/r/.git', gitDir: `/r/.git/worktrees/${id}`, root: `/w/${id}`, branch: 'b' }
  const rest = { state: 'ready' as const, createdAt: at, updatedAt: at, indexes: {}, names: {} }
  return { id, nonce: id, ...place, ...rest, ports }
}

/** Each check in each situation that its row speaks of. */
function everyCheck(): Check[] {
  const ours = record('login_k3v9xa', { web: 20001 })
  const ledger: Ledger = {
    ...emptyLedger(),
    environments: { login_k3v9xa: ours, cart_p2m8qd: record('cart_p2m8qd', { web: 20002 }) },
    released: [{ port: 20003, id: 'gone_x7t4wc' }],
  }
  const against = (...pairs: [string, string][]) => checkAgainstLedger(ledger, ours, new Map(pairs))
  const listener = { pid: 7, command: 'node', directory: '/w/login_k3v9xa/app' }
  const held = (...listeners: Parameters<typeof checkPorts>[0][number]['listeners'][number][]) =>
    checkPorts([{ name: 'web', port: 20001, listeners }], ['/w/login_k3v9xa', '/data'])
  const unread = { pid: undefined, command: '', directory: undefined }
  return [
    ...checkEnvFile('login_k3v9xa', undefined, undefined, false),
    ...checkEnvFile('login_k3v9xa', 'A=1', undefined, false),
    ...checkEnvFile('login_k3v9xa', 'PENV_ID=x', 'cart_p2m8qd', false),
    ...checkEnvFile('login_k3v9xa', 'PENV_ID=x', 'login_k3v9xa', true),
    ...against(['PORT', '20001']),
    ...against(['OTHER', '1']),
    ...against(['PORT', '20002']),
    ...against(['PORT', '20003']),
    ...against(['DB', 'app_cart_p2m8qd']),
    ...checkSharedResources([], [], false),
    ...checkSharedResources([], ['.env'], true),
    ...checkSharedResources([{ key: 'DB_PORT', how: 'equal', file: '.env' }], ['.env'], true),
    ...checkSharedResources([{ key: 'DB_PORT', how: 'unset', file: '.env' }], ['.env'], true),
    ...held(),
    ...held(listener),
    ...held({ ...listener, directory: '/elsewhere' }),
    ...held({ ...listener, command: 'docker-proxy' }),
    ...held(unread),
  ]
}

describe('the checks of verify', () => {
  it('are exactly those of the table, with exactly its verdicts', () => {
    const promised = rows.flatMap(([name = '', ...cells]) =>
      cells.flatMap((cell, at) => (cell === '' ? [] : [`${codeSpansOf(name)[0]} ${VERDICTS[at]}`])),
    )
    const seen = everyCheck().map(
      ({ name, verdict }) => `${name.replace(/^port-.*/, 'port-<name>')} ${verdict}`,
    )
    expect([...new Set(seen)].sort()).toEqual(promised.sort())
  })

  it('name keys and never values', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\npenv env DATABASE_URL=postgres://u:s3cret@h/shop\n' })
    box.write(box.main, { '.env': 'DATABASE_URL=postgres://u:s3cret@h/shop\n' })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const { stdout, stderr } = await box.run(['verify', '--json', '--verbose'], { cwd: tree })
    expect(stdout).toContain('DATABASE_URL')
    expect(stdout + stderr).not.toContain('s3cret')
  })
})

describe('verify', () => {
  const VERIFY = '#!/bin/sh\ntouch "$HOME/verified"\n'

  it.each<[title: string, main: string, own: string[], shared: string, exit: number]>([
    ['passes where nothing is shared', 'PORT=3000\n', ['PORT=3001'], '', 0],
    ['fails where a resource equals that of the main checkout', 'PORT=3000\n', ['PORT=3000'], '', 1],
    ['fails where main sets a resource and we do not', 'REDIS_URL=redis://localhost/0\n', ['A=1'], '', 1],
    [
      'passes where .preview/shared lists it',
      'REDIS_URL=redis://localhost/0\n',
      ['A=1'],
      '# meant\nREDIS_URL # all of it\n',
      0,
    ],
    [
      'passes with the same host and port and another database',
      'DB_HOST=db\nDB_PORT=5432\nDB_NAME=shop\n',
      ['DB_HOST=db', 'DB_PORT=5432', 'DB_NAME=ours'],
      '',
      0,
    ],
    [
      'fails with the same database on the same host',
      'DB_HOST=db\nDB_PORT=5432\nDB_NAME=shop\n',
      ['DB_HOST=db', 'DB_PORT=5432', 'DB_NAME=shop'],
      '',
      1,
    ],
    ['passes with a web address of another machine', 'API_URL=https://api.example.com\n', ['A=1'], '', 0],
  ])('%s', async (_title, main, own, shared, exit) => {
    const box = makeSandbox()
    const pairs = own.map(pair => `'${pair}'`).join(' ')
    box.scripts({ 'provision.sh': `#!/bin/sh\npenv env ${pairs}\n`, 'verify.sh': VERIFY, shared })
    box.write(box.main, { '.env': main, '.env.example': 'PORT=9\nDB_URL=postgres://example/x\n' })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const result = await box.run(['verify', '--json'], { cwd: tree })
    expect(result.exit, result.stderr).toBe(exit)
    // verify.sh follows only when no check failed, and neither changes the state.
    const { logs, state } = (await box.penv(tree, ['status', '--json'])).json() as {
      logs: string
      state: string
    }
    expect(state).toBe('ready')
    expect(await box.run(['status'], { cwd: tree })).toMatchObject({ exit: 0 })
    const ran = result.stderr.includes('running .preview/verify.sh')
    expect({ ran, logs }).toEqual({ ran: exit === 0, logs })
  })

  it('fails on a port of ours that a process in another directory holds', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\npenv env "PORT=$(penv get port web)"\n' })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const port = Number((await box.penv(tree, ['get', 'port', 'web'])).stdout)
    const server = createServer().listen(port, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise(done => server.once('listening', done))
    await box.penv(tree, ['verify'], { exit: 1, stderr: new RegExp(`held by pid ${process.pid}`) })
  })

  it('fails for an environment that was never up', async () => {
    const box = makeSandbox()
    const result = await box.run(['verify', '--json'], { cwd: box.worktree('login') })
    expect(result).toMatchObject({ exit: 1, stdout: expect.stringContaining('"VERIFY_FAILED"') })
  })
})

describe('the states', () => {
  it('of the contract are those of the ledger', () => {
    const listed = tableOf(sectionOf(contract, 'States and runs')).map(
      ([state]) => codeSpansOf(state ?? '')[0],
    )
    const schema = JSON.parse(
      readFileSync(join(import.meta.dirname, '..', '..', 'contract', 'schema', 'list.schema.json'), 'utf8'),
    ) as { properties: { envs: { items: { properties: { state: { enum: string[] } } } } } }
    expect(listed).toEqual(schema.properties.envs.items.properties.state.enum)
  })

  it('follow the commands', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': '#!/bin/sh\npenv status --json > "$HOME/provisioning"\n[ ! -e "$HOME/fail" ]\n',
      'teardown.sh': '#!/bin/sh\npenv status --json > "$HOME/destroying"\n[ ! -e "$HOME/fail" ]\n',
    })
    const tree = box.worktree('login')
    const stateNow = async () =>
      ((await box.penv(tree, ['status', '--json'])).json() as { state: string }).state
    const stateSeen = (name: string) => JSON.parse(readFileSync(join(box.home, name), 'utf8')).state
    expect(await stateNow()).toBe('none')
    await box.penv(tree, ['get', 'port', 'web'])
    expect(await stateNow()).toBe('allocated')
    box.write(box.home, { fail: '' })
    await box.penv(tree, ['up'], { exit: 8, stderr: 'any' })
    expect([stateSeen('provisioning'), await stateNow()]).toEqual(['provisioning', 'failed'])
    await box.penv(tree, ['destroy'], { exit: 8, stderr: 'any' })
    expect([stateSeen('destroying'), await stateNow()]).toEqual(['destroying', 'teardown-failed'])
  })
})
