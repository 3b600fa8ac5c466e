// Home, state directory and users, with the built program: where it keeps what it knows, and whose files it touches.

import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findFreePorts, hold } from '../support/free-ports.ts'
import { findMountObstacle, withTmpfs } from '../support/mount.ts'
import { makeSandbox, PROGRAM, type Sandbox } from '../support/sandbox.ts'
import { ALICE, BOB, findUserObstacle, giveTo, publishProgram, runAs } from '../support/users.ts'

const notRun = (obstacle: string | undefined) => (obstacle === undefined ? '' : ` (not run: ${obstacle})`)
const user = findUserObstacle()
const disk = findMountObstacle()
const isRoot = process.getuid?.() === 0

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).map(name => join(directory, name))
}

describe('the state directory', () => {
  it.each<[string, (box: Sandbox) => Record<string, string>, (box: Sandbox) => string]>([
    ['below HOME', () => ({}), box => join(box.home, '.local/state/penv')],
    ['PENV_HOME', box => ({ PENV_HOME: join(box.root, 'my state') }), box => join(box.root, 'my state')],
    [
      'below XDG_STATE_HOME',
      box => ({ XDG_STATE_HOME: join(box.root, 'xdg') }),
      box => join(box.root, 'xdg/penv'),
    ],
    [
      'not a relative XDG_STATE_HOME',
      () => ({ XDG_STATE_HOME: 'xdg' }),
      box => join(box.home, '.local/state/penv'),
    ],
  ])('is %s, private, and nothing is made in the worktree', async (_, envOf, expected) => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    expect(await box.run(['get', 'port', 'web'], { cwd: tree, env: envOf(box) })).toMatchObject({
      exit: 0,
      stderr: '',
    })
    for (const directory of ['', 'ledger'].map(name => join(expected(box), name)))
      expect(statSync(directory).mode & 0o777).toBe(0o700)
    for (const file of filesBelow(join(expected(box), 'ledger')).filter(path => statSync(path).isFile()))
      expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(tree)).toEqual(['.git'])
  })

  it('is not relative: PENV_HOME=./x is a usage error, makes nothing, and does not stop a session', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const env = { PENV_HOME: './x' }
    for (const args of [['get', 'port', 'web'], ['list'], ['env', 'A=1'], ['up']]) {
      const failed = await box.run([...args, '--json'], { cwd: tree, env })
      expect([args, failed.exit]).toEqual([args, 2])
      expect(failed.json()).toMatchObject({ error: { code: 'USAGE' } })
    }
    expect(await box.run(['session'], { cwd: tree, env })).toMatchObject({ exit: 0, stdout: '' })
    expect(readdirSync(tree)).toEqual(['.git'])
  })

  it.each<[string, Record<string, string | undefined>]>([
    ['unset', { HOME: undefined }],
    ['empty', { HOME: '' }],
    ['relative', { HOME: 'rel' }],
    ['a tilde', { HOME: '~' }],
  ])('is never below the worktree where HOME is %s', async (_, env) => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    // Only reads: without HOME this is the real home of whoever runs the tests.
    expect((await box.run(['list', '--json'], { cwd: tree, env })).exit).toBe(0)
    expect((await box.run(['id'], { cwd: tree, env })).exit).toBe(0)
    expect(readdirSync(tree)).toEqual(['.git'])
  })

  it.runIf(user === undefined && isRoot)(
    `is asked for where there is no HOME and no entry in the password database (as root only)${notRun(user)}`,
    async () => {
      const box = makeSandbox()
      const tree = box.worktree('login')
      const program = publishProgram(PROGRAM, box.root)
      giveTo(ALICE, box.root)
      const { HOME: _home, ...env } = box.env
      for (const HOME of [undefined, '', 'rel']) {
        const failed = runAs(ALICE, [program, 'get', 'port', 'web', '--json'], {
          cwd: tree,
          env: HOME === undefined ? env : { ...env, HOME },
        })
        expect(failed).toMatchObject({ exit: 7, stderr: expect.stringContaining('PENV_HOME') })
        expect(failed.json()).toMatchObject({ error: { code: 'STATE_UNWRITABLE' } })
      }
      expect(readdirSync(tree)).toEqual(['.git'])
    },
  )

  it.runIf(disk === undefined)(
    `is below the home of the password database without HOME${notRun(disk)}`,
    async () => {
      const box = makeSandbox()
      const tree = box.worktree('login')
      const home = join(box.root, 'home of record')
      mkdirSync(home)
      writeFileSync(join(box.root, 'passwd'), `root:x:0:0::${home}:/bin/sh\n`)
      const { HOME: _home, ...env } = box.env
      const script = 'mount --bind "$1" /etc/passwd && shift && exec "$@"'
      const words = [join(box.root, 'passwd'), process.execPath, PROGRAM, 'get', 'port', 'web']
      for (const HOME of [undefined, '', 'rel']) {
        const result = spawnSync('unshare', ['--mount', '/bin/sh', '-euc', script, 'sh', ...words], {
          cwd: tree,
          env: HOME === undefined ? env : { ...env, HOME },
          encoding: 'utf8',
        })
        expect(result).toMatchObject({ status: 0, stderr: '' })
      }
      expect(existsSync(join(home, '.local/state/penv/ledger/000000000001.json'))).toBe(true)
      expect(readdirSync(tree)).toEqual(['.git'])
    },
  )
})

