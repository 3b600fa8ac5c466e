// The table of places: each command in a worktree, on the main checkout, outside of repositories, and where git fails.
// Also which program git is asked with, and whose repository it answers for.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GIT_LOCATION_VARIABLES } from '../../src/host/git.ts'
import { errorOf, say, storyOf } from '../support/lifecycle.ts'
import { makeSandbox, PROGRAM, type Result, type Sandbox } from '../support/sandbox.ts'

const SCRIPTS = {
  'provision.sh': '#!/bin/sh\n',
  'verify.sh': '#!/bin/sh\n',
  'down.sh': '#!/bin/sh\n',
  'teardown.sh': '#!/bin/sh\n',
}

type Place = 'worktree' | 'main' | 'outside' | 'broken'

interface Expected {
  exit: number
  /** Default: nothing. */
  stdout?: RegExp
  /** Default: nothing. */
  stderr?: RegExp
  code?: string
  json?: unknown
}

const silent: Expected = { exit: 0 }
const note: Expected = { exit: 0, stderr: /^penv: nothing to do: this is [^\n]*\n$/, json: { skipped: true } }
const gitFails: Expected = { exit: 4, stderr: /^penv: git no longer knows this folder/, code: 'GIT_FAILED' }
const noWorktree: Expected = { exit: 3, stderr: /^penv: cannot [^\n]*: this is /, code: 'NOT_A_WORKTREE' }

const ROWS: [args: string[], expected: Record<Place, Expected>][] = [
  [
    ['id'],
    {
      worktree: { exit: 0, stdout: /^login_\w{6}\n$/, json: { id: expect.stringMatching(/^login_/) } },
      main: { ...silent, json: { id: null } },
      outside: { ...silent, json: { id: null } },
      broken: gitFails,
    },
  ],
  [
    ['is-worktree'],
    {
      worktree: { ...silent, json: { isWorktree: true } },
      main: { exit: 1, json: { isWorktree: false } },
      outside: { exit: 1, json: { isWorktree: false } },
      broken: gitFails,
    },
  ],
  ...[
    ['get', 'port', 'web'],
    ['get', 'port', 'api', '20500-20600'],
    ['get', 'index', 'redis', '1-15'],
    ['get', 'name', 'db'],
  ].map((args): [string[], Record<Place, Expected>] => [
    args,
    {
      worktree: { exit: 0, stdout: /^\S+\n$/ },
      main: noWorktree,
      outside: noWorktree,
      broken: gitFails,
    },
  ]),
  [
    ['get', 'port', 'web', '--main', '3000'],
    {
      worktree: { exit: 0, stdout: /^2\d{4}\n$/ },
      main: { exit: 0, stdout: /^3000\n$/, json: { name: 'web', port: 3000 } },
      outside: noWorktree,
      broken: gitFails,
    },
  ],
  [['env', 'A=1'], { worktree: silent, main: noWorktree, outside: noWorktree, broken: gitFails }],
  [
    ['env'],
    {
      worktree: { exit: 0, stdout: /^PENV_ID=login_\w{6}\n/ },
      main: noWorktree,
      outside: noWorktree,
      broken: gitFails,
    },
  ],
  [
    ['up'],
    {
      worktree: { exit: 0, stdout: /is ready/, stderr: /running/ },
      main: note,
      outside: note,
      broken: gitFails,
    },
  ],
  [
    ['verify'],
    {
      worktree: { exit: 0, stdout: /is isolated/, stderr: /running/ },
      main: note,
      outside: note,
      broken: gitFails,
    },
  ],
  [
    ['down'],
    {
      worktree: { exit: 0, stdout: /is down/, stderr: /running/ },
      main: note,
      outside: note,
      broken: gitFails,
    },
  ],
  [
    ['status'],
    { worktree: { exit: 0, stdout: /^login_\w{6} {2}ready/ }, main: note, outside: note, broken: gitFails },
  ],
  [
    ['session'],
    {
      worktree: { exit: 0, stdout: /It is ready/ },
      main: { ...silent, json: { skipped: true } },
      outside: { ...silent, json: { skipped: true } },
      broken: { exit: 0, stderr: /^penv: no session text: [^\n]*\n$/, json: { skipped: true } },
    },
  ],
  [
    ['list'],
    {
      worktree: { exit: 0, stdout: /login_/ },
      main: { exit: 0, stdout: /login_/ },
      outside: { exit: 0, stdout: /login_/ },
      broken: { exit: 0, stdout: /login_/ },
    },
  ],
  [
    ['exec', '--', 'sh', '-c', 'echo "$A"'],
    {
      worktree: { exit: 0, stdout: /^1\n$/ },
      main: { ...noWorktree, exit: 125 },
      outside: { ...noWorktree, exit: 125 },
      broken: { ...gitFails, exit: 125 },
    },
  ],
  [
    ['bootstrap'],
    {
      worktree: { exit: 5, stderr: /no template/, code: 'NO_SCRIPTS' },
      main: note,
      outside: note,
      broken: gitFails,
    },
  ],
  [
    ['destroy'],
    {
      worktree: { exit: 0, stdout: /is destroyed/, stderr: /running/ },
      main: note,
      outside: note,
      broken: gitFails,
    },
  ],
]

