// Promise 6: stdout is the answer, stderr the story, the exit code the verdict.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorOf, say, storyOf } from '../support/lifecycle.ts'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'

// What a tool that a script calls may print, on both streams.
const NOISE = `echo hi\necho '{"x":1}'\nprintf '\\033[31mred'\nprintf '\\000\\377\\n'\necho '{"y":2}' >&2\n`
const NAMES = ['provision', 'seed', 'verify', 'down', 'teardown', 'bootstrap']
const noisy = (end = '') => Object.fromEntries(NAMES.map(name => [`${name}.sh`, `#!/bin/sh\n${NOISE}${end}`]))

const RUNS: string[][] = [['bootstrap'], ['up', '--seed'], ['verify'], ['down'], ['destroy']]

describe('stdout with --json', () => {
  it.each([[['--json']], [['--json', '--verbose']], [['--json', '--quiet']]])(
    'is one document on success, whatever the scripts print, with %j',
    async flags => {
      const box = makeSandbox()
      box.scripts(noisy())
      const tree = box.worktree('login')
      for (const args of RUNS) {
        const { exit, stdout, stderr } = await box.run([...args, ...flags], { cwd: tree })
        expect([args, exit]).toEqual([args, 0])
        expect(stdout).toMatch(/^\{[^\n]*\}\n$/)
        expect(JSON.parse(stdout)).not.toHaveProperty('error')
        if (flags.includes('--quiet')) expect(stderr).toBe('')
        else expect(stderr).toContain('{"x":1}\n\u001b[31mred')
      }
    },
  )

  it('is one document on failure, with the code and the exit status of the script', async () => {
    const box = makeSandbox()
    box.scripts(noisy('[ -e "$HOME/fail" ] && exit 7\nexit 0\n'))
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    box.write(box.home, { fail: '' })
    const codes: Record<string, [code: string, exit: number]> = {
      bootstrap: ['BOOTSTRAP_FAILED', 8],
      up: ['PROVISION_FAILED', 8],
      verify: ['VERIFY_FAILED', 1],
      down: ['DOWN_FAILED', 8],
      destroy: ['TEARDOWN_FAILED', 8],
    }
    for (const [command = '', ...args] of [
      ['bootstrap', '--force'],
      ['up'],
      ['verify'],
      ['down'],
      ['destroy'],
    ]) {
      const { exit, stdout, stderr } = await box.run([command, ...args, '--json'], { cwd: tree })
      expect(stdout).toMatch(/^\{[^\n]*\}\n$/)
      expect(errorOf(stdout)).toMatchObject({
        code: codes[command]?.[0],
        details: { exitCode: 7, log: expect.any(String) },
        hint: expect.stringContaining(`penv ${command}`),
      })
      expect(exit).toBe(codes[command]?.[1])
      expect(stderr).toContain(errorOf(stdout).message)
    }
  })

  const USAGE: string[][] = [
    [],
    ['nonsense'],
    ['up', 'surplus', 'arguments'],
    ['verify', 'surplus'],
    ['down', 'surplus'],
    ['status', 'surplus'],
    ['list', 'surplus'],
    ['session', 'surplus'],
    ['id', 'surplus'],
    ['is-worktree', 'surplus'],
    ['--bogus'],
    ['up', '--bogus'],
    ['up', '-z'],
    ['verify', '--seed'],
    ['up', '--timeout'],
    ['up', '--timeout', 'soon'],
    ['get'],
    ['get', 'socket', 'web'],
    ['get', 'port'],
    ['get', 'port', 'a name'],
    ['get', 'port', 'web', '41010-41000'],
    ['get', 'port', 'web', '70000-70001'],
    ['get', 'port', 'web', '0-10'],
    ['get', 'index', 'redis'],
    ['get', 'index', 'redis', '1-15', '--pool', 'a b'],
    ['get', 'name', '../..'],
    ['get', 'name', ''],
    ['get', 'name', 'db', '--style', 'camel'],
    ['env', 'NOEQ'],
    ['env', '1BAD=x'],
    ['env', '--unset', 'A B'],
    ['exec'],
    ['destroy', 'a', 'b'],
    ['destroy', '--id'],
    ['bootstrap', 'surplus'],
  ]
  it('is one document on a usage error, and nothing is done', async () => {
    const box = makeSandbox()
    box.scripts(noisy())
    const tree = box.worktree('login')
    for (const [at, args] of USAGE.entries()) {
      // The flag counts wherever it stands.
      const all = at % 2 === 0 ? ['--json', ...args] : [...args, '--json']
      const { exit, stdout, stderr } = await box.run(all, { cwd: tree })
      expect([all, exit, stdout.split('\n').length], stderr).toEqual([all, 2, 2])
      expect(errorOf(stdout)).toMatchObject({ code: 'USAGE', message: expect.stringMatching(/\S/) })
      expect(stderr).toMatch(/^penv: /)
      expect(stderr).not.toMatch(/ at .*\.(cjs|ts):\d/)
    }
    expect(box.revisions()).toEqual([])
    expect(existsSync(join(tree, '.env.preview'))).toBe(false)
  }, 120_000)

  it('holds no colour, even where colour is asked for', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const env = { FORCE_COLOR: '3', CLICOLOR_FORCE: '1', COLORTERM: 'truecolor', TERM: 'xterm-256color' }
    for (const args of [['get', 'port', 'web'], ['status'], ['list'], ['verify'], ['nonsense']])
      for (const flags of [['--json'], []])
        expect((await box.run([...args, ...flags], { cwd: tree, env })).stdout).not.toContain('\u001b')
  })
})

