// Who a worktree is: the six rows of the identity table, and every place that git can name.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorOf, say, statusOf, storyOf } from '../support/lifecycle.ts'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'

const SCRIPTS = {
  'provision.sh':
    '#!/bin/sh\nset -eu\nport=$(penv get port web)\nname=$(penv get name db)\npenv env "PORT=$port" "DATABASE=$name"\n',
  'teardown.sh': `#!/bin/sh\n${say('torn down $PENV_ID at $PENV_ROOT')}`,
}

interface Held {
  id: string
  port: string
  name: string
}

async function holdingsOf(box: Sandbox, cwd: string): Promise<Held> {
  const [id, port, name] = [
    await box.penv(cwd, ['id']),
    await box.penv(cwd, ['get', 'port', 'web']),
    await box.penv(cwd, ['get', 'name', 'db']),
  ].map(({ stdout }) => stdout.trim()) as [string, string, string]
  return { id, port, name }
}

const envsOf = async (box: Sandbox) =>
  (
    (await box.penv(box.home, ['list', '--json'])).json() as {
      envs: { id: string; root: string; present: boolean; branch: string }[]
    }
  ).envs

describe('a worktree keeps id, ports and names', () => {
  const MOVES: [title: string, move: (box: Sandbox, tree: string) => string][] = [
    [
      'moved by git worktree move',
      (box, tree) => {
        box.git(box.main, 'worktree', 'move', tree, join(box.root, 'wt2'))
        return join(box.root, 'wt2')
      },
    ],
    [
      'moved by hand',
      (box, tree) => {
        renameSync(tree, join(box.root, 'wt2'))
        return join(box.root, 'wt2')
      },
    ],
    [
      'moved by hand and repaired',
      (box, tree) => {
        renameSync(tree, join(box.root, 'wt2'))
        box.git(join(box.root, 'wt2'), 'worktree', 'repair')
        return join(box.root, 'wt2')
      },
    ],
    [
      'moved with the whole repository, and repaired',
      (box, tree) => {
        mkdirSync(join(box.root, 'away'))
        renameSync(box.main, join(box.root, 'away', 'shop'))
        renameSync(tree, join(box.root, 'away', 'login'))
        box.git(join(box.root, 'away', 'shop'), 'worktree', 'repair', join(box.root, 'away', 'login'))
        return join(box.root, 'away', 'login')
      },
    ],
    [
      'on a renamed branch',
      (box, tree) => {
        box.git(tree, 'branch', '-m', 'feat/new')
        return tree
      },
    ],
    [
      'on another branch',
      (box, tree) => {
        box.git(tree, 'switch', '--quiet', '-c', 'other')
        return tree
      },
    ],
    [
      'with its branch detached',
      (box, tree) => {
        box.git(tree, 'checkout', '--quiet', '--detach')
        return tree
      },
    ],
    [
      'in the middle of a rebase',
      (box, tree) => {
        box.git(tree, 'commit', '--quiet', '--allow-empty', '-m', 'one')
        try {
          box.git(tree, '-c', 'sequence.editor=sed -i.bak s/^pick/break\\\\npick/', 'rebase', '-i', 'HEAD~1')
        } catch {}
        expect(existsSync(join(box.git(tree, 'rev-parse', '--git-dir').trim(), 'rebase-merge'))).toBe(true)
        return tree
      },
    ],
  ]
  it.each(MOVES)('when it is %s', async (_title, move) => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const before = await holdingsOf(box, tree)
    const place = move(box, tree)
    expect((await box.penv(place, ['id'])).stdout.trim()).toBe(before.id)
    expect(await holdingsOf(box, place)).toEqual(before)
    expect(await envsOf(box)).toMatchObject([{ id: before.id, root: place, present: true }])
    const status = (await box.penv(place, ['status', '--json'])).json() as {
      branch: string
      commit: string
      orphans: string[]
    }
    expect(status.branch).toBe(readBranch(box, place))
    expect(status.commit === '').toBe(status.branch !== '')
    expect(status.orphans).toEqual([])
    await box.penv(place, ['verify'], { stderr: 'any' })
    await box.penv(place, ['destroy'], { stderr: 'any' })
    expect(storyOf(box)).toEqual([`torn down ${before.id} at ${place}`])
    expect(box.ledger().environments).toEqual({})
  })

  it('when it was moved before anything but its id was asked for', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'port', 'web'])
    const id = (await box.penv(tree, ['id'])).stdout
    renameSync(tree, join(box.root, 'wt2'))
    for (const args of [['id'], ['status'], ['session'], ['is-worktree']])
      await box.penv(join(box.root, 'wt2'), args)
    expect((await box.penv(join(box.root, 'wt2'), ['id'])).stdout).toBe(id)
  })

  it('when the ledger is lost: the marker names the same id', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    const before = await holdingsOf(box, tree)
    rmSync(box.stateDir, { recursive: true })
    expect(await holdingsOf(box, tree)).toMatchObject({ id: before.id, name: before.name })
    expect(await envsOf(box)).toMatchObject([{ id: before.id, root: tree }])
  })

  it('under another PENV_HOME, which has a record of its own', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const { id } = await holdingsOf(box, tree)
    const env = { PENV_HOME: join(box.root, 'elsewhere') }
    expect((await box.run(['get', 'name', 'db'], { cwd: tree, env })).stdout).toBe(`db_${id}\n`)
    expect(existsSync(join(box.root, 'elsewhere', 'ledger'))).toBe(true)
    await box.run(['destroy'], { cwd: tree, env })
    expect(await envsOf(box)).toMatchObject([{ id }])
  })
})

