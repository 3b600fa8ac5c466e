// Where git says a directory lies, with real repositories in every layout that git knows.

import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  askGit,
  findGitDirOf,
  findMainCheckout,
  findRootOfGitDir,
  GIT_LOCATION_VARIABLES,
  locatePlace,
  readBranch,
  readDetachedCommit,
  scrubGitVariables,
} from '../../src/host/git.ts'
import { makeSandbox } from '../support/sandbox.ts'

const gitFailure = (message: RegExp) =>
  expect.objectContaining({ code: 'GIT_FAILED', exit: 4, message: expect.stringMatching(message) })

describe("git's location variables", () => {
  it('are those that the installed git names, but for the pairs of configuration', () => {
    const named = execFileSync('git', ['rev-parse', '--local-env-vars'], { encoding: 'utf8' })
      .trim()
      .split('\n')
    const unknown = named.filter(name => !(GIT_LOCATION_VARIABLES as readonly string[]).includes(name))
    expect(unknown).toEqual(['GIT_CONFIG_COUNT'])
  })

  it('are taken out, and nothing else', () => {
    const located = Object.fromEntries(GIT_LOCATION_VARIABLES.map(name => [name, '/elsewhere']))
    const kept = {
      HOME: '/home/u',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_CONFIG_GLOBAL: '/home/u/.gitconfig',
      GIT_AUTHOR_NAME: 'u',
      GIT_SSH_COMMAND: 'ssh',
    }
    const env: Record<string, string> = { ...located, ...kept }
    expect(scrubGitVariables(env)).toEqual(kept)
    expect(env.GIT_DIR).toBe('/elsewhere')
  })
})

describe('git itself', () => {
  it('answers in English whatever the locale, with its status', () => {
    const box = makeSandbox()
    const answer = askGit(['rev-parse', '--verify', 'nothing'], box.main, { ...box.env, LANG: 'de_DE.UTF-8' })
    expect(answer).toMatchObject({ status: 128, stdout: '' })
    expect(answer.stderr).toMatch(/^fatal: Needed a single revision/)
  })

  it('that is missing is a failure of git', () => {
    const box = makeSandbox()
    expect(() => locatePlace(box.main, { ...box.env, PATH: join(box.root, 'nothing') })).toThrow(
      gitFailure(/no git on PATH/),
    )
  })

  it.each([
    [1, ''],
    [128, 'fatal: something unheard of'],
    [139, 'Segmentation fault'],
  ])('that ends with %i and %j is a failure of git, never the main checkout', (status, text) => {
    const box = makeSandbox()
    box.write(box.root, { 'odd/git': `#!/bin/sh\necho '${text}' >&2\nexit ${status}\n` })
    execFileSync('chmod', ['755', join(box.root, 'odd/git')])
    expect(() => locatePlace(box.main, { ...box.env, PATH: `${box.root}/odd:/usr/bin:/bin` })).toThrow(
      gitFailure(/./),
    )
  })
})

