import { describe, expect, it } from 'vitest'
import type { WiringFacts } from '../../src/core/wiring/wiring-facts.ts'
import { INTEGRATIONS } from '../../src/core/wiring/wiring-table.ts'
import { INSTRUCTIONS } from '../../src/core/wiring/wiring-text.ts'
import {
  parseAgents,
  planWiring,
  WIRING_NAMES,
  type WiringChange,
  type WiringOptions,
} from '../../src/core/wiring.ts'
import { PenvError } from '../../src/errors.ts'

interface Given {
  files?: Record<string, string>
  directories?: string[]
  commands?: string[]
  problems?: WiringFacts['problems']
  links?: WiringFacts['links']
}

function facts({ files = {}, directories = [], commands = [], problems, links }: Given): WiringFacts {
  return {
    files: new Map(Object.entries(files)),
    directories: new Set(directories),
    commands: new Set(commands),
    ...(problems && { problems }),
    ...(links && { links }),
  }
}

const plan = (given: Given, options: Partial<WiringOptions> = {}) =>
  planWiring(facts(given), { agents: 'auto', ...options })
const paths = (changes: readonly WiringChange[]) => changes.map(({ path }) => path)

/** The facts after the changes have been carried out. */
function applied(given: Given, changes: readonly WiringChange[]): Given {
  const files = { ...given.files }
  const directories = new Set(given.directories)
  for (const { path, after } of changes) {
    if (after === undefined) delete files[path]
    else files[path] = after
    if (after !== undefined && path.includes('/')) directories.add(path.split('/')[0] as string)
  }
  return { ...given, files, directories: [...directories] }
}

const CODEX = ['.codex/hooks.json', '.codex/environments/environment.toml']

describe('what is wired by default', () => {
  it.each<[string, Given, string[]]>([
    ['nothing where no agent is known', {}, []],
    ['Claude by its folder', { directories: ['.claude'] }, ['AGENTS.md', '.claude/settings.json']],
    ['Claude by its instructions', { files: { 'CLAUDE.md': '' } }, ['CLAUDE.md', '.claude/settings.json']],
    ['Codex by its program', { commands: ['codex'] }, ['AGENTS.md', ...CODEX]],
    ['Cursor by its folder', { directories: ['.cursor'] }, ['AGENTS.md', '.cursor/worktrees.json']],
    ['instructions that are there', { files: { 'AGENTS.md': 'x' } }, ['AGENTS.md']],
    ['only instructions for an agent whose own file is not there', { commands: ['gemini'] }, ['AGENTS.md']],
    ['wt by its program', { commands: ['wt'] }, ['.wt/worktrees.json']],
    [
      'worktrunk where a program wt is that',
      { commands: ['wt'], files: { '.config/wt.toml': '' } },
      ['.config/wt.toml'],
    ],
    [
      'both where both are in use',
      { directories: ['.wt'], files: { '.config/wt.toml': '' } },
      ['.wt/worktrees.json', '.config/wt.toml'],
    ],
    [
      'the older file of Conductor where it is there',
      { files: { 'conductor.json': '{}' } },
      ['AGENTS.md', 'conductor.json'],
    ],
    [
      'the newer file of Conductor where both are',
      { files: { 'conductor.json': '{}', '.conductor/settings.toml': '' } },
      ['AGENTS.md', '.conductor/settings.toml'],
    ],
    [
      'opencode by its configuration',
      { files: { 'opencode.json': '{}' } },
      ['AGENTS.md', '.opencode/plugins/penv.js'],
    ],
    [
      'tools whose file is there',
      {
        files: {
          '.gtrconfig': '',
          'phantom.config.json': '{}',
          '.envrc': '',
          '.mise.toml': '',
          '.vscode/tasks.json': '{}',
        },
      },
      ['.gtrconfig', 'phantom.config.json', '.envrc', '.mise.toml', '.vscode/tasks.json'],
    ],
  ])('is %s', (_, given, expected) => {
    expect(paths(plan(given))).toEqual(expected)
  })

  it('says from what it concluded', () => {
    const given = { directories: ['.cursor'], commands: ['codex'], files: { '.envrc': '' } }
    const evidence = Object.fromEntries(plan(given).map(({ name, evidence }) => [name, evidence]))
    expect(evidence).toMatchObject({ cursor: '.cursor/', codex: 'codex on PATH', direnv: '.envrc' })
  })

  it('is the same after it has been done', () => {
    const given = {
      files: { 'CLAUDE.md': '# Shop\n', 'conductor.json': '{}', 't3.json': '{}' },
      directories: ['.superset', '.gemini', '.opencode'],
      commands: ['claude', 'codex', 'cursor', 'wt'],
    }
    const first = plan(given)
    const second = plan(applied(given, first))
    expect(paths(second)).toEqual(paths(first))
    expect(second.every(({ action, status }) => action === 'keep' && status === 'current')).toBe(true)
  })
})

