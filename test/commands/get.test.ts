// `penv get port`: argv, stdout, stderr and exit code of the built program.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type EnvironmentRecord, withRecord } from '../../src/core/ledger.ts'
import { findGitDirOf } from '../../src/host/git.ts'
import { changeLedger } from '../../src/host/ledger-files.ts'
import { findFreePorts, hasIpv6, hold } from '../support/free-ports.ts'
import { makeSandbox, PROGRAM, type Sandbox } from '../support/sandbox.ts'
import { ALICE, findUserObstacle, giveTo, publishProgram, runAs } from '../support/users.ts'

const ipv6 = await hasIpv6()

async function portOf(box: Sandbox, tree: string, ...words: string[]): Promise<number> {
  const { stdout } = await box.penv(tree, ['get', 'port', ...words], { stderr: 'any' })
  expect(stdout).toMatch(/^\d+\n$/)
  return Number(stdout)
}

const idOf = async (box: Sandbox, tree: string) => (await box.penv(tree, ['id'])).stdout.trim()

/** The ledger as bytes, to show that a refused call left no trace. */
function ledgerBytes(box: Sandbox): Record<string, string> {
  const directory = join(box.stateDir, 'ledger')
  return Object.fromEntries(box.revisions().map(name => [name, readFileSync(join(directory, name), 'utf8')]))
}

/** Ports of the ledger with the environment that holds each. */
const portsInLedger = (box: Sandbox) =>
  Object.values(box.ledger().environments).flatMap(
    record => Object.values(record.ports as object) as number[],
  )

describe('a port', () => {
  it('is one number of the default pool on stdout, and nothing else anywhere', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const { stdout } = await box.penv(tree, ['get', 'port', 'web'])
    expect(stdout).toMatch(/^2\d{4}\n$/)
    expect(portsInLedger(box)).toEqual([Number(stdout)])
    expect(box.git(tree, 'status', '--porcelain')).toBe('')
  })

  it('stays the same from anywhere in the worktree, and differs for another name and another worktree', async () => {
    const box = makeSandbox()
    const [a, b] = [box.worktree('a'), box.worktree('b')]
    mkdirSync(join(a, 'sub dir'))
    const web = await portOf(box, a, 'web')
    expect(await portOf(box, join(a, 'sub dir'), 'web')).toBe(web)
    const others = [await portOf(box, a, 'api'), await portOf(box, b, 'web')]
    expect(new Set([web, ...others]).size).toBe(3)
  })

  it('is reserved by the ledger, not by a listener: two names at once get two ports', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const first = await findFreePorts(2)
    const range = `${first}-${first + 1}`
    const ports = await Promise.all(['web', 'api'].map(name => portOf(box, tree, name, range)))
    expect(ports.sort()).toEqual([first, first + 1])
  })

  it('stays while our own server listens on it', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const first = await findFreePorts(3)
    const range = `${first}-${first + 2}`
    const port = await portOf(box, tree, 'web', range)
    await hold({ port, host: '0.0.0.0' })
    expect(await portOf(box, tree, 'web', range)).toBe(port)
    expect(await portOf(box, tree, 'web')).toBe(port)
  })

  it('is answered from the record without git, and asked of git at most once before', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const counted = join(box.root, 'calls')
    box.write(join(box.root, 'counting'), { git: '' })
    const git = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
    box.write(join(box.root, 'counting'), {
      git: `#!/bin/sh\necho "$1" >> '${counted}'\nexec '${git}' "$@"\n`,
    })
    execFileSync('chmod', ['755', join(box.root, 'counting', 'git')])
    const env = { PATH: `${join(box.root, 'counting')}:${box.env.PATH}` }
    const first = await box.run(['get', 'port', 'web'], { cwd: tree, env })
    expect(first.exit).toBe(0)
    expect(readFileSync(counted, 'utf8').trim().split('\n')).toHaveLength(1)
    rmSync(counted)
    const again = await box.run(['get', 'port', 'web'], { cwd: tree, env })
    expect(again.stdout).toBe(first.stdout)
    expect((await box.run(['get', 'port', 'api'], { cwd: tree, env })).exit).toBe(0)
    expect(existsSync(counted)).toBe(false)
  })

  it('does not depend on TMPDIR, and leaves nothing there', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const ports = new Set<string>()
    for (const name of ['t1', 't2']) {
      const TMPDIR = join(box.root, name)
      mkdirSync(TMPDIR)
      ports.add((await box.run(['get', 'port', 'web'], { cwd: tree, env: { TMPDIR } })).stdout)
      expect(readdirSync(TMPDIR)).toEqual([])
    }
    expect(ports.size).toBe(1)
  })
})

