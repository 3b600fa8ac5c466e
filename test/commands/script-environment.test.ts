// What lifecycle scripts find in their environment: the whole table of the contract, and nothing of another environment.

import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { say, statusOf, storyOf } from '../support/lifecycle.ts'
import { makeSandbox, PROGRAM, type Sandbox } from '../support/sandbox.ts'

// Every script writes the environment that it sees to a file of its name.
const DUMP = '#!/bin/sh\nenv -0 > "$HOME/$(basename "$0").env"\n'
const NAMES = ['provision', 'seed', 'verify', 'down', 'teardown', 'bootstrap']
const DUMPS = Object.fromEntries(NAMES.map(name => [`${name}.sh`, DUMP]))

function seenBy(box: Sandbox, script: string): Record<string, string> {
  const text = readFileSync(join(box.home, `${script}.sh.env`), 'utf8')
  return Object.fromEntries(
    text
      .split('\0')
      .filter(Boolean)
      .map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
}

const penvOf = (env: Record<string, string>) =>
  Object.fromEntries(Object.entries(env).filter(([key]) => key.startsWith('PENV_')))

describe('the environment of a script', () => {
  it('has every variable of the contract and no other PENV_*, in every script', async () => {
    const box = makeSandbox()
    box.scripts(DUMPS)
    const tree = box.worktree('login', 'feat/login')
    await box.penv(tree, ['up', '--seed'], { stderr: 'any' })
    const { id } = await statusOf(box, tree)
    for (const command of ['verify', 'down', 'destroy']) await box.penv(tree, [command], { stderr: 'any' })
    const state = join(box.stateDir, 'envs', id)
    for (const name of NAMES) {
      const seen = seenBy(box, name)
      const isUp = ['provision', 'seed'].includes(name)
      expect([name, penvOf(seen)]).toEqual([
        name,
        {
          PENV_ID: id,
          PENV_ROOT: tree,
          PENV_DIR: join(tree, '.preview'),
          PENV_BRANCH: 'feat/login',
          PENV_BIN: join(state, 'bin', 'penv'),
          PENV_SEED: isUp ? '1' : '',
          PENV_NO_MIGRATE: '',
          PENV_MAIN: box.main,
          PENV_GONE: '',
          PENV_DATA: join(state, 'data'),
          PENV_ADAPTERS: realpathSync(join(PROGRAM, '..', '..', 'contract', 'adapters')),
          PENV_TEMPLATE: isUp || name === 'bootstrap' ? expect.stringMatching(/^penv_tpl_/) : '',
          PENV_TEMPLATE_FRESH: isUp ? '1' : '',
          PENV_RUN: expect.stringMatching(/^[0-9a-f]{24}$/),
          PENV_CONTRACT: '1',
        },
      ])
      expect(seen.PWD).toBe(tree)
      expect(seen.PATH?.split(':').slice(0, 2)).toEqual([
        join(state, 'bin'),
        join(tree, 'node_modules', '.bin'),
      ])
      expect(seen.HOME).toBe(box.home)
    }
    // One run is one token: the scripts of one up share it, another command has another.
    expect(seenBy(box, 'seed').PENV_RUN).toBe(seenBy(box, 'provision').PENV_RUN)
    expect(new Set(NAMES.map(name => seenBy(box, name).PENV_RUN)).size).toBe(4)
  })

  it('says --no-migrate, and that nothing is to be cloned then', async () => {
    const box = makeSandbox()
    box.scripts(DUMPS)
    await box.penv(box.worktree('login'), ['up', '--no-migrate'], { stderr: 'any' })
    expect(penvOf(seenBy(box, 'provision'))).toMatchObject({
      PENV_NO_MIGRATE: '1',
      PENV_SEED: '',
      PENV_TEMPLATE: '',
      PENV_TEMPLATE_FRESH: '',
    })
    expect(existsSync(join(box.home, 'bootstrap.sh.env'))).toBe(false)
  })

  it('has data, scripts and root that exist and are the environment’s own', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\nset -eu\n: > "$PENV_DATA/file"\n[ -f "$PENV_DIR/provision.sh" ]\n[ -d "$PENV_ROOT" ]\n[ -x "$PENV_BIN" ]\n`,
    })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const { id } = await statusOf(box, tree)
    expect(statSync(join(box.stateDir, 'envs', id, 'data')).mode & 0o777).toBe(0o700)
    expect(existsSync(join(box.stateDir, 'envs', id, 'data', 'file'))).toBe(true)
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(existsSync(join(box.stateDir, 'envs', id))).toBe(false)
  })

  it('follows the branch, and is empty when it is detached', async () => {
    const box = makeSandbox()
    box.scripts(DUMPS)
    const tree = box.worktree('login', 'a')
    for (const [change, branch] of [
      [['branch', '-m', 'x$(touch${IFS}pwned)'], 'x$(touch${IFS}pwned)'],
      [['switch', '--quiet', '-c', `q'";\`&`], `q'";\`&`],
      [['checkout', '--quiet', '--detach'], ''],
    ] as const) {
      box.git(tree, ...change)
      await box.penv(tree, ['up'], { stderr: 'any' })
      expect(seenBy(box, 'provision').PENV_BRANCH).toBe(branch)
      await box.penv(tree, ['status'])
      await box.penv(tree, ['list'])
    }
    expect(existsSync(join(tree, 'pwned'))).toBe(false)
  })

  it('has the snapshot in place of a worktree that is gone', async () => {
    const box = makeSandbox()
    box.scripts(DUMPS)
    const tree = box.worktree('login', 'feat/login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const { id } = await statusOf(box, tree)
    rmSync(tree, { recursive: true })
    const root = join(box.stateDir, 'envs', id, 'root')
    await box.penv(box.main, ['destroy', id], { stderr: 'any' })
    expect(seenBy(box, 'teardown')).toMatchObject({
      PENV_ID: id,
      PENV_ROOT: root,
      PENV_DIR: join(root, '.preview'),
      PENV_GONE: '1',
      PENV_MAIN: box.main,
      PENV_BRANCH: 'feat/login',
      PWD: root,
    })
  })

  it('is the caller’s otherwise, odd values included', async () => {
    const box = makeSandbox()
    box.scripts(DUMPS)
    const env = { PLAIN: '1', ODD: ` a=b "c" 'd' $e \n\ttwo lines`, EMPTY: '', PENV_NAMESPACE: 'host1' }
    await box.run(['up'], { cwd: box.worktree('login'), env })
    expect(seenBy(box, 'provision')).toMatchObject(env)
  })
})

