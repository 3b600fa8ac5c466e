// `penv up` and the contract of lifecycle scripts: how they are started, what they get, when they are finished.

import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorOf, isAlive, pidOf, say, statusOf, storyOf } from '../support/lifecycle.ts'
import { ended, makeSandbox, PROGRAM, type Sandbox } from '../support/sandbox.ts'

const OK = '#!/bin/sh\n'

describe('how a script is started', () => {
  const INTERPRETERS: [title: string, text: string][] = [
    ['no shebang is /bin/sh', `${say('ran')}`],
    ['an empty file succeeds', ''],
    [
      'bash, with what only bash knows',
      `#!/usr/bin/env bash\nset -euo pipefail\na=(1 2)\n[[ \${#a[@]} = 2 ]]\n`,
    ],
    ['bash with an option', `#!/bin/bash -eu\n[[ $- = *u* ]]\n`],
    ['a space behind the #!', `#! /bin/bash\n[[ 1 = 1 ]]\n`],
    ['one argument with a space, as the kernel passes it', `#!/usr/bin/env -S bash -eu\n[[ $- = *u* ]]\n`],
    ['another language', `#!/usr/bin/env node\nif (process.argv.length !== 2) process.exit(4)\n`],
    ['no line end behind the last line', `#!/bin/sh\nexit 0`],
  ]
  for (const mode of [0o644, 0o755])
    it.each(INTERPRETERS)(`with mode ${mode.toString(8)}: %s`, async (_title, text) => {
      const box = makeSandbox()
      const tree = box.worktree('login')
      box.write(tree, { '.preview/provision.sh': text })
      chmodSync(join(tree, '.preview', 'provision.sh'), mode)
      await box.penv(tree, ['up'], { stderr: 'any' })
    })

  it.each<[string, (directory: string) => void]>([
    ['a link to itself', directory => symlinkSync('self', join(directory, 'self'))],
    ['a link to its own directory', directory => symlinkSync('.', join(directory, 'here'))],
    [
      'a link to a directory above',
      directory => {
        mkdirSync(join(directory, 'deep'))
        symlinkSync('../..', join(directory, 'deep', 'up'))
      },
    ],
    ['a link that leads nowhere', directory => symlinkSync('nowhere', join(directory, 'gone'))],
    ['a pipe', directory => void execFileSync('mkfifo', [join(directory, 'pipe')])],
    ['a large file', directory => writeFileSync(join(directory, 'dump.sql'), Buffer.alloc(50_000_000))],
  ])('runs scripts that lie beside %s, and tears down after the worktree is gone', async (_, add) => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    box.write(tree, {
      '.preview/provision.sh': '#!/bin/sh\n',
      '.preview/teardown.sh': `#!/bin/sh\n. "$PENV_DIR/lib/words.sh"\n${say('$word')}`,
      'shared/words.sh': 'word=gone\n',
    })
    symlinkSync('../shared', join(tree, '.preview', 'lib'))
    add(join(tree, '.preview'))
    await box.penv(tree, ['up'], { stderr: 'any' })
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    rmSync(tree, { recursive: true })
    await box.penv(box.main, ['destroy', id], { stderr: 'any' })
    expect(storyOf(box)).toEqual(['gone'])
  })

  it('keeps no copy of the worktree for a link to it', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    box.write(tree, { '.preview/provision.sh': '#!/bin/sh\n', 'app/server.js': '' })
    symlinkSync('..', join(tree, '.preview', 'tree'))
    symlinkSync('../app', join(tree, '.preview', 'app'))
    await box.penv(tree, ['up'], { stderr: 'any' })
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    const kept = join(box.stateDir, 'envs', id, 'root', '.preview')
    expect(readdirSync(kept, { recursive: true }).sort()).toEqual(['app', 'app/server.js', 'provision.sh'])
  })

  it('runs every script without the executable bit', async () => {
    const box = makeSandbox()
    const names = ['provision', 'seed', 'verify', 'down', 'teardown', 'bootstrap']
    const tree = box.worktree('login')
    for (const name of names) {
      box.write(tree, { [`.preview/${name}.sh`]: `#!/bin/sh\n${say(`${name} $*`)}` })
      chmodSync(join(tree, '.preview', `${name}.sh`), 0o644)
    }
    const { stderr } = await box.penv(tree, ['up', '--seed'], { stderr: 'any' })
    expect(stderr.split('\n').filter(line => line.includes('run bit'))).toEqual([
      `penv: without a run bit, and run all the same: ${names.map(name => `.preview/${name}.sh`).join(' ')}; to set it, run: chmod +x .preview/*.sh`,
    ])
    for (const args of [['verify'], ['down'], ['destroy']]) await box.penv(tree, args, { stderr: 'any' })
    expect(storyOf(box).map(line => line.trim())).toEqual([
      'bootstrap build',
      'provision',
      'seed',
      'verify',
      'down',
      'teardown',
    ])
  })

  it('fails by name when the interpreter does not exist', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    box.write(tree, { '.preview/provision.sh': '#!/no/such/interpreter\n' })
    const { exit, stdout, stderr } = await box.run(['up', '--json'], { cwd: tree })
    expect(exit).toBe(8)
    expect(errorOf(stdout)).toMatchObject({ code: 'PROVISION_FAILED', details: { exitCode: 127 } })
    expect(stderr).toContain('/no/such/interpreter')
  })

  const CRLF: [script: string, command: string[]][] = [
    ['provision', ['up']],
    ['seed', ['up', '--seed']],
    ['verify', ['verify']],
    ['down', ['down']],
    ['teardown', ['destroy']],
    ['bootstrap', ['bootstrap']],
  ]
  it.each(CRLF)('refuses CRLF in %s.sh by name before anything runs', async (name, command) => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': OK })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    box.write(tree, {
      '.preview/provision.sh': `#!/bin/sh\n${say('provisioned')}`,
      [`.preview/${name}.sh`]: `#!/bin/sh\r\n${say('ran').replace('\n', '\r\n')}`,
    })
    const { exit, stdout } = await box.run([...command, '--json'], { cwd: tree })
    expect(exit).toBe(8)
    const error = errorOf(stdout)
    expect(error).toMatchObject({ code: 'SCRIPT_UNUSABLE' })
    expect(error.details.script).toBe(join(tree, '.preview', `${name}.sh`))
    expect(storyOf(box)).toEqual([])
  })

  const UNREADABLE: [title: string, text: string, words: RegExp][] = [
    ['a byte order mark', `\uFEFF#!/usr/bin/env bash\n${say('ran')}`, /byte order mark/],
    ['a carriage return in its shebang', `#!/bin/sh\r${say('ran')}`, /CRLF/],
    ['CRLF in one line only', `#!/bin/sh\n${say('ran')}:\r\n`, /CRLF/],
  ]
  it.each(UNREADABLE)('refuses a script with %s by name', async (_title, text, words) => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    box.write(tree, { '.preview/provision.sh': text })
    const { exit, stdout } = await box.run(['up', '--json'], { cwd: tree })
    expect(exit).toBe(8)
    expect(errorOf(stdout)).toMatchObject({ code: 'SCRIPT_UNUSABLE', message: expect.stringMatching(words) })
    expect(storyOf(box)).toEqual([])
  })

  it.each(['ignore', 'pipe'] as const)(
    'answers a question at once with nothing, when stdin of penv is: %s',
    async stdin => {
      const box = makeSandbox()
      box.scripts({
        'provision.sh': `#!/bin/sh\nread -r answer || ${say('no answer').trim()}\n[ -z "\${answer:-}" ]\n`,
      })
      const child = spawn(process.execPath, [PROGRAM, 'up', '--json'], {
        cwd: box.worktree('login'),
        env: box.env,
        // The pipe is never written to and never closed before penv has ended.
        stdio: [stdin, 'pipe', 'pipe'],
      })
      expect((await ended(child)).exit).toBe(0)
      expect(storyOf(box)).toEqual(['no answer'])
    },
  )

  it('stands in the worktree, wherever penv was called', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': `#!/bin/sh\n${say('$(pwd -P)')}` })
    const tree = box.worktree('login')
    mkdirSync(join(tree, 'a', 'b'), { recursive: true })
    await box.penv(join(tree, 'a', 'b'), ['up'], { stderr: 'any' })
    expect(storyOf(box)).toEqual([tree])
  })

  it('never runs anywhere else when its directory has gone while it waited', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\n${say('provision $(pwd -P)')}`,
      'verify.sh': `#!/bin/sh\n${say('verify $$')}while [ ! -e "$HOME/on" ]; do sleep 0.02; done\n`,
    })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const verifying = ended(box.start(['verify'], { cwd: tree }))
    await pidOf(box, 'verify')
    const waiting = box.start(['up', '--json'], { cwd: tree })
    const waited = ended(waiting)
    await new Promise(done => waiting.stderr?.once('data', done))
    rmSync(tree, { recursive: true, force: true })
    box.write(box.home, { on: '' })
    await verifying
    const { exit, stdout } = await waited
    expect(exit).not.toBe(0)
    const { code, message } = errorOf(stdout)
    expect(['GIT_FAILED', 'SCRIPT_UNUSABLE']).toContain(code)
    expect(message).toContain(tree)
    expect(message).not.toContain('no git on PATH')
    expect(storyOf(box).filter(line => line.startsWith('provision'))).toEqual([`provision ${tree}`])
  })
})

