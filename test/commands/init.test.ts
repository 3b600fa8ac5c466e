// `penv init` as a command: what each option writes, keeps and says. What stands in the scripts is held in
// test/core/init-*.test.ts, the changes to the files of agents and tools in test/core/wiring*.test.ts.

import { execFileSync } from 'node:child_process'
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
import { errorOf } from '../support/lifecycle.ts'
import { findMountObstacle, mountAt } from '../support/mount.ts'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'

const SHOP = {
  'package.json': '{"name":"shop","scripts":{"start":"node server.js"},"dependencies":{"pg":"^8"}}\n',
  'server.js': 'require("http").createServer().listen(process.env.PORT)\n',
  '.env.example': 'PORT=3000\nDATABASE_URL=postgres://app:app@localhost:5432/shop\n',
  'compose.yaml':
    'services:\n  db:\n    image: postgres:16\n    ports: ["5432:5432"]\n    environment: {POSTGRES_USER: app, POSTGRES_PASSWORD: app, POSTGRES_DB: shop}\n',
}
/** No server to ask for, so that `penv up` succeeds wherever the tests run. */
const FILES_ONLY = {
  'package.json': '{"name":"shop","scripts":{"start":"node server.js"}}\n',
  'server.js': SHOP['server.js'],
  '.env.example': 'PORT=3000\n',
}
const SHARED = ['provision.sh', 'servers.sh', 'teardown.sh', 'verify.sh']
const OWN = ['compose.yaml', 'down.sh', 'provision.sh', 'servers.sh', 'teardown.sh', 'verify.sh']

interface InitAnswer {
  dryRun: boolean
  compose: { mode: string } | null
  files: { path: string; action: string }[]
  wiring: { name: string; path: string; action: string; status: string; reason?: string }[]
  questions: string[]
}

/** A clone of a small repository with a compose file. */
function makeShop(files: Record<string, string> = SHOP): Sandbox {
  const box = makeSandbox()
  box.write(box.main, files)
  box.git(box.main, 'add', '--all')
  box.git(box.main, 'commit', '--quiet', '-m', 'shop')
  return box
}

/** Names, modes, times and content of all files below a directory, git's own left out. */
function look(directory: string, path = ''): Record<string, string> {
  return Object.fromEntries(
    readdirSync(join(directory, path), { withFileTypes: true })
      .filter(({ name }) => name !== '.git')
      .flatMap(entry => {
        const name = join(path, entry.name)
        if (entry.isDirectory()) return Object.entries(look(directory, name))
        const { mode, mtimeMs } = statSync(join(directory, name))
        return [[name, `${mode.toString(8)} ${mtimeMs} ${readFileSync(join(directory, name), 'utf8')}`]]
      }),
  )
}

const scriptsOf = (root: string) => readdirSync(join(root, '.preview')).sort()
const script = (root: string, name: string) => readFileSync(join(root, '.preview', name), 'utf8')