describe('what is inherited from elsewhere', () => {
  it('does not decide which environment is meant: the directory does', async () => {
    const box = makeSandbox()
    box.scripts(DUMPS)
    const [a, b] = [box.worktree('aa'), box.worktree('bb')]
    await box.penv(a, ['up'], { stderr: 'any' })
    const idA = (await box.penv(a, ['id'])).stdout.trim()
    const env = {
      PENV_ID: idA,
      PENV_ROOT: a,
      PENV_DIR: join(a, '.preview'),
      PENV_RUN: 'abc',
      PENV_GONE: '1',
      PENV_DATA: '/tmp',
      PENV_MADE_UP: '1',
    }
    const idB = (await box.run(['id'], { cwd: b, env })).stdout.trim()
    expect(idB).toMatch(/^bb_/)
    await box.run(['env', 'A=1'], { cwd: b, env })
    expect(readFileSync(join(b, '.env.preview'), 'utf8')).toBe(`PENV_ID=${idB}\nA=1\n`)
    await box.run(['up'], { cwd: b, env })
    const seen = penvOf(seenBy(box, 'provision'))
    expect(seen).toMatchObject({ PENV_ID: idB, PENV_ROOT: b, PENV_GONE: '' })
    expect(seen).not.toHaveProperty('PENV_MADE_UP')
    expect((await box.run(['id'], { cwd: box.main, env })).stdout).toBe('')
    expect((await box.run(['is-worktree'], { cwd: box.main, env })).exit).toBe(1)
  })

  it('does not pass as ours: variables of another worktree’s .env.preview that the shell has sourced', async () => {
    const box = makeSandbox()
    box.scripts({
      ...DUMPS,
      'provision.sh': `${DUMP}penv env "DATABASE_URL=postgres://127.0.0.1/$(penv get name db)" "PORT=$(penv get port web)" SHARED=1 "PATH_LIKE=$PENV_ID"\n`,
    })
    const [a, b] = [box.worktree('aa'), box.worktree('bb')]
    await box.penv(a, ['up'], { stderr: 'any' })
    execFileSync('sh', ['-c', 'set -a; . ./.env.preview; set +a; cd ../bb && KEPT=yes penv up'], {
      cwd: a,
      env: box.env,
      stdio: 'pipe',
    })
    const seen = seenBy(box, 'provision')
    expect(seen).toMatchObject({ KEPT: 'yes', PENV_ID: expect.stringMatching(/^bb_/) })
    for (const key of ['DATABASE_URL', 'PORT', 'SHARED', 'PATH_LIKE']) expect(seen).not.toHaveProperty(key)
    // Our own, sourced before, stay.
    execFileSync('sh', ['-c', 'set -a; . ./.env.preview; set +a; penv up'], {
      cwd: b,
      env: box.env,
      stdio: 'pipe',
    })
    expect(seenBy(box, 'provision')).toMatchObject({
      SHARED: '1',
      DATABASE_URL: expect.stringContaining('bb_'),
    })
  })
})

