// Promise 2, "never lost": a ledger that cannot be read is never replaced by an empty one, a file is replaced whole
// or not at all, and only "does not exist" means empty.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findMountObstacle, withTmpfs } from '../support/mount.ts'
import { makeSandbox, PROGRAM, type Sandbox } from '../support/sandbox.ts'
import { ALICE, findUserObstacle, giveTo, publishProgram, runAs } from '../support/users.ts'

const SCRIPTS = { 'provision.sh': '#!/bin/sh\ntouch "$PENV_ROOT/ran"\n' }
const newestOf = (box: Sandbox) => join(box.stateDir, 'ledger', box.revisions().at(-1) as string)

function bytesOf(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .map(name => join(directory, name))
      .filter(file => statSync(file).isFile())
      .map(file => [file, readFileSync(file, 'latin1')]),
  )
}

const notRun = (obstacle: string | undefined) => (obstacle === undefined ? '' : ` (not run: ${obstacle})`)

/** Commands that need what the ledger says. */
const WRITERS = [
  ['get', 'port', 'new'],
  ['get', 'index', 'redis', '1-15'],
  ['get', 'name', 'db'],
  ['up'],
  ['env', 'A=1'],
]
const READERS = [['get', 'port', 'web'], ['list'], ['status'], ['id'], ['destroy']]