describe('the place of a directory', () => {
  it('is the main checkout, from any directory of it', () => {
    const box = makeSandbox()
    mkdirSync(join(box.main, 'a/b'), { recursive: true })
    const place = { kind: 'main', root: box.main, commonDir: join(box.main, '.git') }
    for (const cwd of [box.main, join(box.main, 'a/b')]) expect(locatePlace(cwd, box.env)).toEqual(place)
  })

  it.each([
    'login',
    'my tree',
    'it\'s "quoted"',
    '-rf',
    '--help',
    'ветка',
    '日本語',
    '🦊',
    '$(id)',
    'a;b',
    'tail ',
    '*',
    'a\\b',
    '.hidden',
  ])('is a linked worktree called %j, from any directory of it', name => {
    const box = makeSandbox()
    const root = box.worktree(name, 'b')
    mkdirSync(join(root, 'sub dir'))
    const place = {
      kind: 'worktree',
      root,
      gitDir: findGitDirOf(root),
      commonDir: join(box.main, '.git'),
    }
    for (const cwd of [root, join(root, 'sub dir')]) expect(locatePlace(cwd, box.env)).toEqual(place)
    expect(findRootOfGitDir(place.gitDir as string)).toBe(root)
  })

  it('has one spelling, by whatever links it is reached', () => {
    const box = makeSandbox()
    const root = box.worktree('login')
    mkdirSync(join(root, 'sub'))
    symlinkSync(root, join(box.root, 'link'))
    symlinkSync(join(root, 'sub'), join(box.root, 'deep'))
    const place = locatePlace(root, box.env)
    for (const cwd of ['link', 'link/sub', 'deep'].map(path => join(box.root, path)))
      expect(locatePlace(cwd, { ...box.env, PWD: cwd })).toEqual(place)
  })

  it.each(GIT_LOCATION_VARIABLES.filter(name => !/CONFIG|INTERNAL|SHALLOW|GRAFT/.test(name)))(
    'is not changed by a %s that a hook leaves behind',
    name => {
      const box = makeSandbox()
      const root = box.worktree('login')
      const env = { ...box.env, [name]: join(box.main, '.git') }
      expect(locatePlace(root, env)).toEqual(locatePlace(root, box.env))
    },
  )

  it('is outside where there is no repository, and in a bare one', () => {
    const box = makeSandbox()
    box.git(box.root, 'init', '--quiet', '--bare', 'bare.git')
    expect(locatePlace(box.home, box.env)).toMatchObject({ kind: 'outside' })
    expect(locatePlace(join(box.root, 'bare.git'), box.env)).toMatchObject({ kind: 'outside' })
    expect(locatePlace(join(box.main, '.git'), box.env)).toMatchObject({ kind: 'outside' })
  })

  it('is linked for every worktree of a bare repository, and outside beside them', () => {
    const box = makeSandbox()
    const project = join(box.root, 'p')
    box.git(box.root, 'clone', '--quiet', '--bare', box.main, join(project, '.bare'))
    writeFileSync(join(project, '.git'), 'gitdir: ./.bare\n')
    box.git(project, 'worktree', 'add', '--quiet', 'main')
    box.git(project, 'worktree', 'add', '--quiet', '-b', 'feat', 'feat')
    for (const name of ['main', 'feat'])
      expect(locatePlace(join(project, name), box.env)).toMatchObject({
        kind: 'worktree',
        root: join(project, name),
        commonDir: join(project, '.bare'),
      })
    expect(locatePlace(project, box.env)).toMatchObject({ kind: 'outside' })
    expect(findMainCheckout(join(project, '.bare'), box.env)).toBeUndefined()
  })

  it('of a submodule is that of its superproject', () => {
    const box = makeSandbox()
    const allow = ['-c', 'protocol.file.allow=always']
    box.git(box.root, 'clone', '--quiet', box.main, 'lib')
    box.git(box.main, ...allow, 'submodule', '--quiet', 'add', join(box.root, 'lib'), 'lib')
    box.git(box.main, 'commit', '--quiet', '-m', 'lib')
    const root = box.worktree('login')
    box.git(root, ...allow, 'submodule', '--quiet', 'update', '--init')
    expect(locatePlace(join(box.main, 'lib'), box.env)).toEqual(locatePlace(box.main, box.env))
    expect(locatePlace(join(root, 'lib'), box.env)).toEqual(locatePlace(root, box.env))
  })

  it('of a plain repository inside a worktree is its own', () => {
    const box = makeSandbox()
    const root = box.worktree('login')
    box.git(root, 'init', '--quiet', 'vendor/x')
    expect(locatePlace(join(root, 'vendor/x'), box.env)).toMatchObject({
      kind: 'main',
      root: join(root, 'vendor/x'),
    })
  })

  it('of a repository whose git directory lies elsewhere is the main checkout', () => {
    const box = makeSandbox()
    box.git(box.root, 'init', '--quiet', `--separate-git-dir=${box.root}/elsewhere.git`, 'apart')
    expect(locatePlace(join(box.root, 'apart'), box.env)).toMatchObject({
      kind: 'main',
      commonDir: join(box.root, 'elsewhere.git'),
    })
  })

  it('is no answer where git no longer knows the worktree', () => {
    const box = makeSandbox()
    const root = box.worktree('login')
    rmSync(findGitDirOf(root) as string, { recursive: true })
    expect(() => locatePlace(root, box.env)).toThrow(gitFailure(/worktrees\/login/))
  })

  it('is no answer where the repository has gone', () => {
    const box = makeSandbox()
    const root = box.worktree('login')
    renameSync(box.main, join(box.root, 'unplugged'))
    expect(() => locatePlace(root, box.env)).toThrow(gitFailure(/shop\/\.git/))
  })

  it.each(['not a pointer', 'gitdir: ', ''])('is no answer where .git is a file that says %j', text => {
    const box = makeSandbox()
    mkdirSync(join(box.root, 'odd'))
    writeFileSync(join(box.root, 'odd', '.git'), text)
    expect(() => locatePlace(join(box.root, 'odd'), box.env)).toThrow(gitFailure(/./))
  })

  it.each(['a\nb', 'a\n', '\nb', 'a\nb\nc'])('is no answer where a path holds a line break: %j', name => {
    const box = makeSandbox()
    const root = box.worktree(name, 'b')
    expect(() => locatePlace(root, box.env)).toThrow(gitFailure(/./))
  })

  it('is found from below a directory with a line break', () => {
    const box = makeSandbox()
    const root = box.worktree('login')
    mkdirSync(join(root, 'a\nb'))
    expect(locatePlace(join(root, 'a\nb'), box.env)).toMatchObject({ kind: 'worktree', root })
  })

  it.runIf(process.getuid?.() === 0)(
    'is no answer where git doubts the owner, and tells how to trust it (as root only)',
    () => {
      const box = makeSandbox()
      const root = box.worktree('login')
      chownSync(root, 64_001, 64_001)
      chownSync(findGitDirOf(root) as string, 64_001, 64_001)
      chownSync(join(root, '.git'), 64_001, 64_001)
      expect(() => locatePlace(root, box.env)).toThrow(gitFailure(/dubious ownership/))
      const trusted = {
        ...box.env,
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
      }
      expect(locatePlace(root, trusted)).toMatchObject({ kind: 'worktree', root })
    },
  )
})