describe('a port of a range', () => {
  it('may be a pool of one', async () => {
    const box = makeSandbox()
    const port = await findFreePorts(1)
    expect(await portOf(box, box.worktree('a'), 'web', String(port))).toBe(port)
  })

  it.each([
    '41010-41000',
    '0-10',
    '0',
    '70000-70001',
    '65536',
    '1-70000',
    '41000-',
    '41000:41009',
    '41000..41009',
    '41000-41009-1',
    '4e4',
    '1 2',
    '99999999999999999999',
  ])('that cannot be is a usage error, and nothing is done: %s', async range => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const failed = await box.penv(tree, ['get', 'port', 'api', range, '--json'], {
      exit: 2,
      stderr: /^penv: "/,
    })
    expect(failed.json()).toMatchObject({ error: { code: 'USAGE', message: expect.stringContaining(range) } })
    expect(existsSync(box.stateDir)).toBe(false)
  })

  it('that cannot be leaves stdout empty and the ledger as it was', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await portOf(box, tree, 'web')
    const before = ledgerBytes(box)
    const { stdout } = await box.penv(tree, ['get', 'port', 'web', '41010-41000'], { exit: 2, stderr: /./ })
    expect(stdout).toBe('')
    expect(ledgerBytes(box)).toEqual(before)
  })

  it('without the recorded value is a mismatch that tells how to take another', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const first = await findFreePorts(4)
    const port = await portOf(box, tree, 'web', `${first}-${first + 1}`)
    const before = ledgerBytes(box)
    const other = `${first + 2}-${first + 3}`
    const refused = await box.penv(tree, ['get', 'port', 'web', other], { exit: 2, stderr: /--renew/ })
    expect(refused.stdout).toBe('')
    const failed = await box.penv(tree, ['get', 'port', 'web', other, '--json'], { exit: 2, stderr: /./ })
    expect(failed.json()).toMatchObject({
      error: { code: 'RANGE_MISMATCH', details: { name: 'web', value: port, range: other } },
    })
    expect(ledgerBytes(box)).toEqual(before)
    expect(await portOf(box, tree, 'web', `${first}-${first + 3}`)).toBe(port)
    expect(await portOf(box, tree, 'web')).toBe(port)
  })

  it('within the ports of outgoing connections works, with one note on stderr', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const { stdout, stderr } = await box.penv(tree, ['get', 'port', 'web', '59000-60000'], {
      stderr: /59000-60000/,
    })
    expect(stdout).toMatch(/^(59\d{3}|60000)\n$/)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect((await box.run(['get', 'port', 'web', '59000-60000', '--quiet'], { cwd: tree })).stderr).toBe('')
  })

  it('never lies where browsers do not go', async () => {
    const box = makeSandbox()
    for (const [range, good] of [
      ['6663-6670', [6663, 6664, 6670]],
      ['5999-6001', [5999, 6001]],
    ] as const) {
      const ports = new Set<number>()
      for (let turn = 0; ; turn++) {
        const tree = box.worktree(`w${range}-${turn}`)
        const { exit, stdout } = await box.run(['get', 'port', 'web', range], { cwd: tree })
        if (exit !== 0) {
          expect([exit, stdout]).toEqual([6, ''])
          break
        }
        ports.add(Number(stdout))
      }
      // Another program of this machine may hold one of them.
      expect([...ports].filter(port => !(good as readonly number[]).includes(port))).toEqual([])
      expect(ports.size).toBeGreaterThan(0)
    }
    const bad = await box.penv(box.worktree('bad'), ['get', 'port', 'bad', '6665-6669', '--json'], {
      exit: 6,
      stderr: /refused by browsers/,
    })
    expect(bad.json()).toMatchObject({ error: { code: 'POOL_EXHAUSTED', details: { holders: [], busy: 0 } } })
  })

  const HOLDERS = [
    { host: '127.0.0.1' },
    { host: '0.0.0.0' },
    ...(process.platform === 'linux' ? [{ host: '127.0.0.2' }] : []),
    ...(ipv6 ? [{ host: '::1' }, { host: '::' }, { host: '::', ipv6Only: true }] : []),
  ]
  it.each(HOLDERS)('passes over one that somebody holds on %o', async holder => {
    const box = makeSandbox()
    const first = await findFreePorts(2)
    await hold({ ...holder, port: first })
    expect(await portOf(box, box.worktree('a'), 'web', `${first}-${first + 1}`)).toBe(first + 1)
  })

  it('is never that of another environment, whatever the name, range and repository', async () => {
    const box = makeSandbox()
    const first = await findFreePorts(8)
    box.git(box.root, 'init', '--quiet', 'other')
    const other = join(box.root, 'other')
    box.git(other, 'commit', '--quiet', '--allow-empty', '-m', 'start')
    box.git(other, 'worktree', 'add', '--quiet', '-b', 'x', join(box.root, 'foreign'))
    const foreign = realpathSync(join(box.root, 'foreign'))
    const ports = [
      ...(await Promise.all(
        ['a', 'b', 'c'].map((name, at) =>
          portOf(box, box.worktree(name), `ui_${at}`, `${first}-${first + 5}`),
        ),
      )),
      ...(await Promise.all(
        ['web', 'api'].map(name => portOf(box, foreign, name, `${first + 3}-${first + 7}`)),
      )),
    ]
    expect(new Set(ports).size).toBe(5)
    expect(portsInLedger(box).sort()).toEqual(ports.sort())
  })
})