describe('penv inside a script', () => {
  const ELSEWHERE: [title: string, go: string][] = [
    ['in a folder of the worktree', 'cd .preview'],
    ['in a repository of its own', 'git init --quiet "$HOME/own" && cd "$HOME/own"'],
    ['in the main checkout', 'cd "$PENV_MAIN"'],
    ['in another worktree', 'cd "$PENV_ROOT/../bb"'],
    ['outside of any repository', 'cd /'],
    ['in a directory that is gone', 'mkdir "$HOME/gone" && cd "$HOME/gone" && rmdir "$HOME/gone"'],
  ]
  it.each(ELSEWHERE)('serves the environment of the run: %s', async (_title, go) => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\nset -eu\n${go}\nport=$(penv get port web)\npenv env "PORT=$port"\npenv is-worktree\n${say('$(penv id) $(penv get name db) $port $(penv env | grep -c PORT=)')}`,
    })
    box.worktree('bb')
    const tree = box.worktree('aa')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const { id, ports } = await statusOf(box, tree)
    expect(storyOf(box)).toEqual([`${id} db_${id} ${ports.web} 1`])
    expect(readFileSync(join(tree, '.env.preview'), 'utf8')).toBe(`PENV_ID=${id}\nPORT=${ports.web}\n`)
    expect(existsSync(join(box.main, '.env.preview'))).toBe(false)
    expect(Object.keys(box.ledger().environments)).toEqual([id])
  })

  it('serves the directory again once the run is over: a server that up left behind', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\nprintf %s "$PENV_RUN" > "$HOME/token"\n' })
    const [a, b] = [box.worktree('aa'), box.worktree('bb')]
    await box.penv(a, ['up'], { stderr: 'any' })
    const env = { PENV_RUN: readFileSync(join(box.home, 'token'), 'utf8') }
    expect((await box.run(['id'], { cwd: b, env })).stdout).toMatch(/^bb_/)
  })

  it('is this very penv, whatever node_modules/.bin and PATH hold', async () => {
    const box = makeSandbox()
    const impostor = '#!/bin/sh\necho impostor\nexit 9\n'
    box.scripts({
      'provision.sh': `#!/bin/sh\nset -eu\n${say('$(penv id) $("$PENV_BIN" id) $(command -v penv) $(tool)')}`,
    })
    const tree = box.worktree('login')
    mkdirSync(join(tree, 'node_modules', '.bin'), { recursive: true })
    for (const name of ['penv', 'tool'])
      writeFileSync(
        join(tree, 'node_modules', '.bin', name),
        name === 'penv' ? impostor : '#!/bin/sh\necho local-tool\n',
        { mode: 0o755 },
      )
    writeFileSync(join(box.root, 'bin', 'penv'), impostor, { mode: 0o755 })
    await box.run(['up'], { cwd: tree })
    const { id } = await statusOf(box, tree)
    expect(storyOf(box)).toEqual([`${id} ${id} ${join(box.stateDir, 'envs', id, 'bin', 'penv')} local-tool`])
  })

  it('is found although it was called through a symlink, and PATH has none', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': `#!/bin/sh\nset -eu\nid=$(penv id)\n${say('$id')}` })
    const tree = box.worktree('login')
    symlinkSync(PROGRAM, join(box.root, 'penv-link'))
    execFileSync(process.execPath, [join(box.root, 'penv-link'), 'up'], {
      cwd: tree,
      env: { ...box.env, PATH: '/usr/bin:/bin' },
      stdio: 'pipe',
    })
    expect(storyOf(box)).toHaveLength(1)
  })

  it('finds the adapters of the repository over the shipped ones', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': `#!/bin/sh\n${say('$(cat "$PENV_ADAPTERS/sqlite.sh") $(ls "$PENV_ADAPTERS" | grep -c postgres)')}`,
      'adapters/sqlite.sh': 'ours',
    })
    await box.penv(box.worktree('login'), ['up'], { stderr: 'any' })
    expect(storyOf(box)).toEqual(['ours 1'])
  })
})
