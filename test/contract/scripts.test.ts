import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

<<<<<<< HEAD

import { ended, makeSandbox, waitFor } from '../support/sandbox.ts'

=======

import { codeSpansOf, sectionOf, tableOf } from '../support/markdown.ts'
import { ended, makeSandbox, type Sandbox, waitFor } from '../support/sandbox.ts'

const contract = readFileSync(join(import.meta.dirname, '..', '..', 'contract', 'CONTRACT.md'), 'utf8')
const section = sectionOf(contract, 'Environment of the scripts')
const variables = tableOf(section).map(([name]) => codeSpansOf(name ?? '')[0] as string)

const SPY = '#!/bin/sh\nset -eu\nenv > "$HOME/$(basename "$0" .sh)${1-}.env"\n'

type Seen = Record<string, string>

/** What a script of this name saw in its environment. */
function seenBy(box: Sandbox, script: string): Seen {
  const text = readFileSync(join(box.home, `${script}.env`), 'utf8')
  return Object.fromEntries(
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(match => [match[1] as string, match[2] as string]),
  )
}

const penvOnly = (seen: Seen) => Object.keys(seen).filter(name => name.startsWith('PENV_'))

describe('the environment of scripts', () => {
  it('has exactly the variables of the table, in every script', async () => {
    const box = makeSandbox()
    const names = ['provision', 'seed', 'verify', 'down', 'teardown', 'bootstrap']
    box.scripts(Object.fromEntries(names.map(name => [`${name}.sh`, SPY])))
    const tree = box.worktree('login', 'feat/log-in')
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    for (const command of [['up', '--seed'], ['verify'], ['down']])
      await box.penv(tree, command, { stderr: 'any' })
    box.git(box.main, 'worktree', 'remove', '--force', tree)
    await box.penv(box.main, ['destroy', id], { stderr: 'any' })
    const home = join(box.stateDir, 'envs', id)
    const scripts = ['provision', 'seed', 'verify', 'down', 'teardown', 'bootstrapbuild']
    for (const script of scripts) {
      const seen = seenBy(box, script)
      const isGone = script === 'teardown'
      const root = isGone ? join(home, 'root') : tree
      expect(penvOnly(seen).sort(), script).toEqual([...variables].sort())
      expect(seen, script).toMatchObject({
        PENV_ID: id,
        PENV_ROOT: root,
        PWD: root,
        PENV_DIR: join(root, '.preview'),
        PENV_BRANCH: 'feat/log-in',
        PENV_BIN: join(home, 'bin', 'penv'),
        PENV_SEED: /provision|seed/.test(script) ? '1' : '',
        PENV_NO_MIGRATE: '',
        PENV_MAIN: box.main,
        PENV_GONE: isGone ? '1' : '',
        PENV_DATA: join(home, 'data'),
        PENV_TEMPLATE: /provision|seed|bootstrap/.test(script) ? expect.stringMatching(/^penv_tpl_/) : '',
        PENV_TEMPLATE_FRESH: /provision|seed/.test(script) ? '1' : '',
        PENV_RUN: expect.stringMatching(/^[0-9a-f]+$/),
        PENV_CONTRACT: '1',
      })
      expect(seen.PATH?.split(':').slice(0, 2)).toEqual([
        join(home, 'bin'),
        join(root, 'node_modules', '.bin'),
      ])
      expect(seen.PATH?.endsWith(box.env.PATH as string)).toBe(true)
    }
  })

  it('passes what the caller has, but not git locations, foreign PENV_ variables or values of another environment', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': SPY })
    const [other, tree] = [box.worktree('other'), box.worktree('login')]
    await box.penv(other, ['env', 'DATABASE_URL=postgres://localhost/theirs', 'LEVEL=debug'])
    const otherId = (await box.penv(other, ['id'])).stdout.trim()
    const state = join(box.root, 'elsewhere')
    mkdirSync(state)
    const env = {
      PENV_ID: otherId,
      PENV_ROOT: other,
      PENV_BRANCH: 'other',
      PENV_NONSENSE: '1',
      DATABASE_URL: 'postgres://localhost/theirs',
      LEVEL: 'mine',
      GIT_DIR: box.git(other, 'rev-parse', '--git-dir').trim(),
      GIT_INDEX_FILE: '/nowhere',
      MINE: 'yes',
      PENV_NAMESPACE: 'here',
    }
    expect((await box.run(['up', '--no-migrate'], { cwd: tree, env })).exit).toBe(0)
    const seen = seenBy(box, 'provision')
    expect(seen).toMatchObject({
      MINE: 'yes',
      LEVEL: 'mine',
      PENV_ROOT: tree,
      PENV_NO_MIGRATE: '1',
      PENV_SEED: '',
    })
    for (const name of ['DATABASE_URL', 'GIT_DIR', 'GIT_INDEX_FILE', 'PENV_NONSENSE'])
      expect(seen).not.toHaveProperty(name)
    // The two settings that pass.
    expect(penvOnly(seen).sort()).toEqual([...variables, 'PENV_NAMESPACE'].sort())
    expect(codeSpansOf(section)).toEqual(expect.arrayContaining(['PENV_HOME', 'PENV_NAMESPACE']))
  })

  it('makes the primitives serve this environment wherever the script has gone', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh':
        '#!/bin/sh\nset -eu\ncd "$PENV_MAIN"\npenv is-worktree\npenv id > "$HOME/id"\npenv get port web > "$HOME/port"\npenv env A=1\npenv exec -- sh -c \'echo "$A"\' > "$HOME/exec"\npenv status --json > "$HOME/status"\n',
    })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const read = (name: string) => readFileSync(join(box.home, name), 'utf8').trim()
    expect(read('id')).toBe((await box.penv(tree, ['id'])).stdout.trim())
    expect(read('port')).toBe((await box.penv(tree, ['get', 'port', 'web'])).stdout.trim())
    expect(read('exec')).toBe('1')
    expect(JSON.parse(read('status'))).toMatchObject({ root: tree, run: { command: 'up' } })
    expect(existsSync(join(box.main, '.env.preview'))).toBe(false)
  })

  it('refuses at once a command that would wait for the run that called it', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh':
        '#!/bin/sh\nfor command in up verify down destroy bootstrap; do penv $command --json > "$HOME/$command.json"; echo "$?" > "$HOME/$command.exit"; done\n',
      'bootstrap.sh': '#!/bin/sh\n',
    })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    for (const command of ['up', 'verify', 'down', 'destroy', 'bootstrap']) {
      expect(readFileSync(join(box.home, `${command}.exit`), 'utf8'), command).toBe('11\n')
      expect(JSON.parse(readFileSync(join(box.home, `${command}.json`), 'utf8')), command).toMatchObject({
        error: { code: 'BUSY' },
      })
    }
  })
})
>>>>>>> tests-lifecycle