describe('when a script is finished', () => {
  const BACKGROUND = `#!/bin/sh\nsleep 60 &\n${say('sleeper $!')}echo done\n`

  it.each([[['up']], [['up', '--json']]])(
    'penv %j ends when the script exits, and what it left in the background lives on',
    async args => {
      const box = makeSandbox()
      box.scripts({ 'provision.sh': BACKGROUND })
      const tree = box.worktree('login')
      expect((await ended(box.start(args, { cwd: tree }))).exit).toBe(0)
      const sleeper = await pidOf(box, 'sleeper')
      expect(isAlive(sleeper)).toBe(true)
      await box.penv(tree, ['verify'], { stderr: 'any' })
      expect(isAlive(sleeper)).toBe(true)
    },
  )

  it('does not hold a pipe behind penv open: up | cat ends too', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': BACKGROUND })
    const tree = box.worktree('login')
    const out = execFileSync('sh', ['-c', 'penv up 2>&1 | cat'], {
      cwd: tree,
      env: box.env,
      encoding: 'utf8',
      timeout: 20_000,
    })
    expect(out).toContain('is ready')
    expect(isAlive(await pidOf(box, 'sleeper'))).toBe(true)
  })

  it('shows all of its output on stderr, and keeps it in the log', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': `#!/bin/sh\nseq 1 20000\nprintf 'to stderr' >&2\nprintf 'no line end'\n` })
    const tree = box.worktree('login')
    const { stdout, stderr } = await box.penv(tree, ['up', '--json'], { stderr: 'any' })
    expect(stdout.trim().split('\n')).toHaveLength(1)
    const said = `${Array.from({ length: 20_000 }, (_, at) => at + 1).join('\n')}\nto stderrno line end`
    expect(stderr.includes(said)).toBe(true)
    expect(readFileSync(logsOf(box, tree)[0] as string, 'utf8') === said).toBe(true)
  })

  const ENDS: [title: string, script: string, details: Record<string, unknown>][] = [
    ['exits 1', 'exit 1', { exitCode: 1, signal: null }],
    ['exits 255', 'exit 255', { exitCode: 255, signal: null }],
    ['is killed by KILL', 'kill -KILL $$', { exitCode: null, signal: 'SIGKILL' }],
    ['is killed by TERM', 'kill -TERM $$', { exitCode: null, signal: 'SIGTERM' }],
    ['is killed by a crash', 'kill -SEGV $$', { exitCode: null, signal: 'SIGSEGV' }],
    ['fails in set -e', 'set -e; false; exit 0', { exitCode: 1, signal: null }],
  ]
  it.each(ENDS)('fails when it %s: exit 8, and how it ended', async (_title, script, details) => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': `#!/bin/sh\npenv get port web >/dev/null\n${script}\n` })
    const tree = box.worktree('login')
    const result = await box.run(['up', '--json'], { cwd: tree })
    expect(result.exit).toBe(8)
    expect(errorOf(result.stdout)).toMatchObject({ code: 'PROVISION_FAILED', details })
    expect(await statusOf(box, tree)).toMatchObject({ state: 'failed', ports: { web: expect.any(Number) } })
  })
})