describe('a worktree gets an id of its own', () => {
  it('when it is made again at the path of one that is gone', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login', 'a')
    const old = await holdingsOf(box, tree)
    box.git(box.main, 'worktree', 'remove', '--force', tree)
    box.worktree('login', 'b')
    const fresh = await holdingsOf(box, tree)
    expect(fresh.id).not.toBe(old.id)
    expect(fresh.port).not.toBe(old.port)
    expect(fresh.name).not.toBe(old.name)
    expect((await envsOf(box)).map(({ id, present }) => [id, present])).toEqual([
      [old.id, false],
      [fresh.id, true],
    ])
  })

  it('when its name or branch reads like another one’s', async () => {
    const box = makeSandbox()
    const names: [directory: string, branch: string][] = [
      ['feat-x', 'feat-x'],
      ['feat_x', 'feat_x'],
      ['feat.x', 'feat.x'],
      ['FEAT.X', 'FEAT.X'],
      ['feat x', 'feat/x2'],
      ['d/feat-x', 'featx'],
      ['Логин', 'логин'],
      ['ログイン', 'ログイン'],
      ['🚀', '🚀'],
      ['🦀', '🦀'],
      ['-rf', 'dash'],
      ['--help', 'dashes'],
      ['1st', 'first'],
      ['it\'s "my" $(touch pwned) tree', 'x$(touch${IFS}pwned)'],
      [`${'long-'.repeat(40)}one`, `${'long-'.repeat(30)}one`],
      [`${'long-'.repeat(40)}two`, `${'long-'.repeat(30)}two`],
    ]
    const held: Held[] = []
    for (const [directory, branch] of names) held.push(await holdingsOf(box, box.worktree(directory, branch)))
    for (const key of ['id', 'port', 'name'] as const)
      expect(new Set(held.map(each => each[key])).size).toBe(names.length)
    for (const { id, name } of held) {
      expect(id).toMatch(/^[a-z][a-z0-9_]{2,26}$/)
      expect(name).toMatch(/^[a-z][a-z0-9_]{0,49}$/)
    }
    expect((await envsOf(box)).map(({ root }) => basename(root)).sort()).toEqual(
      names.map(([directory]) => basename(directory)).sort(),
    )
    expect(existsSync(join(box.root, 'pwned'))).toBe(false)
  })

  it('when its HEAD is detached like that of another', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': `#!/bin/sh\n${say('$PENV_ID branch=${PENV_BRANCH-unset}')}` })
    const ids: string[] = []
    for (const name of ['d1', 'd2']) {
      box.git(box.main, 'worktree', 'add', '--quiet', '--detach', join(box.root, name))
      await box.penv(join(box.root, name), ['up'], { stderr: 'any' })
      ids.push((await box.penv(join(box.root, name), ['id'])).stdout.trim())
    }
    expect(new Set(ids).size).toBe(2)
    expect(storyOf(box)).toEqual(ids.map(id => `${id} branch=`))
    const sha = box.git(box.main, 'rev-parse', 'HEAD').slice(0, 8)
    expect((await box.penv(join(box.root, 'd1'), ['status'])).stdout).toContain(`detached at ${sha}`)
  })
})