describe('penv init', () => {
  it('writes scripts that run, says what it wrote and what to run next', async () => {
    const box = makeShop()
    const { stdout } = await box.penv(box.main, ['init', '--agents', 'none'])
    expect(scriptsOf(box.main)).toEqual(SHARED)
    for (const name of SHARED) {
      expect(stdout).toContain(`wrote    .preview/${name}\n`)
      expect(statSync(join(box.main, '.preview', name)).mode & 0o777, name).toBe(0o755)
      expect(script(box.main, name), name).toMatch(/^#!\/bin\/sh\n/)
    }
    expect(stdout).toMatch(/^servers: shared, because /)
    expect(stdout).toContain('  To keep it, run: git add .preview && git commit')
    expect(stdout).toContain(
      '  To try it, run: git worktree add ../shop-second -b second && cd ../shop-second',
    )
  })

  it('can be followed literally from its last lines to an environment', async () => {
    const box = makeShop(FILES_ONLY)
    const { stdout } = await box.penv(box.main, ['init', '--agents', 'none'])
    const commands = [...stdout.matchAll(/^ {2}To .*?, run: (.*)$/gm)].map(match => match[1])
    expect(commands.length).toBe(2)
    execFileSync('sh', ['-ec', commands.join('\n')], { cwd: box.main, env: box.env, stdio: 'pipe' })
    expect(Object.keys(box.ledger().environments)).toHaveLength(1)
  })

  it('names up and verify where the scripts are written in a worktree', async () => {
    const box = makeShop()
    const tree = box.worktree('log in')
    const { stdout } = await box.penv(tree, ['init', '--agents', 'none'])
    expect(scriptsOf(tree)).toEqual(SHARED)
    expect(existsSync(join(box.main, '.preview'))).toBe(false)
    expect(stdout).toContain('  To try it, run: penv up && penv verify')
  })

  it('writes to the root from a folder below it', async () => {
    const box = makeShop()
    mkdirSync(join(box.main, 'src', 'deep'), { recursive: true })
    await box.penv(join(box.main, 'src', 'deep'), ['init', '--agents', 'none'])
    expect(scriptsOf(box.main)).toEqual(SHARED)
  })

  it.each([
    ['on the main checkout', (box: Sandbox) => box.main],
    ['in a worktree', (box: Sandbox) => box.worktree('login')],
  ])('changes nothing the second time %s', async (_, where) => {
    const box = makeShop()
    const root = where(box)
    box.write(root, { '.vscode/tasks.json': '{}\n', '.envrc': 'use node\n', 'mise.toml': '[tools]\n' })
    await box.penv(root, ['init', '--agents', 'claude,cursor,vscode,mise,direnv'])
    const before = look(root)
    const again = (
      await box.penv(root, ['init', '--agents', 'claude,cursor,vscode,mise,direnv', '--json'])
    ).json() as InitAnswer
    expect(look(root)).toEqual(before)
    expect(again.files.map(({ action }) => action)).toEqual(SHARED.map(() => 'current'))
    expect(again.wiring.filter(({ action }) => action !== 'keep')).toEqual([])
    await box.penv(root, ['init', '--force', '--agents', 'claude,cursor,vscode,mise,direnv'])
    expect(look(root)).toEqual(before)
  })

  it('needs no service, no commit and no branch', async () => {
    const box = makeSandbox()
    const root = join(box.root, 'fresh')
    mkdirSync(root)
    box.git(root, 'init', '--quiet')
    await box.penv(root, ['init'])
    expect(scriptsOf(root)).toContain('provision.sh')
  })

  it.each<[string, (box: Sandbox) => string, number, string]>([
    ['outside a repository', box => box.root, 3, 'NOT_A_WORKTREE'],
    [
      'in a bare repository',
      box => {
        box.git(box.root, 'init', '--quiet', '--bare', 'bare')
        return join(box.root, 'bare')
      },
      3,
      'NOT_A_WORKTREE',
    ],
    [
      'in a repository whose git directory is gone',
      box => {
        const broken = join(box.root, 'broken')
        mkdirSync(broken)
        writeFileSync(join(broken, '.git'), 'gitdir: /nonexistent/git\n')
        return broken
      },
      4,
      'GIT_FAILED',
    ],
  ])('writes nothing %s', async (_, where, exit, code) => {
    const box = makeSandbox()
    const cwd = where(box)
    const before = look(cwd)
    const result = await box.run(['init', '--json'], { cwd })
    expect({ exit: result.exit, code: errorOf(result.stdout).code }).toEqual({ exit, code })
    expect(look(cwd)).toEqual(before)
  })

  it.each<[string, string[]]>([
    ['an unknown way to use compose', ['--compose', 'both']],
    ['an unknown agent', ['--agents', 'claude,nobody']],
    ['no agent', ['--agents', '']],
    ['a file that it does not write', ['--print', 'nothing.sh']],
    ['--print with --dry-run', ['--print', 'verify.sh', '--dry-run']],
    ['--print with --uninstall', ['--print', 'verify.sh', '--uninstall']],
    ['--uninstall with --compose', ['--uninstall', '--compose', 'own']],
    ['an argument', ['verify.sh']],
    ['an unknown option', ['--yes']],
  ])('refuses %s as usage and writes nothing', async (_, args) => {
    const box = makeShop()
    const before = look(box.main)
    const result = await box.run(['init', ...args])
    expect({ exit: result.exit, stdout: result.stdout }).toEqual({ exit: 2, stdout: '' })
    expect(result.stderr).toMatch(/^penv: /)
    expect(look(box.main)).toEqual(before)
  })

  it('names the agents that there are, and the files that it would print', async () => {
    const box = makeShop()
    expect((await box.run(['init', '--agents', 'nobody'])).stderr).toMatch(
      /"nobody".*auto, none.*claude.*vscode/,
    )
    expect((await box.run(['init', '--print', 'x'])).stderr).toMatch(/"x".*provision\.sh.*teardown\.sh/)
  })
})

describe('penv init --dry-run', () => {
  it('prints a diff that git applies to the same files, modes too, and writes nothing', async () => {
    const box = makeShop()
    box.write(box.main, { 'AGENTS.md': '# Agents\n' })
    const before = look(box.main)
    const { stdout } = await box.penv(box.main, ['init', '--dry-run', '--agents', 'claude'])
    expect(look(box.main)).toEqual(before)
    expect(existsSync(box.stateDir)).toBe(false)
    const copy = join(box.root, 'copy')
    box.git(box.root, 'clone', '--quiet', box.main, copy)
    box.write(copy, { 'AGENTS.md': '# Agents\n' })
    writeFileSync(join(box.root, 'diff'), stdout)
    box.git(copy, 'apply', join(box.root, 'diff'))
    await box.penv(box.main, ['init', '--agents', 'claude'])
    const content = (root: string) =>
      Object.entries(look(root)).map(([name, text]) => [name, text.replace(/ [\d.]+ /, ' ')])
    expect(content(copy)).toEqual(content(box.main))
  })

  it('prints only what would change', async () => {
    const box = makeShop()
    await box.penv(box.main, ['init', '--agents', 'none'])
    writeFileSync(join(box.main, '.preview', 'verify.sh'), '#!/bin/sh\n')
    const headers = (text: string) => text.match(/^\+\+\+ .*/gm)
    const plain = await box.penv(box.main, ['init', '--dry-run', '--agents', 'none'])
    expect(headers(plain.stdout)).toBe(null)
    const forced = await box.penv(box.main, ['init', '--dry-run', '--force', '--agents', 'none'])
    expect(headers(forced.stdout)).toEqual(['+++ b/.preview/verify.sh'])
  })

  it('answers in JSON what would be done', async () => {
    const box = makeShop()
    const answer = (await box.penv(box.main, ['init', '--dry-run', '--json'])).json() as InitAnswer
    expect(answer.dryRun).toBe(true)
    expect(answer.files.map(({ path, action }) => `${action} ${path}`).sort()).toEqual(
      SHARED.map(name => `create .preview/${name}`),
    )
  })
})

describe('penv init --print', () => {
  it.each(['verify.sh', '.preview/verify.sh'])('prints what %s would be, and writes nothing', async name => {
    const box = makeShop()
    const { stdout } = await box.penv(box.main, ['init', '--print', name])
    expect(existsSync(join(box.main, '.preview'))).toBe(false)
    await box.penv(box.main, ['init', '--agents', 'none'])
    expect(script(box.main, 'verify.sh')).toBe(stdout)
    const answer = (await box.penv(box.main, ['init', '--print', name, '--json'])).json() as { text: string }
    expect(answer.text).toBe(stdout)
  })

  it('prints a file that was changed as init would write it', async () => {
    const box = makeShop()
    await box.penv(box.main, ['init', '--agents', 'none'])
    const written = script(box.main, 'verify.sh')
    writeFileSync(join(box.main, '.preview', 'verify.sh'), '#!/bin/sh\n')
    expect((await box.penv(box.main, ['init', '--print', 'verify.sh'])).stdout).toBe(written)
  })
})

describe('scripts that are there', () => {
  it('are kept without --force, and replaced with it where they differ', async () => {
    const box = makeShop()
    box.write(box.main, { '.preview/provision.sh': '#!/bin/sh\n# ours\n', '.preview/notes.md': 'ours\n' })
    const first = (await box.penv(box.main, ['init', '--json', '--agents', 'none'])).json() as InitAnswer
    expect(first.files).toContainEqual({ path: '.preview/provision.sh', action: 'keep' })
    expect(script(box.main, 'provision.sh')).toBe('#!/bin/sh\n# ours\n')
    const { mtimeMs } = statSync(join(box.main, '.preview', 'verify.sh'))
    const forced = (
      await box.penv(box.main, ['init', '--json', '--force', '--agents', 'none'])
    ).json() as InitAnswer
    expect(forced.files.filter(({ action }) => action !== 'current')).toEqual([
      { path: '.preview/provision.sh', action: 'update' },
    ])
    expect(statSync(join(box.main, '.preview', 'verify.sh')).mtimeMs).toBe(mtimeMs)
    expect(script(box.main, 'notes.md')).toBe('ours\n')
  })

  it('decide the way to use servers where nobody says otherwise', async () => {
    const box = makeShop()
    await box.penv(box.main, ['init', '--compose', 'own', '--agents', 'none'])
    expect(scriptsOf(box.main)).toEqual(expect.arrayContaining(OWN))
    const before = look(box.main)
    const again = (await box.penv(box.main, ['init', '--agents', 'none', '--json'])).json() as InitAnswer
    expect(again.compose?.mode).toBe('own')
    expect(look(box.main)).toEqual(before)
  })

  it('are never mixed with those of the other way', async () => {
    const box = makeShop()
    await box.penv(box.main, ['init', '--agents', 'none'])
    const before = look(box.main)
    const refused = await box.run(['init', '--compose', 'own', '--json'])
    expect({ exit: refused.exit, hint: errorOf(refused.stdout).hint }).toEqual({
      exit: 2,
      hint: 'To replace them, run: penv init --compose own --force',
    })
    expect(look(box.main)).toEqual(before)
    await box.penv(box.main, ['init', '--compose', 'own', '--force', '--agents', 'none'])
    expect(scriptsOf(box.main)).toEqual(OWN)
    await box.penv(box.main, ['init', '--compose', 'shared', '--force', '--agents', 'none'])
    expect(scriptsOf(box.main)).toEqual(SHARED)
    expect(Object.keys(look(box.main))).toEqual(Object.keys(before))
  })

  it('of the other way stay where a person has changed them', async () => {
    const box = makeShop()
    await box.penv(box.main, ['init', '--compose', 'own', '--agents', 'none'])
    writeFileSync(join(box.main, '.preview', 'down.sh'), '#!/bin/sh\n# ours\n')
    const { stdout } = await box.penv(box.main, [
      'init',
      '--compose',
      'shared',
      '--force',
      '--agents',
      'none',
    ])
    expect(script(box.main, 'down.sh')).toBe('#!/bin/sh\n# ours\n')
    expect(stdout).toContain('kept     .preview/down.sh')
  })

  it('no longer count as questions when a person has answered them', async () => {
    const box = makeShop({
      ...SHOP,
      'server.js': 'require("http").createServer().listen(4321)\n',
      '.env.example': '',
    })
    const asked = (await box.penv(box.main, ['init', '--json', '--agents', 'none'])).json() as InitAnswer
    expect(asked.questions.length).toBeGreaterThan(0)
    for (const name of scriptsOf(box.main)) {
      const file = join(box.main, '.preview', name)
      writeFileSync(file, readFileSync(file, 'utf8').replace(/^# QUESTION: .*\n/gm, ''))
    }
    const answered = (await box.penv(box.main, ['init', '--json', '--agents', 'none'])).json() as InitAnswer
    expect(answered.questions).toEqual([])
  })

  const OBSTACLES: [string, (path: string, box: Sandbox) => void][] = [
    ['a file', path => writeFileSync(path, '')],
    ['a link out of the repository', (path, box) => symlinkSync(box.home, path)],
    ['a link that leads nowhere', path => symlinkSync('nowhere', path)],
  ]
  it.each(OBSTACLES)('are not written where .preview is %s', async (_, obstruct) => {
    const box = makeShop()
    obstruct(join(box.main, '.preview'), box)
    const home = readdirSync(box.home)
    const result = await box.run(['init', '--json', '--agents', 'none'])
    expect({ exit: result.exit, code: errorOf(result.stdout).code }).toEqual({
      exit: 8,
      code: 'SCRIPT_UNUSABLE',
    })
    expect(readdirSync(box.home)).toEqual(home)
  })

  it('are kept when they are no files', async () => {
    const box = makeShop()
    mkdirSync(join(box.main, '.preview', 'verify.sh'), { recursive: true })
    symlinkSync('nowhere', join(box.main, '.preview', 'teardown.sh'))
    const answer = (await box.penv(box.main, ['init', '--json', '--agents', 'none'])).json() as InitAnswer
    expect(answer.files.filter(({ action }) => action === 'keep').map(({ path }) => path)).toEqual([
      '.preview/verify.sh',
      '.preview/teardown.sh',
    ])
    expect(statSync(join(box.main, '.preview', 'verify.sh')).isDirectory()).toBe(true)
  })

  const obstacle = findMountObstacle()
  it.skipIf(obstacle !== undefined)(
    `are whole or missing on a full disk${obstacle === undefined ? '' : ` (not here: ${obstacle})`}`,
    async () => {
      const box = makeShop()
      const directory = join(box.main, '.preview')
      mkdirSync(directory)
      await mountAt(directory, async () => {
        writeFileSync(join(directory, 'filler'), Buffer.alloc(60 * 1024))
        const result = await box.run(['init', '--json', '--agents', 'none'])
        expect({ exit: result.exit, code: errorOf(result.stdout).code }).toEqual({
          exit: 8,
          code: 'SCRIPT_UNUSABLE',
        })
        expect(errorOf(result.stdout).message).toContain('ENOSPC')
        expect(readdirSync(directory).filter(name => name.endsWith('.tmp'))).toEqual([])
        for (const name of readdirSync(directory).filter(one => one.endsWith('.sh')))
          expect(script(box.main, name)).toMatch(/\n$/)
        rmSync(join(directory, 'filler'))
        await box.penv(box.main, ['init', '--agents', 'none'])
        expect(scriptsOf(box.main)).toEqual(SHARED)
      })
    },
  )
})

describe('penv init --agents', () => {
  const wiredBy = async (box: Sandbox, agents: string) =>
    ((await box.penv(box.main, ['init', '--agents', agents, '--json'])).json() as InitAnswer).wiring
      .filter(({ action }) => action !== 'keep')
      .map(({ path }) => path)

  it('wires nothing for none, and each of the names once', async () => {
    const box = makeShop()
    expect(await wiredBy(box, 'none')).toEqual([])
    const twice = await wiredBy(box, 'claude, claude')
    expect(twice).toEqual([...new Set(twice)])
    expect(twice).toContain('.claude/settings.json')
  })

  it('wires by auto what is in use, and leaves the rest', async () => {
    const box = makeShop()
    box.write(box.main, { '.cursor/worktrees.json': '{}\n' })
    const paths = await wiredBy(box, 'auto')
    expect(paths).toContain('.cursor/worktrees.json')
    expect(paths).not.toContain('.vscode/tasks.json')
  })

  it('leaves a file that is not valid as it is, names it, and wires the others', async () => {
    const box = makeShop()
    const broken = '{"hooks": [,]\n'
    box.write(box.main, { '.claude/settings.json': broken, '.cursor/worktrees.json': '{}\n' })
    const result = await box.run(['init', '--agents', 'claude,cursor', '--json'])
    expect(result.exit).toBe(0)
    expect(result.stderr).toContain('.claude/settings.json')
    expect(readFileSync(join(box.main, '.claude', 'settings.json'), 'utf8')).toBe(broken)
    const { wiring } = result.json() as InitAnswer
    expect(wiring.find(({ path }) => path === '.claude/settings.json')).toMatchObject({
      action: 'keep',
      status: 'invalid',
    })
    expect(readFileSync(join(box.main, '.cursor', 'worktrees.json'), 'utf8')).toContain('penv')
  })

  it('says which of the names it could not wire, and why', async () => {
    const box = makeShop()
    const { stderr } = await box.penv(box.main, ['init', '--agents', 'vscode,direnv'], { stderr: 'any' })
    expect(stderr).toBe(
      'penv: vscode is not wired: there is no .vscode/tasks.json\npenv: direnv is not wired: there is no .envrc\n',
    )
  })

  it('adds the files that it wired to the command that keeps them', async () => {
    const box = makeShop()
    const { stdout } = await box.penv(box.main, ['init', '--agents', 'cursor'])
    const command = /^ {2}To keep it, run: (.*)$/m.exec(stdout)?.[1] as string
    execFileSync('sh', ['-ec', command], { cwd: box.main, env: box.env, stdio: 'pipe' })
    expect(box.git(box.main, 'status', '--porcelain')).toBe('')
  })
})

describe('penv init --uninstall', () => {
  const ALL = 'claude,codex,cursor,gemini,opencode,direnv,mise,vscode'
  const STRANGERS = {
    'AGENTS.md': '# Agents\r\n\r\nUse tabs.\r\n',
    'CLAUDE.md': '\uFEFF# Claude\n\nno newline at the end',
    '.claude/settings.json': '{\n\t// ours\n\t"permissions": {"allow": ["Bash(ls:*)"],},\n}\n',
    '.vscode/tasks.json': '{"version": "2.0.0", "tasks": []}',
    'mise.toml': '[tools]\nnode = "20" # ours\n',
    '.envrc': 'use node\n',
  }

  it('restores every file to the byte, and removes those that init made', async () => {
    const box = makeShop({ ...SHOP, ...STRANGERS })
    const before = look(box.main)
    await box.penv(box.main, ['init', '--agents', ALL], { stderr: 'any' })
    expect(box.git(box.main, 'status', '--porcelain')).not.toBe('')
    await box.penv(box.main, ['init', '--uninstall'], { stderr: 'any' })
    rmSync(join(box.main, '.preview'), { recursive: true })
    const content = (files: Record<string, string>) =>
      Object.entries(files).map(([name, text]) => [name, text.replace(/ [\d.]+ /, ' ')])
    expect(content(look(box.main))).toEqual(content(before))
    expect(box.git(box.main, 'status', '--porcelain')).toBe('')
  })

  it('keeps what a person has added in between', async () => {
    const box = makeShop({ ...SHOP, 'AGENTS.md': '# Agents\n' })
    await box.penv(box.main, ['init', '--agents', 'codex'], { stderr: 'any' })
    const wired = readFileSync(join(box.main, 'AGENTS.md'), 'utf8')
    writeFileSync(join(box.main, 'AGENTS.md'), `${wired}\nRun the tests.\n`)
    await box.penv(box.main, ['init', '--uninstall'], { stderr: 'any' })
    expect(readFileSync(join(box.main, 'AGENTS.md'), 'utf8')).toMatch(/^# Agents\n\s*Run the tests\.\n$/)
  })

  it('leaves the scripts, and says so when there is nothing to take out', async () => {
    const box = makeShop()
    await box.penv(box.main, ['init', '--agents', 'none'])
    const { stdout } = await box.penv(box.main, ['init', '--uninstall'])
    expect(stdout).toMatch(/^nothing of penv is wired here\n/)
    expect(scriptsOf(box.main)).toEqual(SHARED)
  })

  it('shows with --dry-run what it would take out, and takes nothing out', async () => {
    const box = makeShop({ ...SHOP, 'AGENTS.md': '# Agents\n' })
    await box.penv(box.main, ['init', '--agents', 'codex'], { stderr: 'any' })
    const before = look(box.main)
    const { stdout } = await box.penv(box.main, ['init', '--uninstall', '--dry-run'], { stderr: 'any' })
    expect(look(box.main)).toEqual(before)
    expect(stdout).toMatch(/^-.*penv/m)
  })

  it('names a file that it cannot write, and leaves it whole', async () => {
    const box = makeShop({ ...SHOP, 'AGENTS.md': '# Agents\n' })
    await box.penv(box.main, ['init', '--agents', 'codex'], { stderr: 'any' })
    const before = readFileSync(join(box.main, 'AGENTS.md'), 'utf8')
    rmSync(join(box.main, 'AGENTS.md'))
    symlinkSync(join(box.home, 'AGENTS.md'), join(box.main, 'AGENTS.md'))
    writeFileSync(join(box.home, 'AGENTS.md'), before)
    chmodSync(join(box.home, 'AGENTS.md'), 0o444)
    const result = await box.run(['init', '--uninstall'])
    expect(result.stderr).toContain('AGENTS.md')
    expect(readFileSync(join(box.home, 'AGENTS.md'), 'utf8')).toBe(before)
  })
})
