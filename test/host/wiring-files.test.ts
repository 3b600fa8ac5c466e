import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { planWiring, type WiringChange, type WiringOptions } from '../../src/core/wiring.ts'
import { describeErrno } from '../../src/host/errno.ts'
import { applyWiringChange, readWiringFacts } from '../../src/host/wiring-files.ts'

let base: string
let root: string
let bin: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'penv wiring ')))
  root = join(base, "it's a repo")
  bin = join(base, 'bin')
  mkdirSync(root)
  mkdirSync(bin)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function put(path: string, text: string | Uint8Array): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

/** All files below a folder, with their bytes. */
function snapshot(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names.map(name => [
      name,
      statSync(join(folder, name)).isFile() ? readFileSync(join(folder, name), 'latin1') : '/',
    ]),
  )
}

function wire(options: Partial<WiringOptions> = {}) {
  const changes = planWiring(readWiringFacts(root, bin), { agents: 'auto', ...options })
  return apply(changes)
}

/** What each change came to. */
function apply(changes: readonly WiringChange[]): { change: WiringChange; error?: string }[] {
  return changes.map(change => {
    try {
      if (change.action !== 'keep') applyWiringChange(root, change)
      return { change }
    } catch (error) {
      return { change, error: describeErrno(error) }
    }
  })
}

const errors = (results: ReturnType<typeof wire>) => results.flatMap(({ error }) => error ?? [])

describe('wiring a repository', () => {
  it('writes what is planned, changes nothing the second time, and leaves no trace after uninstall', () => {
    put('CLAUDE.md', '# Shop')
    put('.cursor/worktrees.json', '{\r\n\t"setup-worktree": ["npm ci"]\r\n}')
    put('.vscode/tasks.json', '\uFEFF{\n  // none yet\n  "tasks": [],\n}\n')
    put('.config/wt.toml', '[post-start]\ndeps = "npm ci"\n')
    put('src/app.ts', 'export const app = 1\n')
    writeFileSync(join(bin, 'codex'), '#!/bin/sh\n', { mode: 0o755 })
    const before = snapshot(root)
    expect(errors(wire())).toEqual([])
    const wired = snapshot(root)
    expect(Object.keys(wired)).toEqual(
      expect.arrayContaining([
        '.claude/settings.json',
        '.codex/hooks.json',
        '.codex/environments/environment.toml',
      ]),
    )
    expect(errors(wire())).toEqual([])
    expect(snapshot(root)).toEqual(wired)
    expect(errors(wire({ uninstall: true }))).toEqual([])
    expect(snapshot(root)).toEqual(before)
  })

  it('keeps the mode of a file', () => {
    const file = put('CLAUDE.md', '# Shop\n')
    chmodSync(file, 0o640)
    wire()
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(readFileSync(file, 'utf8')).toContain('penv up')
  })

  it('keeps a folder that holds something else', () => {
    put('.codex/notes.md', 'mine\n')
    wire()
    wire({ uninstall: true })
    expect(snapshot(root)).toEqual({ '.codex': '/', '.codex/notes.md': 'mine\n' })
  })

  it('does not write over a file that has changed since it was read', () => {
    const file = put('CLAUDE.md', '# Shop\n')
    const changes = planWiring(readWiringFacts(root, bin), { agents: 'auto' })
    writeFileSync(file, '# Shop, edited\n')
    put('.claude/settings.json', '{}')
    const results = apply(changes)
    expect(results.map(({ error }) => error)).toEqual(changes.map(() => expect.stringContaining('changed')))
    expect(readFileSync(file, 'utf8')).toBe('# Shop, edited\n')
    expect(readFileSync(join(root, '.claude/settings.json'), 'utf8')).toBe('{}')
  })

  it('carries out the others when one cannot be written, and leaves nothing half done', () => {
    put('.claude', 'a file where a folder is needed')
    const results = wire({ agents: ['claude', 'cursor'] })
    expect(results.find(({ change }) => change.name === 'claude')?.change).toMatchObject({
      status: 'foreign',
      action: 'keep',
    })
    expect(existsSync(join(root, '.cursor/worktrees.json'))).toBe(true)
    expect(readdirSync(root).sort()).toEqual(['.claude', '.cursor', 'AGENTS.md'])
  })
})

describe('links', () => {
  it('out of the repository are never written through', () => {
    const outside = join(base, 'dotfiles')
    mkdirSync(outside)
    writeFileSync(join(outside, 'AGENTS.md'), 'shared\n')
    symlinkSync(join(outside, 'AGENTS.md'), join(root, 'AGENTS.md'))
    symlinkSync(outside, join(root, '.claude'))
    const results = wire()
    const kept = results.map(({ change }) => [change.path, change.status, change.action])
    expect(kept).toEqual([
      ['AGENTS.md', 'foreign', 'keep'],
      ['.claude/settings.json', 'foreign', 'keep'],
    ])
    expect(snapshot(outside)).toEqual({ 'AGENTS.md': 'shared\n' })
  })

  it('that appear after the plan are not written through either', () => {
    mkdirSync(join(root, '.cursor'))
    const changes = planWiring(readWiringFacts(root, bin), { agents: ['cursor'] })
    rmSync(join(root, '.cursor'), { recursive: true })
    const outside = join(base, 'outside')
    mkdirSync(outside)
    symlinkSync(outside, join(root, '.cursor'))
    const results = apply(changes)
    expect(results.find(({ change }) => change.name === 'cursor')?.error).toContain('link')
    expect(readdirSync(outside)).toEqual([])
  })

  it('within the repository are followed, and one file is written once', () => {
    put('AGENTS.md', 'rules\n')
    symlinkSync('AGENTS.md', join(root, 'CLAUDE.md'))
    wire()
    expect(lstatSync(join(root, 'CLAUDE.md')).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(root, 'AGENTS.md'), 'utf8').match(/penv:begin/g)).toHaveLength(1)
    wire({ uninstall: true })
    expect(readFileSync(join(root, 'AGENTS.md'), 'utf8')).toBe('rules\n')
  })

  it('that lead nowhere are left alone', () => {
    symlinkSync('missing.md', join(root, 'CLAUDE.md'))
    expect(wire().map(({ change }) => [change.path, change.status])).toContainEqual(['CLAUDE.md', 'foreign'])
    expect(existsSync(join(root, 'missing.md'))).toBe(false)
  })
})