describe('an exhausted pool', () => {
  it('fails at once and lists who holds it, since when, and whether the path is gone', async () => {
    const box = makeSandbox()
    const first = await findFreePorts(2)
    const range = `${first}-${first + 1}`
    const [a, b, c] = ['a', 'b', 'c'].map(name => box.worktree(name)) as [string, string, string]
    const held = [await portOf(box, a, 'web', range), await portOf(box, b, 'web', range)]
    const ids = [await idOf(box, a), await idOf(box, b)]
    rmSync(b, { recursive: true })
    const before = ledgerBytes(box)
    const failed = await box.penv(c, ['get', 'port', 'web', range, '--json'], {
      exit: 6,
      stderr: /penv destroy/,
    })
    const shown = failed.stderr.split('\n')
    expect(failed.json()).toMatchObject({
      error: {
        code: 'POOL_EXHAUSTED',
        details: {
          name: 'web',
          range,
          busy: 0,
          holders: [
            { id: ids[0], root: a, value: held[0], gone: false, since: expect.stringMatching(/^\d{4}-/) },
            { id: ids[1], root: b, value: held[1], gone: true },
          ],
        },
      },
    })
    expect(shown.find(line => line.includes(ids[0] as string))).toMatch(new RegExp(`${held[0]}.*${a}$`))
    expect(shown.find(line => line.includes(ids[1] as string))).toMatch(/\(gone\)$/)
    expect((await box.penv(c, ['get', 'port', 'web', range], { exit: 6, stderr: /./ })).stdout).toBe('')
    expect(ledgerBytes(box)).toEqual(before)
  })

  it('says that other programs use it, and how many', async () => {
    const box = makeSandbox()
    const first = await findFreePorts(2)
    await hold({ port: first, host: '127.0.0.1' })
    await hold({ port: first + 1, host: '127.0.0.1' })
    const failed = await box.penv(
      box.worktree('a'),
      ['get', 'port', 'web', `${first}-${first + 1}`, '--json'],
      {
        exit: 6,
        stderr: /2 are in use by other programs/,
      },
    )
    expect(failed.json()).toMatchObject({ error: { details: { busy: 2, holders: [] } } })
    expect(box.revisions()).toEqual([])
  })

  it('names the list when there are more holders than fit a message', async () => {
    const box = makeSandbox()
    const first = await findFreePorts(4)
    const range = `${first}-${first + 3}`
    const tree = box.worktree('a')
    await box.penv(tree, ['get', 'port', 'a', 'b', 'c', 'd', range])
    const failed = await box.penv(tree, ['get', 'port', 'e', range, '--json'], {
      exit: 6,
      stderr: /penv list/,
    })
    expect(failed.json()).toMatchObject({ error: { details: { holders: [{}, {}, {}, {}] } } })
    expect(failed.stderr.trim().split('\n')).toHaveLength(5)
  })

  it('gives nothing when it has too few for several names', async () => {
    const box = makeSandbox()
    const first = await findFreePorts(2)
    const tree = box.worktree('a')
    const args = ['get', 'port', 'a', 'b', 'c', `${first}-${first + 1}`]
    expect(
      (await box.penv(tree, args, { exit: 6, stderr: /port "c".*2 would go to the other names/ })).stdout,
    ).toBe('')
    expect(box.revisions()).toEqual([])
    expect((await box.penv(tree, ['get', 'port', 'a', 'b', `${first}-${first + 1}`])).stdout).toMatch(
      /^\d+\n\d+\n$/,
    )
  })

  const obstacle = findUserObstacle()
  it.runIf(obstacle === undefined && readUnprivilegedStart() > 81)(
    `counts ports that only root may open as taken${obstacle === undefined ? '' : ` (not run: ${obstacle})`}`,
    async () => {
      const box = makeSandbox()
      const tree = box.worktree('a')
      const program = publishProgram(PROGRAM, box.root)
      giveTo(ALICE, box.root)
      const failed = runAs(ALICE, [program, 'get', 'port', 'web', '80-81'], { cwd: tree, env: box.env })
      expect(failed).toMatchObject({ exit: 6, stdout: '', stderr: expect.stringContaining('2 are in use') })
    },
  )
})