describe('the main checkout of a repository', () => {
  it('is beside its git directory', () => {
    const box = makeSandbox()
    expect(findMainCheckout(join(box.main, '.git'), box.env)).toBe(box.main)
  })

  it('is where core.worktree says', () => {
    const box = makeSandbox()
    mkdirSync(join(box.root, 'work'))
    box.git(box.root, 'init', '--quiet', '--bare', 'apart.git')
    box.git(join(box.root, 'apart.git'), 'config', 'core.bare', 'false')
    box.git(join(box.root, 'apart.git'), 'config', 'core.worktree', '../work')
    expect(findMainCheckout(join(box.root, 'apart.git'), box.env)).toBe(join(box.root, 'work'))
  })
})

describe('the branch of a worktree', () => {
  it.each(['feat/login', 'ветка', 'a-b_c.d', 'head'])('is told as %s', branch => {
    const box = makeSandbox()
    const gitDir = findGitDirOf(box.worktree('login', branch)) as string
    expect([readBranch(gitDir), readDetachedCommit(gitDir)]).toEqual([branch, ''])
  })

  it('is none when detached, and the commit is told', () => {
    const box = makeSandbox()
    const root = box.worktree('login')
    box.git(root, 'checkout', '--quiet', '--detach')
    const gitDir = findGitDirOf(root) as string
    const commit = box.git(root, 'rev-parse', 'HEAD').trim()
    expect(readBranch(gitDir)).toBe('')
    expect(commit.startsWith(readDetachedCommit(gitDir))).toBe(true)
    expect(readDetachedCommit(gitDir)).not.toBe('')
  })

  it('is none where nothing is', () => {
    expect([readBranch('/nowhere'), readDetachedCommit('/nowhere')]).toEqual(['', ''])
  })
})

describe('the pointers between a worktree and its git directory', () => {
  it('lead nowhere where there is none', () => {
    const box = makeSandbox()
    expect(findGitDirOf(box.home)).toBeUndefined()
    expect(findGitDirOf(box.main)).toBeUndefined()
    expect(findRootOfGitDir(join(box.main, '.git'))).toBeUndefined()
  })

  it('follow git worktree move', () => {
    const box = makeSandbox()
    const root = box.worktree('login')
    const gitDir = findGitDirOf(root) as string
    const moved = join(box.root, 'moved')
    box.git(box.main, 'worktree', 'move', root, moved)
    expect([findRootOfGitDir(gitDir), findGitDirOf(moved), findGitDirOf(root)]).toEqual([
      moved,
      gitDir,
      undefined,
    ])
  })

  it('may be relative, as newer versions of git write them', () => {
    const box = makeSandbox()
    const root = box.worktree('login')
    const gitDir = findGitDirOf(root) as string
    writeFileSync(join(root, '.git'), 'gitdir: ../shop/.git/worktrees/login\n')
    writeFileSync(join(gitDir, 'gitdir'), '../../../../login/.git\n')
    expect([findGitDirOf(root), findRootOfGitDir(gitDir)]).toEqual([gitDir, root])
    expect(readFileSync(join(root, '.git'), 'utf8')).toContain('../shop')
  })
})