describe('what is found', () => {
  it.each<[string, (path: string) => void, string]>([
    ['bytes that are not UTF-8', path => put(path, Buffer.from([0x23, 0xe9, 0x0a])), 'invalid'],
    ['UTF-16', path => put(path, Buffer.from('\uFEFF# Shop', 'utf16le')), 'invalid'],
    ['a huge file', path => put(path, 'x'.repeat(1024 * 1024 + 1)), 'invalid'],
    ['a folder', path => mkdirSync(join(root, path)), 'foreign'],
    ['a pipe', path => execFileSync('mkfifo', [join(root, path)]), 'foreign'],
  ])('leaves %s alone', (_, make, status) => {
    make('CLAUDE.md')
    const change = wire().find(({ change }) => change.path === 'CLAUDE.md')?.change
    expect(change).toMatchObject({ status, action: 'keep' })
  })

  it('is a program only where it can be run from an absolute entry of PATH', () => {
    writeFileSync(join(bin, 'codex'), '', { mode: 0o644 })
    mkdirSync(join(bin, 'claude'))
    writeFileSync(join(bin, 'cursor'), '#!/bin/sh\n', { mode: 0o755 })
    const path = ['', '.', 'relative', join(base, 'nowhere'), bin].join(delimiter)
    expect([...readWiringFacts(root, path).commands]).toEqual(['cursor'])
  })

  it('is found through a root that is itself a link', () => {
    put('CLAUDE.md', 'x\n')
    const link = join(base, 'link')
    symlinkSync(root, link)
    const facts = readWiringFacts(link, bin)
    expect(facts.files.get('CLAUDE.md')).toBe('x\n')
    expect(facts.problems?.size).toBe(0)
  })
})

describe('what other programs make of it', () => {
  it('git reads the hooks of .gtrconfig beside those that were there', () => {
    const file = put('.gtrconfig', '[hooks]\n\tpostCreate = npm ci\n')
    wire()
    const read = (key: string) =>
      execFileSync('git', ['config', '-f', file, '--get-all', key], { encoding: 'utf8' })
    expect(read('hooks.postCreate')).toBe('npm ci\npenv up\n')
    expect(read('hooks.preRemove')).toBe('penv destroy --force\n')
  })

  it('opencode gives each shell the variables of its worktree, and none where penv has none', async () => {
    wire({ agents: ['opencode'] })
    const plugin = join(base, 'plugin.mjs')
    writeFileSync(plugin, readFileSync(join(root, '.opencode/plugins/penv.js')))
    const program = (body: string) =>
      writeFileSync(join(bin, 'penv'), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
    const script = `
      const { PenvPlugin } = await import(${JSON.stringify(pathToFileURL(plugin).href)})
      const hooks = await PenvPlugin({ directory: process.argv[1] })
      const output = { env: { KEPT: '1' } }
      await hooks['shell.env']({ cwd: process.argv[1] }, output)
      process.stdout.write(JSON.stringify(output.env))`
    const run = () =>
      JSON.parse(
        execFileSync(process.execPath, ['--input-type=module', '-e', script, root], {
          encoding: 'utf8',
          env: { PATH: `${bin}${delimiter}/usr/bin:/bin` },
        }),
      )
    program(`[ "$1 $2" = 'env --json' ] && printf '{"PORT":"20411","WHERE":"%s"}' "$(pwd -P)"`)
    expect(run()).toEqual({ KEPT: '1', PORT: '20411', WHERE: root })
    program('echo "penv: not a worktree" >&2; exit 3')
    expect(run()).toEqual({ KEPT: '1' })
    rmSync(join(bin, 'penv'))
    expect(run()).toEqual({ KEPT: '1' })
  })

  it('a shell runs the joined command line only when the rest of it has succeeded', () => {
    put('conductor.json', '{"scripts": {"setup": "cd sub && test -f here"}}')
    wire()
    const line = JSON.parse(readFileSync(join(root, 'conductor.json'), 'utf8')).scripts.setup
    writeFileSync(join(bin, 'penv'), '#!/bin/sh\necho "penv $*"\n', { mode: 0o755 })
    const run = () =>
      execFileSync('sh', ['-c', `${line} || true`], {
        cwd: root,
        encoding: 'utf8',
        env: { PATH: `${bin}:/usr/bin:/bin` },
      })
    mkdirSync(join(root, 'sub'))
    expect(run()).toBe('')
    put('sub/here', '')
    expect(run()).toBe('penv up\n')
  })
})
