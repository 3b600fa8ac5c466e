import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeSpansOf, sectionOf, tableOf } from '../support/markdown.ts'
import { makeSandbox } from '../support/sandbox.ts'

const contract = readFileSync(join(import.meta.dirname, '..', '..', 'contract', 'CONTRACT.md'), 'utf8')
const documented = tableOf(sectionOf(contract, 'State directory')).map(
  ([path]) => codeSpansOf(path ?? '')[0] as string,
)

/** Paths below a directory; directories end in a slash. */
function listTree(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).map(entry => {
    const path = relative(directory, join(entry.parentPath, entry.name))
    return entry.isDirectory() ? `${path}/` : path
  })
}

/** A path of the table as a pattern: `<id>` and its like stand for one name; a directory stands for what is in it. */
function patternOf(path: string): RegExp {
  const names: Record<string, string> = {
    id: '[a-z][a-z0-9_]*',
    n: '\\d+',
    script: '[a-z]+',
    template: '[a-z0-9_]+',
  }
  const source = path
    .replace(/[.]/g, '\\.')
    .replace('ledger/<n>', 'ledger/\\d{12}')
    .replace(/<(\w+)>/g, (_all, name: string) => names[name] ?? 'UNKNOWN')
  return new RegExp(`^${source}${path.endsWith('/') ? '.*' : ''}$`)
}

const SCRIPTS = {
  // During the scripts all of the layout is there.
  'provision.sh':
    '#!/bin/sh\nset -eu\npenv env "PORT=$(penv get port web)"\ntouch "$PENV_DATA/app.db"\nfind "${PENV_DATA%/envs/*}" -print >> "$HOME/during"\n',
  'bootstrap.sh': '#!/bin/sh\nset -eu\nfind "${PENV_DATA%/envs/*}" -print >> "$HOME/during"\n',
  'adapters/own.sh': '# ours\n',
  'notes/readme': 'a file of the repository\n',
}

describe('the state directory', () => {
  it('holds exactly what the table says', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const after = listTree(box.stateDir)
    const during = readFileSync(join(box.home, 'during'), 'utf8')
      .trim()
      .split('\n')
      .map(path => relative(box.stateDir, path))
      .filter(path => path.endsWith('.pid'))
    const found = [...after, ...during]
    const patterns = documented.map(path => ({ path, pattern: patternOf(path) }))
    for (const { path, pattern } of patterns)
      expect(
        found.some(name => pattern.test(name)),
        path,
      ).toBe(true)
    const parents = (name: string) => found.some(other => other !== name && other.startsWith(name))
    for (const name of found)
      expect(
        patterns.some(({ pattern }) => pattern.test(name)) || (name.endsWith('/') && parents(name)),
        name,
      ).toBe(true)
  })

  it('is closed to others: directories 0700, files 0600', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    await box.penv(tree, ['verify'], { stderr: 'any' })
    const modes = new Map(
      listTree(box.stateDir).map(path => [
        path,
        (statSync(join(box.stateDir, path)).mode & 0o777).toString(8),
      ]),
    )
    for (const [path, mode] of modes) {
      // Copies of the repository's own files, and what its scripts made.
      if (/\/root\/\.preview\/|\/adapters\/.|\/data\/./.test(path)) continue
      const expected = path.endsWith('/') || path.endsWith('/bin/penv') ? '700' : '600'
      expect({ path, mode }).toEqual({ path, mode: expected })
    }
    expect((statSync(box.stateDir).mode & 0o777).toString(8)).toBe('700')
    const marker = join(box.git(tree, 'rev-parse', '--git-dir').trim(), 'penv')
    for (const file of [marker, join(tree, '.env.preview')])
      expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  })

  it('keeps 32 revisions, and no value of .env.preview in any of them', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['env', 'TOKEN=s3cret-value'])
    for (let n = 0; n < 34; n++) await box.penv(tree, ['get', 'port', `port${n}`])
    expect(box.revisions()).toHaveLength(32)
    for (const file of box.revisions())
      expect(readFileSync(join(box.stateDir, 'ledger', file), 'utf8')).not.toContain('s3cret-value')
  })

  it.each([
    ['PENV_HOME', { PENV_HOME: 'chosen' }, 'chosen'],
    ['XDG_STATE_HOME', { XDG_STATE_HOME: 'xdg' }, 'xdg/penv'],
  ])('follows %s', async (_name, variables, place) => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const env = Object.fromEntries(
      Object.entries(variables).map(([name, path]) => [name, join(box.root, path)]),
    )
    expect((await box.run(['get', 'port', 'web'], { cwd: tree, env })).exit).toBe(0)
    expect(readdirSync(join(box.root, place))).toContain('ledger')
    const relativeOne = await box.run(['id', '--json'], { cwd: tree, env: { PENV_HOME: 'state' } })
    expect(relativeOne).toMatchObject({ exit: 2, stdout: expect.stringContaining('USAGE') })
  })

  it('and .env.preview are all that penv writes: git sees nothing', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    expect(box.git(tree, 'status', '--porcelain', '--ignored').trim()).toBe('!! .env.preview')
    expect(box.git(box.main, 'status', '--porcelain', '--ignored')).toBe('')
  })
})