function readUnprivilegedStart(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
  } catch {
    return 1024
  }
}

describe('a machine without IPv6', () => {
  const obstacle = findNetworkObstacle()
  it.runIf(obstacle === undefined)(
    `has free ports too${obstacle === undefined ? '' : ` (not run: ${obstacle})`}`,
    async () => {
      const box = makeSandbox()
      const tree = box.worktree('a')
      const script = `ip link set lo up
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
exec "$@"`
      const stdout = execFileSync(
        'unshare',
        ['--net', 'sh', '-c', script, 'sh', process.execPath, PROGRAM, 'get', 'port', 'web', '11000'],
        { cwd: tree, env: box.env, encoding: 'utf8' },
      )
      expect(stdout).toBe('11000\n')
    },
  )
})

function findNetworkObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'a network of its own needs Linux'
  try {
    execFileSync(
      'unshare',
      ['--net', 'sh', '-c', 'ip link set lo up && test -w /proc/sys/net/ipv6/conf/all/disable_ipv6'],
      {
        stdio: 'ignore',
      },
    )
    return undefined
  } catch {
    return 'a network of its own needs root and ip'
  }
}

describe('several ports at once', () => {
  it('are one line each, in the order of the names, and the same as one by one', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const api = await portOf(box, tree, 'api')
    const { stdout } = await box.penv(tree, ['get', 'port', 'web', 'api', 'admin', 'api'])
    const lines = stdout.trim().split('\n').map(Number)
    expect(lines).toHaveLength(4)
    expect([lines[1], lines[3]]).toEqual([api, api])
    expect(new Set(lines).size).toBe(3)
    expect(await portOf(box, tree, 'admin')).toBe(lines[2])
    expect(box.revisions()).toHaveLength(2)
  })

  it('are assignments for eval with --export', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const read = execFileSync(
      '/bin/sh',
      ['-euc', 'lines=$(penv get port web admin_ui --export); eval "$lines"; echo "$WEB $ADMIN_UI"'],
      { cwd: tree, env: box.env, encoding: 'utf8' },
    )
    expect(read).toBe(`${await portOf(box, tree, 'web')} ${await portOf(box, tree, 'admin_ui')}\n`)
  })

  it('are JSON as one, or in a list', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const port = await portOf(box, tree, 'web')
    expect((await box.penv(tree, ['get', 'port', 'web', '--json'])).stdout).toBe(
      `{"name":"web","port":${port}}\n`,
    )
    expect((await box.penv(tree, ['--json', 'get', 'port', 'web', 'api'])).json()).toEqual({
      ports: [
        { name: 'web', port },
        { name: 'api', port: expect.any(Number) },
      ],
    })
  })
})