describe('what up leaves', () => {
  it('runs seed.sh only with --seed, behind provision.sh, and fails as SEED_FAILED', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\n${say('provision seed=$PENV_SEED')}`,
      'seed.sh': `#!/bin/sh\n${say('seed seed=$PENV_SEED')}exit 5\n`,
    })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    expect(storyOf(box)).toEqual(['provision seed='])
    const result = await box.run(['up', '--seed', '--json'], { cwd: tree })
    expect(result.exit).toBe(8)
    expect(errorOf(result.stdout)).toMatchObject({ code: 'SEED_FAILED', details: { exitCode: 5 } })
    expect(storyOf(box).slice(1)).toEqual(['provision seed=1', 'seed seed=1'])
  })

  it('keeps the newest five logs of each script, 0600 in a directory 0700', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\necho "run $(cat n)"\n' })
    const tree = box.worktree('login')
    for (let run = 1; run <= 7; run++) {
      box.write(tree, { n: `${run}` })
      await box.penv(tree, ['up'], { stderr: 'any' })
    }
    const logs = logsOf(box, tree)
    expect(logs.map(file => readFileSync(file, 'utf8')).sort()).toEqual(
      [3, 4, 5, 6, 7].map(run => `run ${run}\n`),
    )
    for (const file of logs) expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('keeps everything of the state directory to its owner, whatever the umask', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\npenv env A=1\npenv get port web >/dev/null\n' })
    const tree = box.worktree('login')
    execFileSync('sh', ['-c', 'umask 000; penv up'], { cwd: tree, env: box.env, stdio: 'pipe' })
    expect(statSync(join(tree, '.env.preview')).mode & 0o777).toBe(0o600)
    const names = ['', ...readdirSync(box.stateDir, { recursive: true, encoding: 'utf8' })]
    // Below the closed snapshot the scripts keep their own modes.
    const open = names.filter(
      name => !name.includes('/root/') && (statSync(join(box.stateDir, name)).mode & 0o077) !== 0,
    )
    expect(open).toEqual([])
  })

  it('takes no slot and leaves no trace where the branch has no scripts', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const result = await box.run(['up', '--json'], { cwd: tree })
    expect(result.exit).toBe(5)
    expect(errorOf(result.stdout)).toMatchObject({ code: 'NO_SCRIPTS' })
    expect(box.ledger().environments).toEqual({})
    expect(existsSync(join(tree, '.env.preview'))).toBe(false)
    expect((await box.penv(tree, ['session'])).stdout).toBe('')
    expect((await box.penv(tree, ['destroy'], { stderr: /nothing to/ })).stdout).toBe('')
    expect((await box.run(['verify'], { cwd: tree })).exit).toBe(1)
  })

  it('has the record before the first script, so that destroy knows every value of a script that died', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\nset -eu\n${say('$(penv status --json | grep -c provisioning) $(cat .env.preview)')}name=$(penv get name db)\n${say('$name')}kill -KILL $$\n`,
      'teardown.sh': `#!/bin/sh\n${say('dropped $(penv get name db)')}`,
    })
    const tree = box.worktree('login')
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    expect((await box.run(['up'], { cwd: tree })).exit).toBe(8)
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(storyOf(box)).toEqual([`1 PENV_ID=${id}`, `db_${id}`, `dropped db_${id}`])
  })

  it('leaves .env.preview with nothing but its stamp when provision.sh fails at once', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\nexit 1\n' })
    box.write(box.main, { '.env': 'DATABASE_URL=postgres://localhost/shop\n' })
    const tree = box.worktree('login')
    expect((await box.run(['up'], { cwd: tree })).exit).toBe(8)
    expect(readFileSync(join(tree, '.env.preview'), 'utf8')).toMatch(/^PENV_ID=login_\w{6}\n$/)
  })

  it('keeps what the last run left in .env.preview for teardown, also of a run that failed', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': '#!/bin/sh\necho "QUEUE=$PENV_ID-jobs" >> .env.preview\nexit 1\n',
      'teardown.sh': `#!/bin/sh\n. "$PENV_ROOT/.env.preview"\n${say('dropped $QUEUE')}`,
    })
    const tree = box.worktree('login')
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    expect((await box.run(['up'], { cwd: tree })).exit).toBe(8)
    rmSync(tree, { recursive: true })
    await box.penv(box.main, ['destroy', id], { stderr: 'any' })
    expect(storyOf(box)).toEqual([`dropped ${id}-jobs`])
  })
})

function logsOf(box: Sandbox, tree: string): string[] {
  const record = Object.values(box.ledger().environments).find(({ root }) => root === tree)
  const directory = join(box.stateDir, 'envs', String(record?.id), 'logs')
  expect(statSync(directory).mode & 0o777).toBe(0o700)
  return readdirSync(directory).map(name => join(directory, name))
}