describe('stdout without --json', () => {
  it('of id, get and is-worktree is the value and nothing else, also with warnings', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const { stdout, stderr } = await box.run(['get', 'port', 'web', '40000-40100'], { cwd: tree })
    expect(stdout).toMatch(/^40\d{3}\n$/)
    expect(stderr).toMatch(/^penv: [^\n]*\n$/)
    expect((await box.run(['get', 'index', 'redis', '0-3'], { cwd: tree })).stdout).toBe('0\n')
    expect((await box.penv(tree, ['is-worktree'])).stdout).toBe('')
    expect((await box.penv(tree, ['id', '--verbose'])).stdout).toMatch(/^login_\w{6}\n$/)
  })

  it('is empty on every failure, so that a substitution in a script is never a wrong value', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'index', 'redis', '1-1'])
    const other = box.worktree('other')
    for (const [cwd, args] of [
      [other, ['get', 'index', 'redis', '1-1']],
      [other, ['get', 'port', 'web', '9-x']],
      [box.main, ['get', 'port', 'web']],
      [box.main, ['get', 'name', 'db']],
      [tree, ['get', 'index', 'redis', '2-9']],
      [tree, ['env', '1=2']],
    ] as const) {
      const { exit, stdout } = await box.run(args, { cwd })
      expect(exit).not.toBe(0)
      expect(stdout).toBe('')
    }
  })
})

describe('a reader that leaves', () => {
  const PIPES: [pipe: string, exits: number[]][] = [
    ['penv list --json | head -c1', [0, 141]],
    ['penv list | true', [0, 141]],
    ['penv status --json | true', [0, 141]],
    ['penv up --json 2>/dev/null | true', [0, 141]],
    ['penv get port web | true', [0, 141]],
    ['penv --help | head -c1', [0, 141]],
    ['penv get port "a b" --json 2>/dev/null | true', [2, 141]],
    ['penv destroy nothing --json 2>/dev/null | true', [5, 141]],
    ['penv up 2>&1 | true', [0, 141]],
    ['penv list --bogus 2>&1 | true', [2, 141]],
  ]
  it.each(PIPES)('of `%s` leaves no stack trace, and no wrong exit', (pipe, exits) => {
    const box = makeSandbox()
    box.scripts(noisy())
    const tree = box.worktree('login')
    const { stdout, stderr } = spawnSync(
      'bash',
      ['-c', `penv get port web >/dev/null; ${pipe}; echo "exit \${PIPESTATUS[0]}"`],
      { cwd: tree, env: box.env, encoding: 'utf8' },
    )
    expect(stderr).toBe('')
    expect(exits.map(exit => `exit ${exit}\n`)).toContain(stdout.replace(/^[\s\S]*(?=exit \d+\n$)/, ''))
  })

  it('does not stop a run half-way: what up does, it does to the end', () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': `#!/bin/sh\nseq 1 50000\n${say('to the end')}` })
    const tree = box.worktree('login')
    execFileSync('bash', ['-c', 'penv up 2>&1 | head -c1 >/dev/null; true'], {
      cwd: tree,
      env: box.env,
      stdio: 'pipe',
    })
    expect(storyOf(box)).toEqual(['to the end'])
    expect(Object.values(box.ledger().environments)).toMatchObject([{ state: 'ready' }])
  })

  it('that is slow gets all of a long answer', () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const pairs = Array.from({ length: 3000 }, (_, at) => `KEY_${at}=${'v'.repeat(60)}`)
    execFileSync('penv', ['env'], { cwd: tree, env: box.env, input: `${pairs.join('\n')}\n` })
    const out = execFileSync('bash', ['-c', 'penv env --json | (sleep 0.3; cat)'], {
      cwd: tree,
      env: box.env,
      encoding: 'utf8',
    })
    expect(Object.keys(JSON.parse(out))).toHaveLength(3001)
  })

  const FULL = existsSync('/dev/full')
  it.runIf(FULL)('that cannot take the answer makes the call fail, in one line', () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const { stdout, stderr } = spawnSync('sh', ['-c', 'penv get port web > /dev/full; echo "exit $?"'], {
      cwd: tree,
      env: box.env,
      encoding: 'utf8',
    })
    expect(stdout).toMatch(/^exit [1-9]\d*\n$/)
    expect(stderr).toMatch(/^penv: [^\n]*ENOSPC[^\n]*\n$/)
  })
})