describe('--renew', () => {
  it('takes another port, and gives the old one back', async () => {
    const box = makeSandbox()
    const [a, b] = [box.worktree('a'), box.worktree('b')]
    const first = await findFreePorts(2)
    const range = `${first}-${first + 1}`
    const old = await portOf(box, a, 'web', range)
    const fresh = await portOf(box, a, 'web', range, '--renew')
    expect([old, fresh].sort()).toEqual([first, first + 1])
    expect(await portOf(box, a, 'web', range)).toBe(fresh)
    expect(await portOf(box, b, 'web', range)).toBe(old)
    expect(portsInLedger(box).sort()).toEqual([first, first + 1])
  })

  it('passes over a port that a stranger has seized', async () => {
    const box = makeSandbox()
    const tree = box.worktree('a')
    const first = await findFreePorts(3)
    const range = `${first}-${first + 2}`
    const seized = await portOf(box, tree, 'web', range)
    await hold({ port: seized, host: '::' })
    const fresh = await portOf(box, tree, 'web', range, '--renew')
    expect(fresh).not.toBe(seized)
  })

  it('allocates what was not there, keeps other names, and serves several', async () => {
    const box = makeSandbox()
    const tree = box.worktree('a')
    const [web, api] = [await portOf(box, tree, 'web'), await portOf(box, tree, 'api')]
    const { stdout } = await box.penv(tree, ['get', 'port', 'web', 'new', '--renew'])
    const [renewed, added] = stdout.trim().split('\n').map(Number)
    expect(renewed).not.toBe(web)
    expect(await portOf(box, tree, 'api')).toBe(api)
    expect(new Set([web, api, renewed, added]).size).toBe(4)
  })

  it('fails when there is no other port, and keeps the one that is recorded', async () => {
    const box = makeSandbox()
    const tree = box.worktree('a')
    const port = await findFreePorts(1)
    await portOf(box, tree, 'web', String(port))
    const args = ['get', 'port', 'web', String(port), '--renew']
    expect((await box.penv(tree, args, { exit: 6, stderr: /./ })).stdout).toBe('')
    expect(await portOf(box, tree, 'web')).toBe(port)
  })

  it('moves a value into another range', async () => {
    const box = makeSandbox()
    const tree = box.worktree('a')
    const first = await findFreePorts(2)
    await portOf(box, tree, 'web', String(first))
    expect(await portOf(box, tree, 'web', String(first + 1), '--renew')).toBe(first + 1)
    expect(portsInLedger(box)).toEqual([first + 1])
  })
})