describe('a copied folder', () => {
  it('is refused by everything that would share the environment, and harms it in no way', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const before = box.revisions()
    const copy = join(box.root, 'copy')
    cpSync(tree, copy, { recursive: true })
    for (const args of [
      ['up'],
      ['verify'],
      ['down'],
      ['destroy'],
      ['destroy', '--worktree', '--force'],
      ['get', 'port', 'web'],
      ['env', 'A=1'],
      ['status'],
      ['id'],
      ['exec', 'true'],
      ['bootstrap'],
    ]) {
      const result = await box.run([...args, ...(args[0] === 'exec' ? [] : ['--json'])], { cwd: copy })
      expect([args, result.exit]).toEqual([args, args[0] === 'exec' ? 125 : 3])
      if (args[0] !== 'exec')
        expect(errorOf(result.stdout)).toMatchObject({ code: 'COPIED_WORKTREE', details: { root: tree } })
    }
    expect(box.revisions()).toEqual(before)
    expect(storyOf(box)).toEqual([])
    await box.penv(tree, ['verify'], { stderr: 'any' })
  })

  it('takes the place of the original once that is gone', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    const before = await holdingsOf(box, tree)
    cpSync(tree, join(box.root, 'copy'), { recursive: true })
    rmSync(tree, { recursive: true })
    expect(await holdingsOf(box, join(box.root, 'copy'))).toEqual(before)
  })

  it('with a git directory of its own gets an environment of its own by the command that the message names', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    const { id } = await holdingsOf(box, tree)
    const other = box.worktree('other')
    cpSync(
      join(box.git(tree, 'rev-parse', '--git-dir').trim(), 'penv'),
      join(box.git(other, 'rev-parse', '--git-dir').trim(), 'penv'),
    )
    const refused = await box.run(['id', '--json'], { cwd: other })
    const { code, hint } = errorOf(refused.stdout)
    expect(code).toBe('COPIED_WORKTREE')
    const { execSync } = await import('node:child_process')
    execSync((hint ?? '').replace(/^.*run: /, ''))
    expect((await holdingsOf(box, other)).id).not.toBe(id)
  })
})

