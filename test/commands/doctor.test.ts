// `penv doctor` as a command: where it acts, how it ends, and that it only looks. What it says of the state directory,
// of scripts, of wiring and of hostile repositories is held beside this file; what it finds, in test/core.

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { diagnose, failuresOf, follow, GOOD_SCRIPTS, readDiagnosis } from '../support/doctor.ts'
import { look } from '../support/look.ts'
import { makeSandbox, PROGRAM, type Sandbox } from '../support/sandbox.ts'

describe('penv doctor', () => {
  const PLACES: [title: string, make: (box: Sandbox) => string, place: string | null][] = [
    ['on the main checkout', box => box.main, 'main'],
    ['in a worktree with a space in its path', box => box.worktree('log in'), 'worktree'],
    [
      'below a worktree',
      box => {
        const below = join(box.worktree('login'), 'src', 'deep')
        mkdirSync(below, { recursive: true })
        return below
      },
      'worktree',
    ],
    [
      'on a detached HEAD',
      box => {
        box.git(box.main, 'worktree', 'add', '--quiet', '--detach', join(box.root, 'loose'))
        return join(box.root, 'loose')
      },
      'worktree',
    ],
    [
      'in a repository without a commit',
      box => {
        box.git(box.root, 'init', '--quiet', 'fresh')
        return join(box.root, 'fresh')
      },
      'main',
    ],
    [
      'in a submodule',
      box => {
        box.git(box.root, 'init', '--quiet', 'lib')
        box.git(join(box.root, 'lib'), 'commit', '--quiet', '--allow-empty', '-m', 'start')
        box.git(
          box.main,
          '-c',
          'protocol.file.allow=always',
          'submodule',
          '--quiet',
          'add',
          join(box.root, 'lib'),
        )
        return join(box.main, 'lib')
      },
      'main',
    ],
    [
      'in a bare repository',
      box => {
        box.git(box.root, 'init', '--quiet', '--bare', 'bare')
        return join(box.root, 'bare')
      },
      'outside',
    ],
    ['outside of a repository', box => box.root, 'outside'],
  ]
  it.each(PLACES)('acts %s', async (_, make, place) => {
    const box = makeSandbox()
    const diagnosis = await diagnose(box, make(box))
    expect(diagnosis).toMatchObject({ place, ok: true })
    expect(diagnosis.stack === null).toBe(place === 'outside')
  })

  it('only looks', async () => {
    const box = makeSandbox()
    box.write(box.main, {
      'AGENTS.md': '# Agents\n',
      'compose.yaml': 'services:\n  db: {image: "postgres:16"}\n',
    })
    box.scripts(GOOD_SCRIPTS)
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    // git would write its index anew here, had it not been told otherwise.
    writeFileSync(join(tree, 'AGENTS.md'), '# Agents\n')
    const before = look(box.root)
    for (const cwd of [tree, box.main, box.root])
      for (const args of [['doctor'], ['doctor', '-v'], ['doctor', '--json']]) await box.run(args, { cwd })
    expect(look(box.root)).toEqual(before)
  })

  it('makes no state directory', async () => {
    const box = makeSandbox()
    await diagnose(box, box.main)
    expect(existsSync(box.stateDir)).toBe(false)
  })

  it.each([
    ['git fails', '#!/bin/sh\necho "fatal: out of luck" >&2\nexit 128\n', 'out of luck'],
    ['git answers nonsense', '#!/bin/sh\necho nonsense\n', 'git'],
    ['there is no git', undefined, 'no git on PATH'],
  ])('goes on where %s, and says so', async (_, program, words) => {
    const box = makeSandbox()
    const bin = join(box.root, 'broken')
    mkdirSync(bin)
    if (program !== undefined) writeFileSync(join(bin, 'git'), program, { mode: 0o755 })
    const PATH = program === undefined ? bin : `${bin}:${box.env.PATH}`
    const diagnosis = await diagnose(box, box.main, { env: { PATH } })
    expect(diagnosis).toMatchObject({ place: null, stack: null })
    expect(failuresOf(diagnosis)).toMatchObject([{ area: 'git', code: 'GIT_FAILED' }])
    expect(failuresOf(diagnosis)[0]?.message).toContain(words)
    expect(diagnosis.findings.some(({ area }) => area === 'state')).toBe(true)
  })

  it('goes on in a folder that git no longer knows', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    execFileSync('rm', ['-rf', join(box.main, '.git', 'worktrees')])
    const [failure] = failuresOf(await diagnose(box, tree))
    expect(failure).toMatchObject({ area: 'git', run: 'penv list' })
  })

  it('goes on in a directory that is gone', () => {
    const box = makeSandbox()
    const gone = join(box.root, 'gone')
    mkdirSync(gone)
    const { status, stdout } = spawnSync(
      'sh',
      ['-c', `rmdir "$PWD" && exec "$0" "$@"`, process.execPath, PROGRAM, 'doctor', '--json'],
      { cwd: gone, env: box.env, encoding: 'utf8' },
    )
    expect(failuresOf(readDiagnosis({ exit: status ?? -1, stdout }))).toMatchObject([{ area: 'git' }])
  })

  it('fails in a folder that is a copy of a worktree, and where the marker is broken', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'port', 'web'])
    const copy = join(box.root, 'copy')
    cpSync(tree, copy, { recursive: true })
    expect(failuresOf(await diagnose(box, copy))).toMatchObject([
      { area: 'environment', code: 'COPIED_WORKTREE' },
    ])
    rmSync(copy, { recursive: true })
    writeFileSync(join(box.main, '.git', 'worktrees', 'login', 'penv'), 'x')
    expect(failuresOf(await diagnose(box, tree))).toMatchObject([{ area: 'environment' }])
  })

  it('gives commands that work from a directory below the root', async () => {
    const box = makeSandbox()
    box.write(box.main, { '.env.preview': 'A=1\n', 'src/deep/x': '' })
    box.scripts(GOOD_SCRIPTS)
    const below = join(box.main, 'src', 'deep')
    const [failure] = failuresOf(await diagnose(box, below))
    follow(box, failure, below)
    expect((await diagnose(box, below)).ok).toBe(true)
  })

  it.each<[string, string[]]>([
    ['an argument', ['postgres']],
    ['an unknown option', ['--fix']],
    ['an option of init', ['--dry-run']],
  ])('refuses %s as usage', async (_, args) => {
    const box = makeSandbox()
    const result = await box.run(['doctor', ...args])
    expect({ exit: result.exit, stdout: result.stdout }).toEqual({ exit: 2, stdout: '' })
    expect(result.stderr).toMatch(/^penv: /)
  })

  it('ends quietly when its reader has left', () => {
    const box = makeSandbox()
    box.write(box.main, { '.preview/provision.sh': '# QUESTION: which?\n'.repeat(20_000) })
    const { stderr } = spawnSync(
      'sh',
      ['-c', '"$0" "$@" | head -c 1', process.execPath, PROGRAM, 'doctor', '--json'],
      {
        cwd: box.main,
        env: box.env,
        encoding: 'utf8',
      },
    )
    expect(stderr).toBe('')
  })

  it('is not led elsewhere by the variables of a git hook', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const env = { GIT_DIR: join(box.main, '.git'), GIT_WORK_TREE: box.main }
    expect((await diagnose(box, tree, { env })).place).toBe('worktree')
  })

  it('shows no value of an env file, and no password', async () => {
    const box = makeSandbox()
    chmodSync(box.main, 0o755)
    box.write(box.main, {
      '.env': 'DATABASE_URL=postgres://app:hunter2@db.example/shop\nAPI_TOKEN=hunter2\n',
      '.env.example': 'DATABASE_URL=postgres://app:hunter2@localhost/shop\nSECRET=hunter2\n',
      'compose.yaml':
        'services:\n  db:\n    image: postgres:16\n    environment: {POSTGRES_PASSWORD: hunter2}\n    command: --password hunter2\n',
    })
    for (const args of [
      ['doctor', '-v'],
      ['doctor', '--json'],
    ])
      expect((await box.run(args)).stdout).not.toContain('hunter2')
  })
})