describe('never lost', () => {
  it.each<[string, (file: string) => void]>([
    ['torn in half', file => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ['empty', file => truncateSync(file, 0)],
    ['of another shape', file => writeFileSync(file, '[]')],
  ])(
    'a ledger that is %s stops every command with 7, and stays as it is until it is restored',
    async (_, damage) => {
      const box = makeSandbox()
      box.scripts(SCRIPTS)
      const tree = box.worktree('login')
      const port = (await box.penv(tree, ['get', 'port', 'web'])).stdout
      await box.penv(tree, ['get', 'port', 'api'])
      damage(newestOf(box))
      const before = bytesOf(box.stateDir)
      for (const args of [...WRITERS, ...READERS]) {
        const failed = await box.penv(tree, [...args, '--json'], {
          exit: 7,
          stderr: /To restore the previous revision, run: /,
        })
        expect(failed.json()).toMatchObject({
          error: { code: 'LEDGER_DAMAGED', details: { path: newestOf(box) } },
        })
      }
      expect((await box.penv(tree, ['get', 'port', 'new'], { exit: 7, stderr: /./ })).stdout).toBe('')
      const session = await box.penv(tree, ['session'], { stderr: /^penv: .*damaged.*\n$/ })
      expect(session.stdout).toBe('')
      expect(bytesOf(box.stateDir)).toEqual(before)
      expect(existsSync(join(tree, 'ran'))).toBe(false)

      const { stderr } = await box.run(['list'], { cwd: tree })
      execFileSync('/bin/sh', ['-euc', /To restore .*, run: (.*)$/m.exec(stderr)?.[1] as string])
      expect((await box.penv(tree, ['get', 'port', 'web'])).stdout).toBe(port)
    },
  )

  it('a damaged ledger does not concern the main checkout', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'port', 'web'])
    truncateSync(newestOf(box), 0)
    expect((await box.penv(box.main, ['id'])).stdout).toBe('')
    expect((await box.penv(box.main, ['get', 'port', 'web', '--main', '3000'])).stdout).toBe('3000\n')
    await box.penv(box.main, ['session'])
  })

  it('a ledger of a newer penv stops every command with 7, and stays as it is', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'port', 'web'])
    writeFileSync(newestOf(box), JSON.stringify({ ...box.ledger(), version: 2 }))
    const before = bytesOf(box.stateDir)
    for (const args of [...WRITERS, ...READERS])
      if (args[0] !== 'up') {
        const failed = await box.penv(tree, [...args, '--json'], { exit: 7, stderr: /newer/ })
        expect(failed.json()).toMatchObject({ error: { code: 'LEDGER_NEWER', details: { version: 2 } } })
      }
    expect(bytesOf(box.stateDir)).toEqual(before)
  })

  it('stray and broken files beside the revisions concern no command', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    const port = (await box.penv(tree, ['get', 'port', 'web'])).stdout
    const folder = join(box.stateDir, 'ledger')
    box.write(folder, {
      'x.json': '{',
      'notes.txt': 'mine',
      'ledger.lock': '1',
      '42.json': '{',
      '000000000099.json.bak': '{',
    })
    mkdirSync(join(folder, 'an empty folder'))
    const before = readdirSync(folder)
    expect((await box.penv(tree, ['get', 'port', 'web'])).stdout).toBe(port)
    expect((await box.penv(tree, ['get', 'port', 'api'])).stdout).toMatch(/^\d+\n$/)
    for (const args of [['list'], ['status'], ['id'], ['up', '--quiet'], ['destroy', '--quiet']])
      await box.penv(tree, args)
    expect(before.filter(name => !readdirSync(folder).includes(name))).toEqual([])
  })

  const disk = findMountObstacle()
  it.runIf(disk === undefined)(`a full disk costs nothing but the call that met it${notRun(disk)}`, () =>
    withTmpfs('2m', async directory => {
      const box = makeSandbox()
      box.scripts(SCRIPTS)
      const tree = box.worktree('login')
      const env = { PENV_HOME: join(directory, 'state') }
      const port = (await box.run(['get', 'port', 'web'], { cwd: tree, env })).stdout
      fill(directory)
      const before = bytesOf(env.PENV_HOME)
      for (const args of [['get', 'port', 'new'], ['get', 'index', 'redis', '1-15'], ['up']]) {
        const failed = await box.run([...args, '--json'], { cwd: tree, env })
        expect([args, failed.exit]).toEqual([args, 7])
        expect(failed.json()).toMatchObject({
          error: { code: 'LEDGER_UNWRITABLE', details: { errno: 'ENOSPC' } },
        })
      }
      expect(await box.run(['get', 'port', 'new'], { cwd: tree, env })).toMatchObject({ exit: 7, stdout: '' })
      expect(bytesOf(env.PENV_HOME)).toEqual(before)
      expect((await box.run(['get', 'port', 'web'], { cwd: tree, env })).stdout).toBe(port)
      unlinkSync(join(directory, 'filler'))
      expect((await box.run(['get', 'port', 'new'], { cwd: tree, env })).stdout).toMatch(/^\d+\n$/)
    }),
  )

  const user = findUserObstacle()
  it.runIf(user === undefined).each<[string, (box: Sandbox) => string]>([
    ['the newest revision', newestOf],
    ['the folder of revisions', box => join(box.stateDir, 'ledger')],
    ['the state directory', box => box.stateDir],
  ])(
    `a ledger that may not be read is never begun anew: mode 000 on %s${notRun(user)}`,
    async (_, choose) => {
      const box = makeSandbox()
      box.scripts(SCRIPTS)
      const tree = box.worktree('login')
      const program = publishProgram(PROGRAM, box.root)
      giveTo(ALICE, box.root)
      const penv = (...args: string[]) => runAs(ALICE, [program, ...args], { cwd: tree, env: box.env })
      const port = penv('get', 'port', 'web')
      expect(port).toMatchObject({ exit: 0, stderr: '' })
      const path = choose(box)
      const mode = statSync(path).mode & 0o777
      const before = bytesOf(box.stateDir)
      chmodSync(path, 0o000)
      for (const args of [...WRITERS, ...READERS]) {
        const failed = penv(...args, '--json')
        expect([args, failed.exit]).toEqual([args, 7])
        expect(failed.json()).toMatchObject({
          error: { code: 'LEDGER_UNREADABLE', details: { errno: 'EACCES' } },
        })
      }
      const failed = penv('get', 'port', 'new')
      expect(failed.stdout).toBe('')
      expect(failed.stderr).toContain(box.stateDir)
      expect(penv('session')).toMatchObject({ exit: 0, stdout: '' })
      chmodSync(path, mode)
      expect(bytesOf(box.stateDir)).toEqual(before)
      expect(penv('get', 'port', 'web').stdout).toBe(port.stdout)
    },
  )

  it.runIf(user === undefined && process.getuid?.() === 0)(
    `a ledger that root has left behind is told with its owner (as root only)${notRun(user)}`,
    async () => {
      const box = makeSandbox()
      const tree = box.worktree('login')
      const program = publishProgram(PROGRAM, box.root)
      giveTo(ALICE, box.root)
      const penv = (...args: string[]) => runAs(ALICE, [program, ...args], { cwd: tree, env: box.env })
      penv('get', 'port', 'web')
      chownSync(newestOf(box), 0, 0)
      const failed = penv('get', 'port', 'web')
      expect(failed).toMatchObject({ exit: 7, stdout: '' })
      expect(failed.stderr).toContain(newestOf(box))
      expect(failed.stderr).toMatch(new RegExp(`uid 0, mode 600; this process runs as uid ${ALICE}`))
    },
  )

  it('every key and every number of many writers at once is there, and nothing beside them', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const turns = Array.from({ length: 20 }, (_, at) => at)
    const results = await Promise.all(
      turns.flatMap(at => [
        box.run(['env', `K${at}=${at}`], { cwd: tree }),
        box.run(['get', 'port', `p${at}`], { cwd: tree }),
      ]),
    )
    expect(results.filter(({ exit, stderr }) => exit !== 0 || stderr !== '')).toEqual([])
    const variables = (await box.penv(tree, ['env', '--json'])).json() as Record<string, string>
    expect(turns.filter(at => variables[`K${at}`] !== String(at))).toEqual([])
    const [record] = Object.values(box.ledger().environments)
    expect(new Set(Object.values(record?.ports as object)).size).toBe(20)
    expect(readdirSync(tree).sort()).toEqual(['.env.preview', '.git'])
    expect(readdirSync(join(box.stateDir, 'ledger', 'tmp'))).toEqual([])
    expect(box.git(tree, 'status', '--porcelain')).toBe('')
  })
})

function fill(directory: string): void {
  expect(() => writeFileSync(join(directory, 'filler'), Buffer.alloc(4_000_000))).toThrow('ENOSPC')
}