describe('the same place by another name', () => {
  it('is one environment through symlinks, with a wrong PWD, and from below', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    mkdirSync(join(tree, 'sub', 'dir'), { recursive: true })
    symlinkSync(tree, join(box.root, 'l'))
    symlinkSync(join(tree, 'sub', 'dir'), join(box.home, 'deep'))
    const held = await holdingsOf(box, tree)
    for (const place of [
      join(box.root, 'l'),
      join(box.root, 'l', 'sub'),
      join(tree, 'sub', 'dir'),
      join(box.home, 'deep'),
    ]) {
      expect(await holdingsOf(box, place)).toEqual(held)
      const { stdout } = await box.run(['id'], { cwd: tree, env: { PWD: place } })
      expect(stdout.trim()).toBe(held.id)
    }
    expect(await envsOf(box)).toMatchObject([{ root: tree }])
  })

  it('is one environment when the worktree was added through a symlink', async () => {
    const box = makeSandbox()
    mkdirSync(join(box.root, 'real'))
    symlinkSync(join(box.root, 'real'), join(box.root, 'link'))
    box.git(box.main, 'worktree', 'add', '--quiet', join(box.root, 'link', 'w'))
    const held = await holdingsOf(box, join(box.root, 'link', 'w'))
    expect(await holdingsOf(box, join(box.root, 'real', 'w'))).toEqual(held)
    expect(await envsOf(box)).toMatchObject([{ root: join(box.root, 'real', 'w'), present: true }])
  })

  it('is known to git by relative links as well', async () => {
    const box = makeSandbox()
    const tree = box.worktree('rw')
    const gitDir = box.git(tree, 'rev-parse', '--git-dir').trim()
    // What git 2.48 writes with worktree.useRelativePaths.
    writeFileSync(join(tree, '.git'), 'gitdir: ../shop/.git/worktrees/rw\n')
    writeFileSync(join(gitDir, 'gitdir'), '../../../../rw/.git\n')
    const held = await holdingsOf(box, tree)
    expect(await holdingsOf(box, tree)).toEqual(held)
    expect(await envsOf(box)).toMatchObject([{ id: held.id, root: tree, present: true }])
    await box.penv(tree, ['destroy'])
    expect(await envsOf(box)).toEqual([])
  })

  it('is an error of git, with git’s words, where this git does not know the repository’s format', async () => {
    const box = makeSandbox()
    const tree = box.worktree('rw')
    box.git(tree, 'config', 'core.repositoryformatversion', '1')
    box.git(tree, 'config', 'extensions.fromthefuture', 'true')
    for (const args of [['id'], ['is-worktree'], ['get', 'port', 'web'], ['up']]) {
      const { exit, stderr, stdout } = await box.run(args, { cwd: tree })
      expect([exit, stdout]).toEqual([4, ''])
      expect(stderr).toMatch(/unknown repository extension/)
    }
  })
})