describe('every script', () => {
  it('has the worktree as its directory, an empty stdin, and a log; nothing of it reaches stdout', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\npwd\ncat\necho err >&2\n' })
    const tree = box.worktree('login')
    mkdirSync(join(tree, 'sub'))
    const result = await box.run(['up', '--json'], { cwd: join(tree, 'sub'), input: 'not for the script' })
    expect(result.exit).toBe(0)
    const { id } = result.json() as { id: string }
    expect(readFileSync(join(box.stateDir, 'envs', id, 'logs', 'provision-1.log'), 'utf8')).toBe(
      `${tree}\nerr\n`,
    )
    expect(result.stderr).toContain(`${tree}\nerr\n`)
    expect(result.stdout.trim().split('\n')).toHaveLength(1)
    expect((await box.run(['up', '--quiet'], { cwd: tree })).stderr).toBe('')
  })

  it.each([
    ['without a shebang by /bin/sh', 'echo sh-"$0" > "$HOME/ran"\n', /^sh-/],
    [
      'by the interpreter that it names',
      '#!/usr/bin/env node\nrequire("fs").writeFileSync(process.env.HOME + "/ran", "node")\n',
      /^node$/,
    ],
    [
      'by one with an argument',
      `#!${process.execPath} --no-warnings\nrequire("fs").writeFileSync(process.env.HOME + "/ran", process.execArgv[0])\n`,
      /^--no-warnings$/,
    ],
  ])('runs %s, with or without the executable bit', async (_title, text, expected) => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': text })
    const tree = box.worktree('login')
    for (const mode of [0o644, 0o755]) {
      chmodSync(join(tree, '.preview', 'provision.sh'), mode)
      await box.penv(tree, ['up'], { stderr: 'any' })
      expect(readFileSync(join(box.home, 'ran'), 'utf8').trim()).toMatch(expected)
    }
  })

  it('with CRLF line ends is refused before anything runs', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\ntouch "$HOME/ran"\n', 'seed.sh': '#!/bin/sh\r\ntrue\r\n' })
    const tree = box.worktree('login')
    const result = await box.run(['up', '--seed', '--json'], { cwd: tree })
    expect(result).toMatchObject({ exit: 8, stdout: expect.stringContaining('SCRIPT_UNUSABLE') })
    expect(existsSync(join(box.home, 'ran'))).toBe(false)
  })

  it('is finished when it exits, whatever it left in the background', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\nsleep 300 &\necho $! > "$HOME/pid"\n' })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const pid = Number(readFileSync(join(box.home, 'pid'), 'utf8'))
    expect(() => process.kill(pid, 0)).not.toThrow()
    process.kill(pid, 'SIGKILL')
  })

  it.each([
    ['provision.sh', ['up'], 'PROVISION_FAILED', 8, 'failed'],
    ['seed.sh', ['up', '--seed'], 'SEED_FAILED', 8, 'failed'],
    ['verify.sh', ['verify'], 'VERIFY_FAILED', 1, 'ready'],
    ['down.sh', ['down'], 'DOWN_FAILED', 8, 'ready'],
    ['teardown.sh', ['destroy'], 'TEARDOWN_FAILED', 8, 'teardown-failed'],
    ['bootstrap.sh', ['bootstrap'], 'BOOTSTRAP_FAILED', 8, 'ready'],
  ])(
    '%s that fails has the code, exit and state of the contract',
    async (script, args, code, exit, state) => {
      const box = makeSandbox()
      box.scripts({
        'provision.sh': '#!/bin/sh\npenv env "PORT=$(penv get port web)"\n',
        [script]: '#!/bin/sh\npenv get port web\nexit 7\n',
      })
      const tree = box.worktree('login')
      if (args[0] !== 'up') await box.penv(tree, ['up'], { stderr: 'any' })
      const result = await box.run([...args, '--json'], { cwd: tree })
      const { error } = result.json() as { error: { code: string; details: Record<string, unknown> } }
      expect({ exit: result.exit, code: error.code }).toEqual({ exit, code })
      expect(error.details).toMatchObject({ script, exitCode: 7, signal: null, timedOut: false })
      expect(existsSync(error.details.log as string)).toBe(true)
      const status = (await box.penv(tree, ['status', '--json'])).json() as { state: string; ports: object }
      expect(status).toMatchObject({ state, ports: { web: expect.any(Number) } })
    },
  )

  it('keeps the newest five of its logs', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\n' })
    const tree = box.worktree('login')
    for (let run = 0; run < 7; run++) await box.penv(tree, ['up'], { stderr: 'any' })
    const { logs } = (await box.penv(tree, ['status', '--json'])).json() as { logs: string }
    expect(readdirSync(logs).sort()).toEqual([3, 4, 5, 6, 7].map(number => `provision-${number}.log`))
  })

  it('that takes longer than --timeout has failed, and so has one that a signal ends', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\ntouch "$HOME/started"\nsleep 300\n' })
    const tree = box.worktree('login')
    const late = await box.run(['up', '--timeout', '0.3', '--json'], { cwd: tree })
    expect(late).toMatchObject({ exit: 8, stdout: expect.stringContaining('"timedOut":true') })
    for (const [signal, exit] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
      ['SIGHUP', 129],
    ] as const) {
      const before = box.revisions().length
      const child = box.start(['up', '--json'], { cwd: tree })
      const result = ended(child)
      await waitFor(
        () => box.revisions().length > before && existsSync(join(box.stateDir, 'envs')),
        'the run',
      )
      await waitFor(
        () =>
          readdirSync(join(box.stateDir, 'envs')).some(id =>
            existsSync(join(box.stateDir, 'envs', id, 'script.pid')),
          ),
        'the script',
      )
      child.kill(signal)
      expect(await result).toMatchObject({ exit, stdout: expect.stringContaining('INTERRUPTED') })
    }
    expect((await box.penv(tree, ['status', '--json'])).json()).toMatchObject({ state: 'failed' })
  })
})