describe('instructions', () => {
  it('go into both files where both are there', () => {
    expect(paths(plan({ files: { 'AGENTS.md': 'a', 'CLAUDE.md': 'c' } }))).toEqual([
      'AGENTS.md',
      'CLAUDE.md',
      '.claude/settings.json',
    ])
  })

  it('go once into a file that the other imports or is a link to', () => {
    const files = { 'AGENTS.md': 'a\n', 'CLAUDE.md': '# Claude\n\n@AGENTS.md\n' }
    expect(paths(plan({ files }))).toEqual(['AGENTS.md', '.claude/settings.json'])
    const linked = {
      files: { 'AGENTS.md': 'a\n', 'CLAUDE.md': 'a\n' },
      links: new Map([['CLAUDE.md', 'AGENTS.md']]),
    }
    expect(paths(plan(linked))).toEqual(['AGENTS.md', '.claude/settings.json'])
  })

  it('are short, and name what an agent needs', () => {
    expect(INSTRUCTIONS.split('\n').length).toBeLessThanOrEqual(13)
    for (const words of [
      'penv up',
      'penv status',
      '.env.preview',
      'penv get port',
      'penv verify',
      'penv destroy',
    ])
      expect(INSTRUCTIONS).toContain(words)
  })
})

describe('--agents', () => {
  it('takes auto, none and names', () => {
    expect(parseAgents('auto')).toBe('auto')
    expect(parseAgents('none')).toBe('none')
    expect(parseAgents('codex, claude,codex')).toEqual(['codex', 'claude'])
  })

  it.each(['', 'claude,', 'Claude', 'auto,claude', '__proto__'])('refuses %j', value => {
    expect(() => parseAgents(value)).toThrow(PenvError)
    expect(() => parseAgents(value)).toThrow(/claude/)
  })

  it('none wires nothing', () => {
    expect(plan({ files: { 'CLAUDE.md': '' }, commands: ['codex'] }, { agents: 'none' })).toEqual([])
  })

  it.each<[string[], string[]]>([
    [['claude'], ['AGENTS.md', '.claude/settings.json']],
    [['codex'], ['AGENTS.md', ...CODEX]],
    [['conductor'], ['AGENTS.md', '.conductor/settings.toml']],
    [['wt'], ['.wt/worktrees.json']],
    [
      ['gtr', 'phantom'],
      ['.gtrconfig', 'phantom.config.json'],
    ],
    [['instructions'], ['AGENTS.md']],
  ])('%j wires these, in use or not', (agents, expected) => {
    expect(paths(plan({ commands: ['cursor'] }, { agents }))).toEqual(expected)
  })

  it.each(['direnv', 'mise', 'vscode'])('says that %s has no file to be wired in', name => {
    const [change, ...others] = plan({}, { agents: [name] })
    expect(change).toMatchObject({ name, action: 'keep', status: 'missing' })
    expect(change?.reason).toContain('there is no ')
    expect(others).toEqual([])
  })
})

/** Files as they are found, for each integration; all of them can be merged with. */
const FOUND: Record<string, string> = {
  'AGENTS.md': '# Shop\n\nUse tabs.\n',
  'CLAUDE.md': 'no line ending at the end',
  '.claude/settings.json':
    '{\n\t// mine\n\t"permissions": {"allow": ["Bash(ls)"]},\n\t"hooks": {\n\t\t"Stop": []\n\t},\n}\n',
  '.codex/hooks.json':
    '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo hi"}]}]}}\n',
  '.codex/environments/environment.toml': 'version = 1\nname = "shop"\n\n[setup]\nscript = ""\n',
  '.cursor/worktrees.json': '{\r\n  "setup-worktree": ["npm ci"]\r\n}\r\n',
  '.wt/worktrees.json': '{}',
  '.config/wt.toml': '[post-start]\ndeps = "npm ci" # all\n\n[list]\nurl = "x"\n',
  '.conductor/settings.toml': "[scripts]\nrun = 'npm start'\nsetup = '''\nnpm ci\n'''\n",
  'conductor.json': '{"scripts": {"setup": "npm ci"}, "runScriptMode": "concurrent"}',
  '.superset/config.json': '{\n  "setup": [],\n  "teardown": []\n}\n',
  't3.json':
    '{\n  "scripts": [\n    {"name": "Setup", "command": "bun i", "runOnWorktreeCreate": true}\n  ]\n}\n',
  '.gemini/settings.json': '{\n  "theme": "dark"\n}',
  '.gtrconfig': '[hooks]\n    postCreate = npm ci\n',
  'phantom.config.json': '{\n  "postCreate": {\n    "copyFiles": [".env"]\n  }\n}\n',
  '.envrc': 'use flake\n',
  'mise.toml': '[env]\nNODE_ENV = "development"\n\n[tools]\nnode = "22"\n',
  '.mise.toml': '',
  '.vscode/tasks.json':
    '{\n    // See https://go.microsoft.com/fwlink/?LinkId=733558\n    "version": "2.0.0",\n    "tasks": [],\n}\n',
}

