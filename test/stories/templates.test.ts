// Templates over a life: built once, by one, cloned by all, and never a half-built one. bootstrap.sh makes a folder
// where a server would make a database.

import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { TemplateRecord } from '../../src/core/template.ts'
import { changeLedger } from '../../src/host/ledger-files.ts'
import { identifySelf } from '../../src/host/processes.ts'
import { errorOf, isAlive, pause, pidOf, release, say, statusOf, storyOf } from '../support/lifecycle.ts'
import { ended, makeSandbox, type Sandbox, waitFor } from '../support/sandbox.ts'

const bootstrap = (build: string) => `#!/bin/sh
set -eu
db="$HOME/server/$PENV_TEMPLATE"
case $1 in
build)
  mkdir -p "$HOME/server"
  mkdir "$db"
  ${say('build $PENV_TEMPLATE').trim()}
  ${build}
  : > "$db/complete"
  ;;
drop)
  ${say('drop $PENV_TEMPLATE').trim()}
  rm -rf "$db"
  ;;
esac
`
const PROVISION = `#!/bin/sh
set -eu
[ -z "$PENV_TEMPLATE" ] || [ -e "$HOME/server/$PENV_TEMPLATE/complete" ]
${say('provision [$PENV_TEMPLATE] fresh=$PENV_TEMPLATE_FRESH')}`
const INPUTS = 'migrations\n'

function makeRepo(build = ':'): Sandbox {
  const box = makeSandbox()
  box.write(box.main, { 'migrations/1.sql': 'one' })
  box.scripts({ 'provision.sh': PROVISION, 'bootstrap.sh': bootstrap(build), 'template.inputs': INPUTS })
  return box
}

const serverOf = (box: Sandbox) =>
  existsSync(join(box.home, 'server')) ? readdirSync(join(box.home, 'server')).sort() : []
const countOf = (box: Sandbox, word: string) =>
  storyOf(box).filter(line => line.startsWith(`${word} `)).length
const templatesOf = (box: Sandbox) =>
  Object.values(box.ledger().templates as Record<string, { name: string; state: string }>)
// In one line, for the middle of a case.
const BUILDING = pause('building').trim().replaceAll('\n', '; ').replace('do;', 'do')
const up = (box: Sandbox, tree: string, ...more: string[]) =>
  box.penv(tree, ['up', ...more], { stderr: 'any' })
const lastProvision = (box: Sandbox) =>
  storyOf(box)
    .filter(line => line.startsWith('provision'))
    .at(-1)