describe('a secret', () => {
  it('in .env.preview or the trace of a script is in nothing that penv itself prints or keeps but the file and the log', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh':
        '#!/bin/sh\nset -x\npenv env DATABASE_URL=postgres://u:s3cret@127.0.0.1/d "TOKEN=s3cret"\n',
      'verify.sh': '#!/bin/sh\nexit 3\n',
    })
    box.write(box.main, { '.env': 'DATABASE_URL=postgres://u:s3cret@127.0.0.1/d\n' })
    const tree = box.worktree('login')
    const up = await box.run(['up', '--verbose', '--json'], { cwd: tree })
    expect(up.stdout).not.toContain('s3cret')
    const told: string[] = []
    for (const args of [
      ['status'],
      ['status', '--json'],
      ['session'],
      ['session', '--json'],
      ['list', '--json'],
      ['verify', '--verbose'],
      ['verify', '--json'],
      ['env', 'TOKEN=s3cret', '--json'],
      ['env', 'TOKEN=s3cret\'"$'],
    ]) {
      const { stdout, stderr } = await box.run(args, { cwd: tree })
      told.push(stdout, stderr)
    }
    expect(told.filter(text => text.includes('s3cret'))).toEqual([])
    const holders = filesBelow(box.stateDir).filter(file => readFileSync(file, 'utf8').includes('s3cret'))
    // The mirror of the file and the log of the script, which only the user can read.
    expect(holders.map(file => file.replace(/^.*\/(?=root\/|logs\/)/, '')).sort()).toEqual(
      ['logs/provision-1.log', 'root/.env.preview', 'root/.preview/provision.sh'].sort(),
    )
    for (const file of holders.filter(file => !file.endsWith('.sh')))
      expect(statSync(file).mode & 0o077).toBe(0)
  })
})

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
}

describe('session', () => {
  const TROUBLE: [title: string, trouble: (box: Sandbox, tree: string) => Record<string, string>][] = [
    [
      'a damaged ledger',
      box => {
        box.write(join(box.stateDir, 'ledger'), { '000000000099.json': '{' })
        return {}
      },
    ],
    [
      'a newer ledger',
      box => {
        box.write(join(box.stateDir, 'ledger'), { '000000000099.json': '{"version":99}' })
        return {}
      },
    ],
    ['a relative PENV_HOME', () => ({ PENV_HOME: 'relative' })],
    [
      'a state directory that is a file',
      box => {
        box.write(box.root, { file: '' })
        return { PENV_HOME: join(box.root, 'file') }
      },
    ],
    [
      'a git that fails',
      () => ({ GIT_TEST_ASSUME_DIFFERENT_OWNER: '1', GIT_CEILING_DIRECTORIES: '/nowhere' }),
    ],
    [
      'an .env.preview that is no text',
      (box, tree) => {
        execFileSync('sh', ['-c', 'printf "A=\\377\\n" > .env.preview'], { cwd: tree, env: box.env })
        return {}
      },
    ],
  ]
  it.each(TROUBLE)('never fails, and says one line, with %s', async (_title, trouble) => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\n' })
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'port', 'web'])
    const env = trouble(box, tree)
    const { exit, stdout, stderr } = await box.run(['session'], { cwd: tree, env })
    expect([exit, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(/^penv: [^\n]*\n$/)
  })

  it('is silent where there is nothing to tell', async () => {
    const box = makeSandbox()
    for (const place of [box.main, box.home, box.worktree('plain')])
      expect(await box.run(['session'], { cwd: place })).toMatchObject({ exit: 0, stdout: '', stderr: '' })
  })

  it('tells state, ports and keys, and how to go on after a failure', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh':
        '#!/bin/sh\nset -eu\nport=$(penv get port web)\npenv env "PORT=$port"\n[ ! -e broken ]\n',
    })
    const tree = box.worktree('login')
    expect((await box.penv(tree, ['session'])).stdout).toMatch(/run: penv up/)
    box.write(tree, { broken: '' })
    expect((await box.run(['up'], { cwd: tree })).exit).toBe(8)
    const port = (await box.penv(tree, ['get', 'port', 'web'])).stdout.trim()
    const failed = (await box.penv(tree, ['session'])).stdout
    expect(failed).toMatch(/state is failed[\s\S]*run: penv up/)
    expect(failed).toContain(`web ${port}`)
    execFileSync('rm', [join(tree, 'broken')])
    await box.penv(tree, ['up'], { stderr: 'any' })
    const ready = (await box.penv(tree, ['session'])).stdout
    expect(ready).toMatch(/It is ready/)
    expect(ready).toContain('PORT')
  })
})