describe('uninstall', () => {
  const found = INTEGRATIONS.filter(({ path }) => path !== '.opencode/plugins/penv.js').map(
    ({ path, name }) => [path, name] as const,
  )

  it.each(found)('restores %s byte for byte', (path, name) => {
    const given = { files: { [path]: FOUND[path] as string } }
    const change = plan(given, { agents: [name] }).find(other => other.path === path)
    expect(change).toMatchObject({ status: 'missing', action: 'update', before: FOUND[path] })
    const wired = applied(given, [change as WiringChange])
    expect(plan(wired, { agents: [name] }).find(other => other.path === path)).toMatchObject({
      status: 'current',
      action: 'keep',
    })
    const back = plan(wired, { uninstall: true }).find(other => other.path === path)
    expect(back).toMatchObject({ action: 'update', after: FOUND[path] })
  })

  const made = INTEGRATIONS.filter(
    ({ needsFile, path }) => !needsFile && path !== 'CLAUDE.md' && path !== 'conductor.json',
  )

  it.each(made.map(({ path, name }) => [path, name] as const))(
    'removes %s when penv has made it',
    (path, name) => {
      const changes = plan({}, { agents: [name] })
      expect(changes.find(other => other.path === path)).toMatchObject({
        action: 'create',
        before: undefined,
      })
      const back = plan(applied({}, changes), { uninstall: true })
      expect(back.map(({ action }) => action)).toEqual(changes.map(() => 'delete'))
    },
  )

  it('does not touch what holds nothing of penv', () => {
    const changes = plan(
      { files: { ...FOUND, '.opencode/plugins/penv.js': 'export const Mine = 1\n' } },
      { uninstall: true },
    )
    expect(changes.length).toBeGreaterThan(15)
    expect(changes.filter(({ action }) => action !== 'keep')).toEqual([])
  })

  it('takes out only the named ones where names are given', () => {
    const wired = applied({}, plan({}, { agents: ['claude', 'cursor'] }))
    expect(paths(plan(wired, { agents: ['cursor'], uninstall: true }))).toEqual(['.cursor/worktrees.json'])
  })
})

describe('a file that cannot be changed', () => {
  it.each([
    ['.claude/settings.json', '{"hooks": {]}', 'invalid'],
    ['.codex/environments/environment.toml', 'version = \n', 'invalid'],
    ['.cursor/worktrees.json', '{"setup-worktree": "./setup.sh"}', 'foreign'],
    ['.opencode/plugins/penv.js', 'export const Mine = 1\n', 'foreign'],
    ['AGENTS.md', '<!-- penv:begin -->\n', 'invalid'],
  ])('is left alone and named: %s', (path, text, status) => {
    for (const uninstall of [false, true]) {
      const change = plan({ files: { [path]: text }, directories: ['.opencode'] }, { uninstall }).find(
        other => other.path === path,
      )
      expect(change).toMatchObject({ status, action: 'keep', before: text, after: text })
      expect(change?.reason).toBeTruthy()
    }
  })

  it('does not keep the others from being wired', () => {
    const changes = plan({ files: { '.claude/settings.json': '{', '.cursor/worktrees.json': '{}' } })
    expect(Object.fromEntries(changes.map(({ path, action }) => [path, action]))).toEqual({
      'AGENTS.md': 'create',
      '.claude/settings.json': 'keep',
      '.cursor/worktrees.json': 'update',
    })
  })

  it('is one that the host could not read as text', () => {
    const problem = { status: 'foreign', reason: 'a link leads out of the repository' } as const
    const changes = plan({ problems: new Map([['.claude/settings.json', problem]]) })
    expect(changes.find(({ name }) => name === 'claude')).toMatchObject({
      ...problem,
      action: 'keep',
      after: undefined,
    })
  })
})

it('no integration writes an MCP server, a git hook or a hook that replaces git worktree add', () => {
  const all = plan({}, { agents: WIRING_NAMES })
    .map(({ after }) => after)
    .join('')
  expect(all).not.toMatch(/mcp|"WorktreeCreate"|"WorktreeRemove"|post-checkout/)
})