describe('a template', () => {
  it('is built by the first up, and cloned fresh by the others', async () => {
    const box = makeRepo()
    for (const name of ['aa', 'bb', 'cc']) await up(box, box.worktree(name))
    const [name] = serverOf(box)
    expect(storyOf(box)).toEqual([`build ${name}`, ...Array(3).fill(`provision [${name}] fresh=1`)])
    expect(templatesOf(box)).toMatchObject([{ name, state: 'ready' }])
    expect(Object.values(box.ledger().environments).map(({ template }) => template)).toEqual([
      name,
      name,
      name,
    ])
  })

  it('is built once when several ups come at once and there is none', async () => {
    const box = makeRepo(BUILDING)
    const trees = ['aa', 'bb', 'cc'].map(name => box.worktree(name))
    const runs = trees.map(tree => box.start(['up'], { cwd: tree }))
    const stories = runs.map(() => '')
    for (const [at, run] of runs.entries())
      run.stderr?.on('data', chunk => {
        stories[at] += chunk
      })
    const ends = Promise.all(runs.map(run => ended(run)))
    await pidOf(box, 'building')
    await waitFor(
      () => stories.filter(story => story.includes('waiting for the template')).length === 2,
      'two that wait',
    )
    release(box, 'building')
    expect((await ends).map(({ exit }) => exit)).toEqual([0, 0, 0])
    expect(countOf(box, 'build')).toBe(1)
    const [name] = serverOf(box)
    expect(storyOf(box).filter(line => line.startsWith('provision'))).toEqual(
      Array(3).fill(`provision [${name}] fresh=1`),
    )
  })

  it('is cloned with newer migrations to follow, and built anew for a branch that is older or diverges', async () => {
    const box = makeRepo()
    const base = box.worktree('base')
    await up(box, base)
    const [first] = serverOf(box)
    const newer = box.worktree('newer')
    box.write(newer, { 'migrations/2.sql': 'two' })
    await up(box, newer)
    expect(lastProvision(box)).toBe(`provision [${first}] fresh=`)
    expect(countOf(box, 'build')).toBe(1)
    // By hand a fresh one for the newer branch; the older branch does not get it.
    await box.penv(newer, ['bootstrap', '--force'], { stderr: 'any' })
    const second = serverOf(box).find(name => name !== first)
    const older = box.worktree('older')
    await up(box, older)
    expect(lastProvision(box)).toBe(`provision [${first}] fresh=1`)
    const diverged = box.worktree('diverged')
    box.write(diverged, { 'migrations/1.sql': 'other one' })
    await up(box, diverged)
    expect(countOf(box, 'build')).toBe(3)
    const third = serverOf(box).find(name => name !== first && name !== second)
    expect(lastProvision(box)).toBe(`provision [${third}] fresh=1`)
  })

  it('counts files as they are on the disk: untracked ones, without ignored ones, and bootstrap.sh itself', async () => {
    const box = makeRepo()
    box.write(box.main, { '.gitignore': '*.log\n' })
    box.git(box.main, 'add', '--all')
    box.git(box.main, 'commit', '--quiet', '-m', 'ignore')
    await up(box, box.worktree('aa'))
    const ignored = box.worktree('bb')
    box.write(ignored, { 'migrations/run.log': 'x' })
    await up(box, ignored)
    expect(countOf(box, 'build')).toBe(1)
    const changed = box.worktree('cc')
    appendFileSync(join(changed, '.preview', 'bootstrap.sh'), '# changed\n')
    await up(box, changed)
    expect(countOf(box, 'build')).toBe(2)
    const removed = box.worktree('dd')
    rmSync(join(removed, 'migrations', '1.sql'))
    await up(box, removed)
    expect(countOf(box, 'build')).toBe(3)
  })

  it('is not built for an environment that has its database already, nor with --no-migrate', async () => {
    const box = makeRepo()
    const tree = box.worktree('aa')
    rmSync(join(tree, '.preview', 'bootstrap.sh'))
    await up(box, tree)
    box.git(tree, 'checkout', '--quiet', '.')
    await up(box, tree)
    const other = box.worktree('bb')
    await up(box, other, '--no-migrate')
    expect(countOf(box, 'build')).toBe(0)
    expect(new Set(storyOf(box))).toEqual(new Set(['provision [] fresh=']))
    // What is there is cloned all the same.
    await box.penv(box.worktree('cc'), ['bootstrap'], { stderr: 'any' })
    await up(box, box.worktree('dd'), '--no-migrate')
    expect(lastProvision(box)).toBe(`provision [${serverOf(box)[0]}] fresh=1`)
  })

  it('is not shared with another repository of the same content', async () => {
    const box = makeRepo()
    await up(box, box.worktree('aa'))
    box.git(box.root, 'clone', '--quiet', box.main, join(box.root, 'second'))
    box.git(join(box.root, 'second'), 'worktree', 'add', '--quiet', '-b', 'w', join(box.root, 'bb'))
    await up(box, join(box.root, 'bb'))
    expect(serverOf(box)).toHaveLength(2)
  })

  it('is kept three times, and the one not used for longest goes', async () => {
    const box = makeRepo()
    const tree = box.worktree('aa')
    const built: string[] = []
    for (let round = 1; round <= 5; round++) {
      box.write(tree, { 'migrations/1.sql': `version ${round}` })
      built.push(
        ((await box.penv(tree, ['bootstrap', '--json'], { stderr: 'any' })).json() as { template: string })
          .template,
      )
      // The first one is used again before the fourth is built.
      if (round === 3) {
        box.write(tree, { 'migrations/1.sql': 'version 1' })
        expect((await box.penv(tree, ['bootstrap', '--json'], { stderr: 'any' })).json()).toMatchObject({
          template: built[0],
          built: false,
          fresh: true,
        })
      }
    }
    expect(serverOf(box)).toEqual([built[0], built[3], built[4]].sort())
    expect(
      templatesOf(box)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(serverOf(box))
  })
})

describe('a build that does not get to its end', () => {
  it('by failing lets up go on without a template, and is dropped', async () => {
    const box = makeRepo('[ -e "$HOME/works" ]')
    const tree = box.worktree('aa')
    const { stderr } = await up(box, tree)
    expect(stderr).toMatch(/no template: bootstrap failed: [^\n]*; going on without one/)
    expect(lastProvision(box)).toBe('provision [] fresh=')
    expect(serverOf(box)).toEqual([])
    expect(templatesOf(box)).toEqual([])
    expect((await statusOf(box, tree)).state).toBe('ready')
    const failed = await box.run(['bootstrap', '--json'], { cwd: tree })
    expect(failed.exit).toBe(8)
    expect(errorOf(failed.stdout)).toMatchObject({ code: 'BOOTSTRAP_FAILED', details: { exitCode: 1 } })
    box.write(box.home, { works: '' })
    await up(box, box.worktree('bb'))
    expect(lastProvision(box)).toBe(`provision [${serverOf(box)[0]}] fresh=1`)
  })

  it('by kill -9 of its penv is ended, dropped and built anew by the next one, in another worktree', async () => {
    const box = makeRepo(BUILDING)
    const child = box.start(['up'], { cwd: box.worktree('aa') })
    const gone = ended(child)
    const script = await pidOf(box, 'building')
    const [half] = serverOf(box)
    child.kill('SIGKILL')
    await gone
    expect(isAlive(script)).toBe(true)
    expect(templatesOf(box)).toMatchObject([{ name: half, state: 'building' }])
    const next = box.start(['up'], { cwd: box.worktree('bb') })
    const end = ended(next)
    await pidOf(box, 'building', 2)
    // Never two builders: the left one could not have outlived the drop.
    expect(isAlive(script)).toBe(false)
    release(box, 'building')
    const { exit, stderr } = await end
    expect({ exit, stderr }).toMatchObject({ exit: 0, stderr: expect.stringContaining('left running') })
    const [whole] = serverOf(box)
    expect(whole).not.toBe(half)
    expect(storyOf(box).filter(line => !line.startsWith('building'))).toEqual([
      `build ${half}`,
      `drop ${half}`,
      `build ${whole}`,
      `provision [${whole}] fresh=1`,
    ])
    expect(templatesOf(box)).toMatchObject([{ name: whole, state: 'ready' }])
    expect(readdirSync(join(box.stateDir, 'builds'))).toEqual([])
  })

  it('by Ctrl-C stops up, and is dropped by the next one', async () => {
    const box = makeRepo(BUILDING)
    const tree = box.worktree('aa')
    const child = box.start(['up'], { cwd: tree })
    const end = ended(child)
    const script = await pidOf(box, 'building')
    child.kill('SIGINT')
    expect((await end).exit).toBe(130)
    expect(isAlive(script)).toBe(false)
    expect(countOf(box, 'provision')).toBe(0)
    release(box, 'building')
    await up(box, tree)
    expect(serverOf(box)).toHaveLength(1)
    expect(lastProvision(box)).toBe(`provision [${serverOf(box)[0]}] fresh=1`)
  })

  it('because it takes longer than --timeout is ended, and one that waits for it gives up by its own', async () => {
    const box = makeRepo(BUILDING)
    const child = box.start(['up'], { cwd: box.worktree('aa') })
    const end = ended(child)
    await pidOf(box, 'building')
    const waiting = await box.run(['bootstrap', '--timeout', '0.3', '--json'], { cwd: box.worktree('bb') })
    expect(waiting.exit).toBe(11)
    expect(errorOf(waiting.stdout)).toMatchObject({ code: 'BUSY', details: { pid: child.pid } })
    release(box, 'building')
    expect((await end).exit).toBe(0)
  })
})

describe('a build of which nothing can be known', () => {
  it('is waited for, and taken over with --force', async () => {
    const box = makeRepo()
    const tree = box.worktree('aa')
    await up(box, tree)
    const [half] = serverOf(box)
    rmSync(join(box.home, 'server', half as string, 'complete'))
    await changeLedger(box.stateDir, ledger => {
      const [template] = Object.values(ledger.templates) as [TemplateRecord]
      const builder = { ...identifySelf(), host: 'elsewhere', bootId: 'another' }
      const building: TemplateRecord = { ...template, state: 'building', builder }
      return {
        ledger: { ...ledger, templates: { ...ledger.templates, [template.name]: building } },
        value: undefined,
      }
    })
    const next = box.worktree('bb')
    const waiting = await box.run(['up', '--timeout', '0.3', '--json'], { cwd: next })
    expect({ exit: waiting.exit, code: errorOf(waiting.stdout).code }).toEqual({ exit: 11, code: 'BUSY' })
    await up(box, next, '--force')
    expect(serverOf(box)).not.toContain(half)
    expect(templatesOf(box)).toMatchObject([{ state: 'ready' }])
  })
})

describe('penv bootstrap', () => {
  it('builds where it must, says when it need not, and builds anew with --force', async () => {
    const box = makeRepo()
    const tree = box.worktree('aa')
    const built = (await box.penv(tree, ['bootstrap', '--json'], { stderr: 'any' })).json() as {
      template: string
    }
    expect(built).toMatchObject({ built: true, fresh: true })
    expect((await box.penv(tree, ['bootstrap', '--json'])).json()).toEqual({ ...built, built: false })
    expect((await box.penv(tree, ['bootstrap'])).stdout).toContain('up to date')
    const forced = (await box.penv(tree, ['bootstrap', '--force', '--json'], { stderr: 'any' })).json() as {
      template: string
    }
    expect(forced.template).not.toBe(built.template)
    await up(box, tree)
    expect(lastProvision(box)).toBe(`provision [${forced.template}] fresh=1`)
    expect((await statusOf(box, tree)).state).toBe('ready')
  })

  it('drops all of the repository’s with --drop, and no other’s', async () => {
    const box = makeRepo()
    const tree = box.worktree('aa')
    await box.penv(tree, ['bootstrap'], { stderr: 'any' })
    mkdirSync(join(box.home, 'server', 'penv_tpl_other'), { recursive: true })
    const [mine] = templatesOf(box)
    expect((await box.penv(tree, ['bootstrap', '--drop', '--json'], { stderr: 'any' })).json()).toEqual({
      dropped: [mine?.name],
    })
    expect(serverOf(box)).toEqual(['penv_tpl_other'])
    expect(templatesOf(box)).toEqual([])
  })

  it('refuses a pathspec that git refuses, by its file', async () => {
    const box = makeRepo()
    const tree = box.worktree('aa')
    box.write(tree, { '.preview/template.inputs': '../outside\n' })
    const { exit, stdout } = await box.run(['bootstrap', '--json'], { cwd: tree })
    expect(exit).toBe(4)
    expect(errorOf(stdout).message).toContain('template.inputs')
    expect(readFileSync(join(tree, '.preview', 'template.inputs'), 'utf8')).toBe('../outside\n')
  })

  it('outlives destroy: the template of an environment stays for the others', async () => {
    const box = makeRepo()
    const tree = box.worktree('aa')
    await up(box, tree)
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    await up(box, box.worktree('bb'))
    expect(countOf(box, 'build')).toBe(1)
  })
})
