import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeSpansOf, sectionOf, tableOf } from '../support/markdown.ts'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'

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