describe('nested places', () => {
  it('belong to the nearest worktree, never to what is around it', async () => {
    const box = makeSandbox()
    const outer = box.worktree('outer')
    box.git(outer, 'worktree', 'add', '--quiet', '-b', 'inner', join(outer, '.worktrees', 'inner'))
    box.git(box.main, 'worktree', 'add', '--quiet', '-b', 'n', join(box.main, '.worktrees', 'n'))
    const n = join(box.main, '.worktrees', 'n')
    mkdirSync(join(n, 'sub', 'dir'), { recursive: true })
    const ids = []
    for (const place of [outer, join(outer, '.worktrees', 'inner'), join(n, 'sub', 'dir')]) {
      await box.penv(place, ['env', 'X=1'])
      ids.push((await box.penv(place, ['id'])).stdout.trim())
    }
    expect(new Set(ids).size).toBe(3)
    expect(readFileSync(join(n, '.env.preview'), 'utf8')).toContain(`PENV_ID=${ids[2]}`)
    expect(existsSync(join(box.main, '.env.preview'))).toBe(false)
    // A repository of its own inside is no part of the worktree, recorded or not.
    for (const around of [n, outer]) {
      const vendor = join(around, 'vendor', 'x')
      mkdirSync(vendor, { recursive: true })
      box.git(vendor, 'init', '--quiet')
      await box.penv(vendor, ['is-worktree'], { exit: 1 })
      expect((await box.penv(vendor, ['id'])).stdout).toBe('')
      await box.penv(vendor, ['get', 'port', 'web'], { exit: 3, stderr: /main checkout/ })
      // A bare one neither.
      const bare = join(around, 'bare.git')
      box.git(around, 'init', '--quiet', '--bare', bare)
      await box.penv(bare, ['is-worktree'], { exit: 1 })
      expect((await box.penv(bare, ['id'])).stdout).toBe('')
    }
  })

  it('belong, in a submodule, to the worktree of its superproject', async () => {
    const box = makeSandbox()
    const lib = join(box.root, 'lib-origin')
    mkdirSync(lib)
    box.git(lib, 'init', '--quiet')
    box.git(lib, 'commit', '--quiet', '--allow-empty', '-m', 'lib')
    box.git(box.main, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', lib, 'lib')
    box.git(box.main, 'commit', '--quiet', '-m', 'lib')
    box.scripts({
      'provision.sh': `#!/bin/sh\nset -eu\ncd lib\nport=$(penv get port web)\npenv env "PORT=$port"\n${say('$port $(penv id) $(penv status --json | grep -c provisioning)')}`,
    })
    const tree = box.worktree('login')
    box.git(tree, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init')
    // In the main checkout: no environment.
    await box.penv(join(box.main, 'lib'), ['is-worktree'], { exit: 1 })
    expect((await box.penv(join(box.main, 'lib'), ['id'])).stdout).toBe('')
    await box.penv(join(box.main, 'lib'), ['up'], { stderr: /nothing to do: this is the main checkout/ })
    // In the linked worktree: that one's, before and after it has a record.
    const id = (await box.penv(tree, ['id'])).stdout
    expect((await box.penv(join(tree, 'lib'), ['id'])).stdout).toBe(id)
    await box.penv(join(tree, 'lib'), ['is-worktree'])
    await box.penv(join(tree, 'lib'), ['up'], { stderr: 'any' })
    const port = (await box.penv(tree, ['get', 'port', 'web'])).stdout.trim()
    expect(storyOf(box)).toEqual([`${port} ${id.trim()} 1`])
    expect((await box.penv(join(tree, 'lib'), ['get', 'port', 'web'])).stdout.trim()).toBe(port)
    expect(existsSync(join(tree, 'lib', '.env.preview'))).toBe(false)
    expect(readFileSync(join(tree, '.env.preview'), 'utf8')).toContain(`PORT=${port}`)
    // A linked worktree of the submodule itself is one like any other.
    box.git(join(box.main, 'lib'), 'worktree', 'add', '--quiet', '-b', 'w', join(box.root, 'libw'))
    await box.penv(join(box.root, 'libw'), ['is-worktree'])
    expect((await box.penv(join(box.root, 'libw'), ['id'])).stdout).toMatch(/^libw_/)
  })
})

describe('a bare repository with worktrees', () => {
  const LAYOUTS: [title: string, make: (box: Sandbox) => string][] = [
    [
      'beside them, behind a .git file',
      box => {
        const p = join(box.root, 'p')
        box.git(box.root, 'clone', '--quiet', '--bare', box.main, join(p, '.bare'))
        writeFileSync(join(p, '.git'), 'gitdir: ./.bare\n')
        return p
      },
    ],
    [
      'called .git',
      box => {
        const p = join(box.root, 'p')
        box.git(box.root, 'clone', '--quiet', '--bare', box.main, join(p, '.git'))
        return p
      },
    ],
    [
      'called p.git',
      box => {
        const p = join(box.root, 'p.git')
        box.git(box.root, 'clone', '--quiet', '--bare', box.main, p)
        return p
      },
    ],
  ]
  it.each(LAYOUTS)(
    '%s: each of them is linked, and nothing is assumed to be the main checkout',
    async (_title, make) => {
      const box = makeSandbox()
      box.scripts({
        'provision.sh': `#!/bin/sh\nset -eu\npenv get port web >/dev/null\n${say('main=[$PENV_MAIN] $PENV_BRANCH')}`,
      })
      const p = make(box)
      const trees = ['main', 'feat'].map(name => {
        box.git(
          p,
          'worktree',
          'add',
          '--quiet',
          ...(name === 'main' ? [] : ['-b', name]),
          join(box.root, 'w', name),
          ...(name === 'main' ? ['main'] : []),
        )
        return join(box.root, 'w', name)
      })
      await box.penv(p, ['is-worktree'], { exit: 1 })
      expect((await box.penv(p, ['id'])).stdout).toBe('')
      expect(await box.run(['up'], { cwd: p })).toMatchObject({
        exit: 0,
        stdout: '',
        stderr: expect.stringMatching(/^penv: nothing to do: [^\n]*\n$/),
      })
      for (const tree of trees) {
        await box.penv(tree, ['is-worktree'])
        await box.penv(tree, ['up'], { stderr: 'any' })
        await box.penv(tree, ['verify'], { stderr: 'any' })
      }
      expect(storyOf(box)).toEqual(['main=[] main', 'main=[] feat'])
      expect((await envsOf(box)).map(({ root }) => root)).toEqual(trees)
      for (const tree of trees) await box.penv(tree, ['destroy', '--worktree'], { stderr: 'any' })
      expect(await envsOf(box)).toEqual([])
      expect(trees.map(tree => existsSync(tree))).toEqual([false, false])
    },
  )
})

describe('the marker', () => {
  it('that is broken is named, and never taken for none', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const port = (await box.penv(tree, ['get', 'port', 'web'])).stdout
    const marker = join(box.git(tree, 'rev-parse', '--git-dir').trim(), 'penv')
    const text = readFileSync(marker, 'utf8')
    for (const broken of ['', '{', '[]', 'null', '{"id":"../../x","nonce":"a"}', '{"id":"login_abc123"}']) {
      writeFileSync(marker, broken)
      for (const args of [['id'], ['get', 'port', 'web'], ['up']]) {
        const { exit, stdout, stderr } = await box.run(args, { cwd: tree })
        expect([args, exit, stdout]).toEqual([args, 7, ''])
        expect(stderr).toContain(marker)
      }
    }
    writeFileSync(marker, text)
    expect((await box.penv(tree, ['get', 'port', 'web'])).stdout).toBe(port)
  })

  it('without a record, because a kill fell between the two, names the id of the next command', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    const marker = join(box.git(tree, 'rev-parse', '--git-dir').trim(), 'penv')
    writeFileSync(marker, `${JSON.stringify({ id, nonce: 'abcdef' })}\n`)
    await box.penv(tree, ['get', 'port', 'web'])
    expect(box.ledger().environments[id]).toMatchObject({ nonce: 'abcdef' })
  })

  it('whose id another environment holds meanwhile gives way to it', async () => {
    const box = makeSandbox()
    const [a, b] = [box.worktree('aa'), box.worktree('bb')]
    const idA = (await box.penv(a, ['id'])).stdout.trim()
    await box.penv(a, ['get', 'port', 'web'])
    writeFileSync(
      join(box.git(b, 'rev-parse', '--git-dir').trim(), 'penv'),
      `${JSON.stringify({ id: idA, nonce: 'abcdef' })}\n`,
    )
    const heldB = await holdingsOf(box, b)
    expect(heldB.id).not.toBe(idA)
    expect((await holdingsOf(box, a)).id).toBe(idA)
    expect((await statusOf(box, b)).ports.web).not.toBe((await statusOf(box, a)).ports.web)
  })

  it('that is removed by hand makes the worktree a new one; the old environment stays until destroyed', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const old = await holdingsOf(box, tree)
    unlinkSync(join(box.git(tree, 'rev-parse', '--git-dir').trim(), 'penv'))
    const fresh = await holdingsOf(box, tree)
    expect(fresh.id).not.toBe(old.id)
    expect(await envsOf(box)).toHaveLength(2)
    await box.penv(tree, ['up'], { stderr: /started afresh/ })
    await box.penv(tree, ['destroy', old.id], { stderr: 'any' })
    expect(await envsOf(box)).toMatchObject([{ id: fresh.id }])
    await box.penv(tree, ['verify'], { stderr: 'any' })
  })
})

function readBranch(box: Sandbox, tree: string): string {
  try {
    return box.git(tree, 'symbolic-ref', '--quiet', '--short', 'HEAD').trim()
  } catch {
    return ''
  }
}