function makePlaces(box: Sandbox): Record<Place, string> {
  box.scripts(SCRIPTS)
  const worktree = box.worktree('login')
  const broken = join(box.root, 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, '.git'), `gitdir: ${box.root}/nowhere\n`)
  return { worktree, main: box.main, outside: box.home, broken }
}

function expectAs(result: Result, { exit, stdout, stderr }: Expected, where: string): void {
  expect({ exit: result.exit, stdout: result.stdout, stderr: result.stderr }, where).toEqual({
    exit,
    stdout: stdout === undefined ? '' : expect.stringMatching(stdout),
    stderr: stderr === undefined ? '' : expect.stringMatching(stderr),
  })
}

describe('the table of places', () => {
  it('holds for every command as text', async () => {
    const box = makeSandbox()
    const places = makePlaces(box)
    // In the worktree each command builds on the one before; elsewhere nothing may ever change.
    for (const [args, expected] of ROWS)
      for (const place of ['worktree', 'main', 'outside', 'broken'] as const) {
        const before = place === 'worktree' ? [] : box.revisions()
        expectAs(
          await box.run(args, { cwd: places[place] }),
          expected[place],
          `penv ${args.join(' ')}: ${place}`,
        )
        if (place !== 'worktree') expect(box.revisions()).toEqual(before)
      }
    expect(existsSync(join(box.main, '.env.preview'))).toBe(false)
    expect(box.git(box.main, 'status', '--porcelain')).toBe('')
    expect(readdirSync(box.home).sort()).toEqual(['.gitconfig', '.local'])
  })

  it('holds for every command as JSON: one document, with the same exit code', async () => {
    const box = makeSandbox()
    const places = makePlaces(box)
    for (const [args, expected] of ROWS.filter(([args]) => args[0] !== 'exec'))
      for (const place of ['worktree', 'main', 'outside', 'broken'] as const) {
        const { exit, code, json } = expected[place]
        const result = await box.run([...args, '--json'], { cwd: places[place] })
        const where = `penv ${args.join(' ')} --json: ${place}: ${result.stderr}`
        expect(result.exit, where).toBe(exit)
        expect(result.stdout, where).toMatch(/^[^\n]+\n$/)
        const value = result.json() as unknown
        if (code !== undefined)
          expect(value, where).toMatchObject({ error: { code, message: expect.any(String) } })
        else expect(value, where).not.toHaveProperty('error')
        if (json !== undefined) expect(value, where).toMatchObject(json as object)
      }
  })

  it('lets list and destroy by id act wherever they are called', async () => {
    const box = makeSandbox()
    const places = makePlaces(box)
    for (const [name, place] of Object.entries({ ...places, worktree: box.worktree('other') })) {
      const tree = box.worktree(`t-${name}`)
      await box.penv(tree, ['up'], { stderr: 'any' })
      const id = (await box.penv(tree, ['id'])).stdout.trim()
      expect((await box.penv(place, ['list'])).stdout).toContain(id)
      await box.penv(place, ['destroy', id], { stderr: /teardown/ })
      expect((await box.penv(place, ['list'])).stdout).not.toContain(id)
    }
  })

  it('lets list and destroy by id act in a directory that was removed', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    const inRemoved = (words: string) =>
      execFileSync('sh', ['-c', `mkdir gone; cd gone; rmdir ../gone; ${words}; echo "exit $?"`], {
        cwd: box.root,
        env: box.env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    expect(inRemoved('penv list')).toContain(id)
    for (const command of ['id', 'is-worktree', 'up', 'get port web', 'status', 'destroy'])
      expect(inRemoved(`penv ${command} --json`)).toMatch(/^\{"error":\{"code":"GIT_FAILED"[^\n]*\nexit 4\n$/)
    // The shell of the test has its own word about it.
    expect(inRemoved('penv session 2>&1').replace(/^.*getcwd.*\n/gm, '')).toMatch(
      /^penv: no session text: [^\n]*\nexit 0\n$/,
    )
    expect(inRemoved(`penv destroy ${id} 2>/dev/null`)).toContain('exit 0')
    expect(box.ledger().environments).toEqual({})
  })

  it('counts the inside of a .git directory as no worktree', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'port', 'web'])
    for (const place of [
      join(box.main, '.git'),
      box.git(tree, 'rev-parse', '--git-dir').trim(),
      join(box.main, '.git', 'refs'),
    ]) {
      expect((await box.penv(place, ['id'])).stdout).toBe('')
      await box.penv(place, ['is-worktree'], { exit: 1 })
      await box.penv(place, ['up'], { stderr: /nothing to do/ })
    }
  })
})