/** What must work where nothing can be written, and what must fail without a partial slot. */
function expectReadOnly(
  penv: (...args: string[]) => { exit: number; stdout: string; stderr: string },
  errno: string,
) {
  const [id, , list, status] = [['id'], ['is-worktree'], ['list'], ['status']].map(args => {
    const result = penv(...args)
    expect([args, result.exit, result.stderr]).toEqual([args, 0, ''])
    return result.stdout
  })
  expect(list).toBe('')
  expect(status).toContain(id?.trim())
  for (const args of [
    ['get', 'port', 'web'],
    ['get', 'index', 'redis', '1-15'],
    ['get', 'name', 'db'],
    ['up'],
  ]) {
    const failed = penv(...args)
    expect([args, failed.exit, failed.stdout]).toEqual([args, 7, ''])
    expect(failed.stderr).toMatch(new RegExp(`^penv: .*/penv.*${errno}`))
  }
}

describe('a state directory that cannot be written', () => {
  it.runIf(user === undefined)(
    `stops what would write, and nothing else: mode 555${notRun(user)}`,
    async () => {
      const box = makeSandbox()
      box.scripts({ 'provision.sh': '#!/bin/sh\ntouch "$PENV_ROOT/ran"\n' })
      const tree = box.worktree('login')
      const program = publishProgram(PROGRAM, box.root)
      const state = join(box.root, 'closed')
      mkdirSync(state)
      giveTo(ALICE, box.root)
      chmodSync(state, 0o555)
      const env = { ...box.env, XDG_STATE_HOME: state }
      expectReadOnly((...args) => runAs(ALICE, [program, ...args], { cwd: tree, env }), 'EACCES')
      expect(readdirSync(state)).toEqual([])
      expect(existsSync(join(tree, 'ran'))).toBe(false)
    },
  )

  it.runIf(disk === undefined)(
    `stops what would write, and nothing else: a read-only disk${notRun(disk)}`,
    () =>
      withTmpfs('64k', (directory, makeReadOnly) => {
        const box = makeSandbox()
        box.scripts({ 'provision.sh': '#!/bin/sh\ntouch "$PENV_ROOT/ran"\n' })
        const tree = box.worktree('login')
        makeReadOnly()
        const env = { ...box.env, XDG_STATE_HOME: directory }
        expectReadOnly((...args) => {
          const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
            cwd: tree,
            env,
            encoding: 'utf8',
          })
          return { exit: status ?? -1, stdout, stderr }
        }, 'EROFS')
        expect(existsSync(join(tree, 'ran'))).toBe(false)
      }),
  )
})

