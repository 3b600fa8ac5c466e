import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ended, makeSandbox, type Sandbox, waitFor } from '../support/sandbox.ts'

const TELL =
  'printf "%s\\n" "$(basename "$0" .sh) ${1-} $PENV_TEMPLATE fresh=$PENV_TEMPLATE_FRESH" >> "$HOME/story"\n'
const BOOTSTRAP = `#!/bin/sh\nset -eu\n${TELL}[ ! -e "$HOME/fail-$1" ] || exit 9\n`
const SCRIPTS = {
  'provision.sh': `#!/bin/sh\n${TELL}`,
  'teardown.sh': '#!/bin/sh\n',
  'bootstrap.sh': BOOTSTRAP,
  'template.inputs': '# what shapes the schema\n\nmigrations\n',
}

function storyOf(box: Sandbox): string[][] {
  const file = join(box.home, 'story')
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map(line => line.split(' '))
    : []
}

function makeRepository(): Sandbox {
  const box = makeSandbox()
  box.write(box.main, { 'migrations/1.sql': 'one', 'migrations/2.sql': 'two' })
  box.scripts(SCRIPTS)
  return box
}

const up = (box: Sandbox, tree: string, ...more: string[]) =>
  box.penv(tree, ['up', ...more], { stderr: 'any' })

describe('templates', () => {
  it('are built once, then cloned, and are fresh where no migration is newer', async () => {
    const box = makeRepository()
    const [a, b, newer] = [box.worktree('a'), box.worktree('b'), box.worktree('newer')]
    box.write(newer, { 'migrations/3.sql': 'three' })
    for (const tree of [a, b, newer]) await up(box, tree)
    const story = storyOf(box)
    const name = story[0]?.[2] as string
    expect(name).toMatch(/^penv_tpl_[0-9a-z]{6}_[0-9a-z]{6}_[0-9a-z]{6}$/)
    expect(story).toEqual([
      ['bootstrap', 'build', name, 'fresh='],
      ['provision', '', name, 'fresh=1'],
      ['provision', '', name, 'fresh=1'],
      ['provision', '', name, 'fresh='],
    ])
  })

  it('are built anew where this worktree lacks one of their migrations', async () => {
    const box = makeRepository()
    const [a, older] = [box.worktree('a'), box.worktree('older')]
    box.git(older, 'rm', '--quiet', 'migrations/2.sql')
    for (const tree of [a, older]) await up(box, tree)
    const built = storyOf(box).filter(([, verb]) => verb === 'build')
    expect(new Set(built.map(([, , name]) => name)).size).toBe(2)
  })

  it('are not built for --no-migrate, nor for an environment that was ready once', async () => {
    const box = makeRepository()
    const [a, b] = [box.worktree('a'), box.worktree('b')]
    await up(box, a, '--no-migrate')
    await up(box, a)
    expect(storyOf(box).map(([script, , name]) => [script, name])).toEqual([
      ['provision', ''],
      ['provision', ''],
    ])
    await up(box, b)
    expect(storyOf(box).filter(([script]) => script === 'bootstrap')).toHaveLength(1)
  })

  it('that cannot be built are dropped, and up goes on without one', async () => {
    const box = makeRepository()
    const tree = box.worktree('a')
    writeFileSync(join(box.home, 'fail-build'), '')
    await box.penv(tree, ['up'], { stderr: /no template: .*going on without one/ })
    expect(storyOf(box).map(([script, verb, name]) => [script, verb, name === ''])).toEqual([
      ['bootstrap', 'build', false],
      ['bootstrap', 'drop', false],
      ['provision', '', true],
    ])
    expect(box.ledger().templates).toEqual({})
  })

  it('stay on record when their drop fails', async () => {
    const box = makeRepository()
    const tree = box.worktree('a')
    await box.penv(tree, ['bootstrap'], { stderr: 'any' })
    writeFileSync(join(box.home, 'fail-drop'), '')
    await box.penv(tree, ['bootstrap', '--drop'], { exit: 8, stderr: 'any' })
    expect(Object.keys(box.ledger().templates as object)).toHaveLength(1)
  })

  it('are three at most, and --force builds one although one would do', async () => {
    const box = makeRepository()
    const tree = box.worktree('a')
    for (let build = 0; build < 4; build++) await box.penv(tree, ['bootstrap', '--force'], { stderr: 'any' })
    expect(Object.keys(box.ledger().templates as object)).toHaveLength(3)
    expect(storyOf(box).map(([, verb]) => verb)).toEqual(['build', 'build', 'build', 'build', 'drop'])
    const reused = await box.penv(tree, ['bootstrap', '--json'])
    expect(reused.json()).toMatchObject({ fresh: true, built: false })
    const dropped = await box.penv(tree, ['bootstrap', '--drop', '--json'], { stderr: 'any' })
    expect((dropped.json() as { dropped: string[] }).dropped).toHaveLength(3)
    expect(box.ledger().templates).toEqual({})
  })

  it('are built one at a time; --timeout bounds the wait for another build', async () => {
    const box = makeRepository()
    const [a, b] = [box.worktree('a'), box.worktree('b')]
    for (const tree of [a, b])
      box.write(tree, {
        '.preview/bootstrap.sh': `${BOOTSTRAP}touch "$HOME/started"\nwhile [ ! -e "$HOME/go" ]; do sleep 0.05; done\n`,
      })
    const first = ended(box.start(['up'], { cwd: a }))
    await waitFor(() => existsSync(join(box.home, 'started')), 'the build')
    const late = await box.run(['up', '--timeout', '0.2', '--json'], { cwd: b })
    expect(late).toMatchObject({ exit: 11, stdout: expect.stringContaining('BUSY') })
    writeFileSync(join(box.home, 'go'), '')
    expect((await first).exit).toBe(0)
    await up(box, b)
    expect(storyOf(box).filter(([, verb]) => verb === 'build')).toHaveLength(1)
  })
})

describe('the other files of .preview/', () => {
  it('holds adapters of the repository, which win over the shipped ones', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh':
        '#!/bin/sh\nset -eu\n. "$PENV_ADAPTERS/redis.sh"\nredis_url 3 > "$HOME/url"\n. "$PENV_ADAPTERS/sqlite.sh"\nsqlite_url app.db > "$HOME/file"\n',
      'adapters/redis.sh': 'redis_url() { printf "ours %s\\n" "$1"; }\n',
    })
    await box.penv(box.worktree('login'), ['up'], { stderr: 'any' })
    expect(readFileSync(join(box.home, 'url'), 'utf8')).toBe('ours 3\n')
    expect(readFileSync(join(box.home, 'file'), 'utf8')).toMatch(/^file:.*\/data\/app\.db\n$/)
  })
})