describe('a port that was given back', () => {
  it('goes to a stranger only when no other is left', async () => {
    const box = makeSandbox()
    const [a, b, c] = ['a', 'b', 'c'].map(name => box.worktree(name)) as [string, string, string]
    const first = await findFreePorts(2)
    const range = `${first}-${first + 1}`
    const old = await portOf(box, a, 'web', range)
    await box.penv(a, ['destroy'], { stderr: 'any' })
    expect(await portOf(box, b, 'web', range)).not.toBe(old)
    expect(await portOf(box, c, 'web', range)).toBe(old)
  })

  it('is free for the next environment of the worktree though destroy was killed before its last step', async () => {
    const box = makeSandbox()
    const tree = box.worktree('a')
    const port = await findFreePorts(1)
    await portOf(box, tree, 'web', String(port))
    const id = await idOf(box, tree)
    // What such a kill leaves: a record that is torn down, and no marker any more.
    await changeLedger(box.stateDir, ledger => {
      const record = ledger.environments[id] as EnvironmentRecord
      return { ledger: withRecord(ledger, { ...record, tornDown: true }), value: undefined }
    })
    rmSync(join(findGitDirOf(tree) as string, 'penv'))
    expect(await portOf(box, tree, 'web', String(port))).toBe(port)
    expect(Object.keys(box.ledger().environments)).toEqual([await idOf(box, tree)])
    expect(await idOf(box, tree)).not.toBe(id)
  })

  it('comes back to the environment that is made again at the same place', async () => {
    const box = makeSandbox()
    const tree = box.worktree('a')
    const first = await findFreePorts(10)
    const range = `${first}-${first + 9}`
    const old = await portOf(box, tree, 'web', range)
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    box.git(box.main, 'worktree', 'remove', tree)
    box.git(box.main, 'worktree', 'add', '--quiet', tree, 'a')
    expect(await portOf(box, tree, 'web', range)).toBe(old)
  })
})

describe('the name of a port', () => {
  it.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty'].map(name => name.toLowerCase()))(
    'may be %s: a number like any other, never an object',
    async name => {
      const box = makeSandbox()
      const tree = box.worktree('login')
      const port = await portOf(box, tree, name)
      expect(await portOf(box, tree, name)).toBe(port)
      expect((await box.penv(tree, ['get', 'port', name, '--json'])).json()).toEqual({ name, port })
    },
  )

  it.each([
    '__proto__',
    'toString',
    'Web',
    'web port',
    'web-port',
    '',
    '1web',
    '-web',
    '../x',
    'wéb',
    'x'.repeat(41),
  ])('is a usage error where it is none: %j', async name => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const failed = await box.penv(tree, ['get', 'port', '--json', '--', name], { exit: 2, stderr: /^penv: / })
    expect(failed.json()).toMatchObject({ error: { code: 'USAGE', message: expect.stringContaining(name) } })
    expect(box.revisions()).toEqual([])
  })

  it.each([
    [['get']],
    [['get', 'port']],
    [['get', 'prot', 'web']],
    [['get', 'port', 'web', '--unknown']],
    [['get', 'port', 'web', '--pool', 'x']],
    [['get', 'port', 'web', '--main']],
    [['get', 'port', 'web', 'api', '--main', '3000']],
    [['get', 'port', '41000-41009', 'web']],
    [['get', 'port', '41000']],
  ])('is needed, and nothing that is unknown passes: %j', async args => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const failed = await box.penv(tree, ['--json', ...args], { exit: 2, stderr: /^penv: / })
    expect(failed.json()).toMatchObject({ error: { code: 'USAGE' } })
    expect(box.revisions()).toEqual([])
  })
})

describe('beside a worktree', () => {
  it('the main checkout gets nothing and 3, or what --main says', async () => {
    const box = makeSandbox()
    const { stdout, stderr } = await box.penv(box.main, ['get', 'port', 'web'], {
      exit: 3,
      stderr: /main checkout/,
    })
    expect(stdout).toBe('')
    expect(stderr).toContain('git worktree add')
    expect((await box.penv(box.main, ['get', 'port', 'web', '--main', '3000'])).stdout).toBe('3000\n')
    expect((await box.penv(box.main, ['get', 'port', 'web', '--main', '3000', '--json'])).json()).toEqual({
      name: 'web',
      port: 3000,
    })
    expect((await box.penv(box.main, ['get', 'port', 'web', '--main', ''])).stdout).toBe('')
    expect(existsSync(box.stateDir)).toBe(false)
  })

  it('no repository gets nothing and 3, --main or not', async () => {
    const box = makeSandbox()
    for (const args of [[], ['--main', '3000']]) {
      const { stdout } = await box.penv(box.home, ['get', 'port', 'web', ...args], {
        exit: 3,
        stderr: /not a git/,
      })
      expect(stdout).toBe('')
    }
  })

  it('a worktree gets its own value, whatever --main says', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    expect(await portOf(box, tree, 'web', '--main', '3000')).toBe(await portOf(box, tree, 'web'))
  })
})
