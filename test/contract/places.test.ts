import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeSpansOf, sectionOf, tableOf } from '../support/markdown.ts'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'

const contract = readFileSync(join(import.meta.dirname, '..', '..', 'contract', 'CONTRACT.md'), 'utf8')
const rows = tableOf(sectionOf(contract, 'Places'))

/** A call of each command that succeeds where the command can. */
const CALLS: Record<string, string[]> = {
  get: ['get', 'port', 'web'],
  env: ['env', 'A=1'],
  exec: ['exec', '--', 'true'],
}

const SCRIPTS = {
  'provision.sh': '#!/bin/sh\npenv env A=1\n',
  'verify.sh': '#!/bin/sh\n',
  'down.sh': '#!/bin/sh\n',
  'teardown.sh': '#!/bin/sh\n',
  'bootstrap.sh': '#!/bin/sh\n',
}

/** What a cell promises: the last number in it; `exec` has the exit code of its command, here 0. */
const exitIn = (cell: string) => Number(/\d+(?!.*\d)/.exec(cell)?.[0] ?? 0)

async function makePlaces(box: Sandbox): Promise<string[]> {
  box.scripts(SCRIPTS)
  const tree = box.worktree('login')
  await box.penv(tree, ['up'], { stderr: 'any' })
  const broken = join(box.root, 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, '.git'), 'gitdir: /nowhere/at/all\n')
  return [tree, box.main, box.home, broken]
}

const PLACES = ['worktree', 'main checkout', 'not a repository', 'git fails']

describe('the table of places', () => {
  const cases = rows
    .flatMap(([commands = '', ...cells]) =>
      codeSpansOf(commands).flatMap(span => cells.map((cell, at) => ({ span, at, cell }))),
    )
    .filter(({ span }) => !span.startsWith('doctor'))

  it('holds for each command in each place', async () => {
    const box = makeSandbox()
    const places = await makePlaces(box)
    const order = (span: string) => (span === 'destroy' ? 1 : span.startsWith('destroy <') ? 2 : 0)
    const inOrder = [...cases].sort((a, b) => order(a.span) - order(b.span))
    expect(inOrder.length).toBe(4 * new Set(cases.map(({ span }) => span)).size)
    for (const { span, at, cell } of inOrder) {
      let args = CALLS[span] ?? [span]
      if (span === 'destroy <id>') {
        await box.penv(places[0] as string, ['get', 'port', 'web'])
        args = ['destroy', (await box.penv(places[0] as string, ['id'])).stdout.trim()]
      }
      const result = await box.run(args, { cwd: places[at] as string })
      const seen = { span, place: PLACES[at], exit: result.exit }
      expect(seen, result.stderr).toEqual({ ...seen, exit: exitIn(cell) })
      if (/nothing|silent|^3|^4|125/.test(cell))
        expect({ ...seen, out: result.stdout }).toEqual({ ...seen, out: '' })
      if (/silent/.test(cell)) expect({ ...seen, err: result.stderr }).toEqual({ ...seen, err: '' })
      if (/note|one line/.test(cell))
        expect({ ...seen, err: result.stderr }).toEqual({
          ...seen,
          err: expect.stringMatching(/^penv: [^\n]+\n$/),
        })
    }
  })

  it('holds for --main of get', async () => {
    const box = makeSandbox()
    const [, main = '', outside = ''] = await makePlaces(box)
    expect((await box.penv(main, ['get', 'port', 'web', '--main', '3000'])).stdout).toBe('3000\n')
    expect((await box.penv(main, ['get', 'name', 'app', '--main', 'shop_dev'])).stdout).toBe('shop_dev\n')
    await box.penv(outside, ['get', 'port', 'web', '--main', '3000'], { exit: 3, stderr: /not a git/ })
    await box.penv(main, ['get', 'port', 'web', 'api', '--main', '3000'], { exit: 2, stderr: /one name/ })
    expect(Object.keys(box.ledger().environments)).toHaveLength(1)
  })

  it('holds for doctor, whose finding it is when git fails', async () => {
    const box = makeSandbox()
    const places = await makePlaces(box)
    for (const cwd of places.slice(0, 3)) {
      const result = await box.run(['doctor', '--json'], { cwd })
      const { ok } = result.json() as { ok: boolean }
      expect(result.exit).toBe(ok ? 0 : 1)
    }
    const broken = await box.run(['doctor', '--json'], { cwd: places[3] as string })
    expect(broken.exit).toBe(1)
    expect(broken.json()).toMatchObject({
      ok: false,
      place: null,
      findings: expect.arrayContaining([expect.objectContaining({ area: 'git', verdict: 'fail' })]),
    })
  })
})

describe('a place', () => {
  it('counts from a subdirectory and through a link', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    box.write(tree, { 'deep/er/x': '' })
    const id = (await box.penv(tree, ['id'])).stdout
    expect(id).toMatch(/^[a-z][a-z0-9_]{2,26}\n$/)
    expect((await box.penv(join(tree, 'deep', 'er'), ['id'])).stdout).toBe(id)
    symlinkSync(tree, join(box.root, 'link'))
    expect((await box.penv(join(box.root, 'link', 'deep'), ['id'])).stdout).toBe(id)
  })

  it('is decided by the directory, whatever GIT_DIR the caller has', async () => {
    const box = makeSandbox()
    const [a, b] = [box.worktree('a'), box.worktree('b')]
    const id = (await box.penv(a, ['id'])).stdout
    const leaked = box.git(b, 'rev-parse', '--git-dir').trim()
    const result = await box.run(['id'], {
      cwd: a,
      env: { GIT_DIR: leaked, GIT_WORK_TREE: b, PENV_ID: 'x', PENV_ROOT: b },
    })
    expect(result).toMatchObject({ exit: 0, stdout: id })
  })

  it('of another repository inside a worktree is its own', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const vendor = join(tree, 'vendor', 'lib')
    mkdirSync(vendor, { recursive: true })
    box.git(vendor, 'init', '--quiet')
    await box.penv(vendor, ['is-worktree'], { exit: 1 })
    expect((await box.penv(vendor, ['id'])).stdout).toBe('')
  })

  it('of a bare layout has no main checkout', async () => {
    const box = makeSandbox()
    const bare = join(box.root, 'bare.git')
    box.git(box.main, 'clone', '--quiet', '--bare', box.main, bare)
    box.git(bare, 'worktree', 'add', '--quiet', join(box.root, 'first'), 'main')
    await box.penv(join(box.root, 'first'), ['is-worktree'])
    await box.penv(bare, ['is-worktree'], { exit: 1 })
  })
})