describe('git', () => {
  it('that is not there is named; an environment that is known needs none', async () => {
    const box = makeSandbox()
    const [known, unknown] = [box.worktree('known'), box.worktree('unknown')]
    const port = (await box.penv(known, ['get', 'port', 'web'])).stdout
    const bin = join(box.root, 'empty')
    mkdirSync(bin)
    const env = { PATH: bin }
    expect((await box.run(['get', 'port', 'web'], { cwd: known, env })).stdout).toBe(port)
    for (const args of [['id'], ['is-worktree'], ['get', 'port', 'web'], ['up']]) {
      const result = await box.run([...args, '--json'], { cwd: unknown, env })
      expect(result.exit).toBe(4)
      expect(errorOf(result.stdout)).toMatchObject({
        code: 'GIT_FAILED',
        message: expect.stringContaining('no git on PATH'),
      })
    }
  })

  // Each of these makes git refuse with exit 128, as it does outside of a repository.
  const REFUSALS: [
    title: string,
    spoil: (box: Sandbox, tree: string) => Record<string, string>,
    words: RegExp,
  ][] = [
    [
      'dubious ownership',
      () => ({ GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' }),
      /dubious ownership[\s\S]*git config --global --add safe\.directory/,
    ],
    [
      'a damaged configuration',
      box => {
        writeFileSync(join(box.main, '.git', 'config'), '[core\n')
        return {}
      },
      /bad config line 1/,
    ],
    [
      'a HEAD that is gone',
      (box, tree) => {
        rmSync(join(box.git(tree, 'rev-parse', '--git-dir').trim(), 'HEAD'))
        return {}
      },
      /not a git repository|no longer knows/,
    ],
    [
      'a git that dies',
      box => {
        writeFileSync(join(box.root, 'bin', 'git'), '#!/bin/sh\nkill -KILL $$\n', { mode: 0o755 })
        return {}
      },
      /git failed/,
    ],
  ]
  it.each(REFUSALS)(
    'that fails with %s is never taken for the main checkout',
    async (_title, spoil, words) => {
      const box = makeSandbox()
      box.scripts(SCRIPTS)
      const tree = box.worktree('login')
      const env = spoil(box, tree)
      for (const args of [
        ['id'],
        ['is-worktree'],
        ['get', 'port', 'web', '--main', '3000'],
        ['env', 'A=1'],
        ['up'],
        ['verify'],
        ['down'],
        ['destroy'],
        ['status'],
      ]) {
        const result = await box.run(args, { cwd: tree, env })
        expect([args, result.exit, result.stdout]).toEqual([args, 4, ''])
        expect(result.stderr).toMatch(words)
      }
      const session = await box.run(['session'], { cwd: tree, env })
      expect(session).toMatchObject({ exit: 0, stdout: '' })
      expect(session.stderr.trim().split('\n')).toHaveLength(1)
      expect(box.ledger().environments).toEqual({})
    },
  )

  const isRoot = process.getuid?.() === 0
  it.runIf(isRoot)(
    `that refuses the worktree of another user refuses a known environment too${isRoot ? '' : ' (not run: chown needs root)'}`,
    async () => {
      const box = makeSandbox()
      const tree = box.worktree('login')
      await box.penv(tree, ['get', 'port', 'web'])
      for (const file of [tree, join(tree, '.git')]) chownSync(file, 65534, 65534)
      for (const args of [['id'], ['is-worktree'], ['get', 'port', 'web'], ['up'], ['env', 'A=1']]) {
        const { exit, stdout, stderr } = await box.run(args, { cwd: tree })
        expect([args, exit, stdout]).toEqual([args, 4, ''])
        expect(stderr).toMatch(/safe\.directory/)
      }
      expect(readFileSync(join(box.home, '.gitconfig'), 'utf8')).not.toContain('safe')
    },
  )

  it('speaks any language, and is understood', async () => {
    const box = makeSandbox()
    const env = { LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8', LANGUAGE: 'de:fr' }
    expect(await box.run(['id'], { cwd: box.home, env })).toMatchObject({ exit: 0, stdout: '', stderr: '' })
    expect((await box.run(['is-worktree'], { cwd: box.home, env })).exit).toBe(1)
  })

  it('scrubs the location variables that the installed git has', () => {
    const known = execFileSync('git', ['rev-parse', '--local-env-vars'], { encoding: 'utf8' })
      .trim()
      .split('\n')
    expect(known.filter(name => name !== 'GIT_CONFIG_COUNT').sort()).toEqual(
      [...GIT_LOCATION_VARIABLES].sort(),
    )
  })

  it('answers for the directory, whatever location a hook has leaked', async () => {
    const box = makeSandbox()
    box.scripts({
      ...SCRIPTS,
      'provision.sh': `#!/bin/sh\nset -eu\n${say('$PENV_ID [$(env | grep "^GIT_" | grep -v "^GIT_\\(CONFIG_GLOBAL\\|CONFIG_NOSYSTEM\\|AUTHOR_DATE\\|COMMITTER_DATE\\)=" | sort | tr "\\n" " ")]')}git init --quiet t\ncd t\n: > file\ngit add file\ngit commit --quiet -m t\n`,
    })
    const [a, b] = [box.worktree('aa'), box.worktree('bb')]
    const gitDirA = box.git(a, 'rev-parse', '--git-dir').trim()
    const leaked = {
      GIT_DIR: gitDirA,
      GIT_INDEX_FILE: join(gitDirA, 'index'),
      GIT_WORK_TREE: a,
      GIT_COMMON_DIR: join(box.main, '.git'),
      GIT_OBJECT_DIRECTORY: join(box.main, '.git', 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(box.main, '.git', 'objects'),
      GIT_PREFIX: 'sub/',
      GIT_CONFIG_PARAMETERS: "'core.bare'='true'",
    }
    const idB = (await box.penv(b, ['id'])).stdout
    expect((await box.run(['id'], { cwd: b, env: leaked })).stdout).toBe(idB)
    const before = box.git(a, 'ls-files', '--stage')
    const up = await box.run(['up'], { cwd: b, env: leaked })
    expect(up.exit, up.stderr).toBe(0)
    expect(storyOf(box)).toEqual([`${idB.trim()} []`])
    expect(box.git(a, 'ls-files', '--stage')).toBe(before)
    expect(box.git(a, 'status', '--porcelain')).toBe('')
    for (const place of [box.main, box.home]) {
      expect((await box.run(['id'], { cwd: place, env: leaked })).stdout).toBe('')
      expect((await box.run(['is-worktree'], { cwd: place, env: leaked })).exit).toBe(1)
    }
  })

  it('leaves the index of the one that commits alone: a pre-commit hook in A ups B', async () => {
    const box = makeSandbox()
    box.scripts({
      ...SCRIPTS,
      'provision.sh': '#!/bin/sh\nset -eu\ngit init --quiet t\ncd t\n: > stray\ngit add .\n',
    })
    const [a, b] = [box.worktree('aa'), box.worktree('bb')]
    writeFileSync(
      join(box.main, '.git', 'hooks', 'pre-commit'),
      `#!/bin/sh\ncd '${b}' && penv up >/dev/null 2>&1\n`,
      { mode: 0o755 },
    )
    box.write(a, { 'new.txt': 'x' })
    box.git(a, 'add', 'new.txt')
    box.git(a, 'commit', '--quiet', '-m', 'with the hook')
    expect(box.git(a, 'show', '--name-only', '--format=', 'HEAD')).toBe('new.txt\n')
    expect(box.git(a, 'status', '--porcelain')).toBe('')
    expect(Object.values(box.ledger().environments)).toMatchObject([{ root: b, state: 'ready' }])
  })

  it('keeps the configuration that the caller passes by GIT_CONFIG_COUNT', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': `#!/bin/sh\n${say('$(git config test.value)')}` })
    const tree = box.worktree('login')
    await box.run(['up'], {
      cwd: tree,
      env: { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'test.value', GIT_CONFIG_VALUE_0: 'kept' },
    })
    expect(storyOf(box)).toEqual(['kept'])
  })

  it('is never written to: neither the repository nor the user’s configuration changes', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    const read = () =>
      [join(box.home, '.gitconfig'), join(box.main, '.git', 'config'), join(tree, '.git')].map(file =>
        readFileSync(file, 'utf8'),
      )
    const [before, index] = [
      read(),
      readFileSync(join(box.git(tree, 'rev-parse', '--git-dir').trim(), 'index')),
    ]
    for (const args of [['up'], ['verify'], ['status'], ['destroy']])
      await box.penv(tree, args, { stderr: 'any' })
    expect(read()).toEqual(before)
    expect(readFileSync(join(box.git(tree, 'rev-parse', '--git-dir').trim(), 'index'))).toEqual(index)
    expect(box.git(tree, 'status', '--porcelain')).toBe('')
    expect(
      readFileSync(join(box.main, '.git', 'info', 'exclude'), 'utf8').match(/env\.preview/g),
    ).toHaveLength(1)
  })
})

describe('penv itself', () => {
  it.each(['with space', "it's here", 'a"b$c`d', 'ünï-日本'])(
    'works installed under, and in a worktree at, a path like: %s',
    async name => {
      const box = makeSandbox()
      box.scripts({
        'provision.sh': `#!/bin/sh\nset -eu\nport=$("$PENV_BIN" get port web)\npenv env "PORT=$port" "AT=$PENV_ROOT"\n${say('$PENV_ROOT')}`,
        'verify.sh': '#!/bin/sh\n. "$PENV_ROOT/.env.preview"\n[ "$AT" = "$PENV_ROOT" ]\n',
        'teardown.sh': `#!/bin/sh\n. "$PENV_ROOT/.env.preview"\n[ "$PORT" = "$(penv get port web)" ]\n`,
      })
      const tree = box.worktree(name, 'odd')
      const program = join(box.root, name.repeat(2), 'penv.cjs')
      mkdirSync(join(program, '..'))
      writeFileSync(program, readFileSync(PROGRAM))
      chmodSync(program, 0o755)
      const penv = (...args: string[]) =>
        execFileSync(process.execPath, [program, ...args], {
          cwd: tree,
          env: { ...box.env, PATH: process.env.PATH ?? '' },
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
        })
      for (const command of ['up', 'verify', 'status', 'list', 'down', 'destroy']) penv(command)
      expect(storyOf(box)).toEqual([tree])
      expect(box.ledger().environments).toEqual({})
    },
  )
})