describe('two users of one machine', () => {
  /** A sandbox with a worktree in the home of each. */
  function makeHomes(box: Sandbox) {
    const program = publishProgram(PROGRAM, box.root)
    const homes = (['alice', 'bob'] as const).map(name => {
      const home = join(box.root, name)
      box.git(box.root, 'init', '--quiet', join(home, 'shop'))
      box.git(join(home, 'shop'), 'commit', '--quiet', '--allow-empty', '-m', 'start')
      box.git(join(home, 'shop'), 'worktree', 'add', '--quiet', '-b', 'x', join(home, 'x'))
      return home
    }) as [string, string]
    for (const [at, uid] of [ALICE, BOB].entries()) {
      giveTo(uid, homes[at] as string)
      chmodSync(homes[at] as string, 0o700)
    }
    chmodSync(join(box.home, '.gitconfig'), 0o644)
    chmodSync(box.home, 0o755)
    return [ALICE, BOB].map((uid, at) => {
      const home = homes[at] as string
      const env = { ...box.env, HOME: home }
      const penv = (args: string[], more: Record<string, string> = {}) =>
        runAs(uid, [program, ...args], { cwd: join(home, 'x'), env: { ...env, ...more } })
      return { uid, home, penv }
    }) as unknown as [User, User]
  }
  interface User {
    uid: number
    home: string
    penv: (args: string[], more?: Record<string, string>) => { exit: number; stdout: string; stderr: string }
  }

  it.runIf(user === undefined && isRoot)(
    `have a ledger each, and share nothing below TMPDIR (as root only)${notRun(user)}`,
    async () => {
      const box = makeSandbox()
      const users = makeHomes(box)
      const TMPDIR = join(box.root, 'tmp')
      mkdirSync(TMPDIR)
      chmodSync(TMPDIR, 0o1777)
      for (const { penv, home, uid } of users) {
        expect(penv(['get', 'port', 'web'], { TMPDIR })).toMatchObject({ exit: 0, stderr: '' })
        expect(statSync(join(home, '.local/state/penv/ledger')).uid).toBe(uid)
      }
      expect(readdirSync(TMPDIR)).toEqual([])
    },
  )

  it.runIf(user === undefined && isRoot)(
    `pass over each other's servers, and over nothing else (as root only)${notRun(user)}`,
    async () => {
      const box = makeSandbox()
      const [alice, bob] = makeHomes(box)
      const first = await findFreePorts(2)
      const args = ['get', 'port', 'web', `${first}-${first + 1}`]
      const port = Number(alice.penv(args).stdout)
      await hold({ port, host: '0.0.0.0' })
      expect(bob.penv(args).stdout).toBe(`${2 * first + 1 - port}\n`)
      expect(alice.penv(args).stdout).toBe(`${port}\n`)
    },
  )

  it.runIf(user === undefined && isRoot)(
    `root leaves nothing of its own in their files, by sudo or with their home (as root only)${notRun(user)}`,
    async () => {
      const box = makeSandbox()
      box.scripts({ 'provision.sh': '#!/bin/sh\n:\n' })
      const [alice] = makeHomes(box)
      const port = alice.penv(['get', 'port', 'web']).stdout
      const own = box.worktree('own')
      const sudo = { HOME: alice.home, SUDO_UID: String(alice.uid), SUDO_USER: 'alice' }
      for (const cwd of [join(alice.home, 'x'), own])
        for (const args of [['get', 'port', 'new'], ['env', 'A=1'], ['up']]) {
          const refused = await box.run(args, { cwd, env: cwd === own ? sudo : { ...sudo, HOME: box.home } })
          expect([args, refused.exit === 0, refused.stdout]).toEqual([args, false, ''])
          expect(refused.stderr).toMatch(/^penv: /)
        }
      expect(filesBelow(alice.home).filter(path => statSync(path).uid !== alice.uid)).toEqual([])
      expect(alice.penv(['get', 'port', 'web'])).toMatchObject({ exit: 0, stdout: port, stderr: '' })
    },
  )
})
