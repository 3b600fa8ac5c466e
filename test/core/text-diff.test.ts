import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { composeDiff } from '../../src/core/text-diff.ts'

const base = mkdtempSync(join(tmpdir(), 'penv-diff-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const env = {
  PATH: process.env.PATH ?? '',
  HOME: base,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CEILING_DIRECTORIES: dirname(base),
}

type Tool = [name: string, args: string[]]
const GIT: Tool = ['git', ['apply', '--whitespace=nowarn', '-p1', '-']]
const PATCH: Tool = ['patch', ['-p1', '--silent', '--binary', '--no-backup-if-mismatch']]
const hasPatch = existsSync('/usr/bin/patch')

/** What a tool makes of `before` with the diff; undefined where the file is gone. */
function apply(
  [tool, args]: Tool,
  path: string,
  before: string | undefined,
  diff: string,
): string | undefined {
  const directory = mkdtempSync(join(base, 'tree-'))
  const file = join(directory, path)
  mkdirSync(dirname(file), { recursive: true })
  if (before !== undefined) writeFileSync(file, before)
  execFileSync(tool, args, { cwd: directory, env, input: diff, stdio: ['pipe', 'pipe', 'pipe'] })
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

const ROWS: [title: string, before: string | undefined, after: string | undefined][] = [
  ['a new file', undefined, '#!/bin/sh\nset -eu\n'],
  ['a new file without an end of line', undefined, '{}'],
  ['a file that goes', '#!/bin/sh\nset -eu\n', undefined],
  ['one line of many', 'a\nb\nc\nd\ne\nf\ng\nh\n', 'a\nb\nc\nX\ne\nf\ng\nh\n'],
  ['two places far apart', `A\n${'x\n'.repeat(20)}B\n`, `AA\n${'x\n'.repeat(20)}BB\n`],
  ['two places that share their context', `A\n${'x\n'.repeat(6)}B\n`, `AA\n${'x\n'.repeat(6)}BB\n`],
  ['an end of line that comes', 'a\nb', 'a\nb\n'],
  ['an end of line that goes', 'a\nb\n', 'a\nb'],
  ['CRLF', 'a\r\nb\r\n', 'a\r\nX\r\nb\r\n'],
  ['a byte order mark and text that is not ASCII', '\uFEFFä\n', '\uFEFFä\nö\n'],
  ['a text that becomes empty', 'a\n', ''],
  ['an empty text that is filled', '', 'a\n'],
  ['lines that look like a diff', '--- a\n+++ b\n', '--- a\n@@ -1 +1 @@\n+++ b\n'],
]

describe('a diff', () => {
  it.each(ROWS)('is taken by git and patch: %s', (_, before, after) => {
    const diff = composeDiff({ path: 'dir/file', before, after, isExecutable: false })
    for (const tool of hasPatch ? [GIT, PATCH] : [GIT])
      expect(apply(tool, 'dir/file', before, diff), tool[0]).toBe(after)
  })

  it.each([
    'with space',
    'tab\there',
    'new\nline',
    'quote"',
    'back\\slash',
    'ümlaut',
    "it's",
    '-dash',
    'b/b',
  ])('is taken for a file called %j', path => {
    for (const [before, after] of [
      [undefined, 'a\n'],
      ['a\n', 'b\n'],
      ['a\n', undefined],
    ])
      expect(apply(GIT, path, before, composeDiff({ path, before, after, isExecutable: true }))).toBe(after)
  })

  it('gives a new script its run bit', () => {
    const directory = mkdtempSync(join(base, 'tree-'))
    const diff = composeDiff({ path: 'x.sh', before: undefined, after: '#!/bin/sh\n', isExecutable: true })
    execFileSync('git', ['apply', '-'], { cwd: directory, env, input: diff })
    expect(statSync(join(directory, 'x.sh')).mode & 0o111).toBe(0o111)
  })

  it('is nothing where nothing differs', () => {
    expect(composeDiff({ path: 'x', before: 'a', after: 'a', isExecutable: false })).toBe('')
    expect(composeDiff({ path: 'x', before: undefined, after: undefined, isExecutable: false })).toBe('')
  })

  it('shows a line that is added to a long file as one line with its context', () => {
    const lines = Array.from({ length: 5_000 }, (_, n) => `${n}\n`)
    const after = [...lines.slice(0, 2_500), 'new\n', ...lines.slice(2_500)].join('')
    expect(
      composeDiff({ path: 'x', before: lines.join(''), after, isExecutable: false }).split('\n'),
    ).toEqual([
      'diff --git a/x b/x',
      '--- a/x',
      '+++ b/x',
      '@@ -2498,6 +2498,7 @@',
      ...[' 2497', ' 2498', ' 2499', '+new', ' 2500', ' 2501', ' 2502'],
      '',
    ])
  })

  it('is made of texts that have nothing in common', () => {
    const many = (word: string) => Array.from({ length: 20_000 }, (_, n) => `${word}${n}\n`).join('')
    const diff = composeDiff({ path: 'x', before: many('a'), after: many('b'), isExecutable: false })
    expect(apply(GIT, 'x', many('a'), diff)).toBe(many('b'))
  })

  it('leads from any text to any other', () => {
    const line = fc.constantFrom('a\n', 'b\n', 'c\r\n', '\n', ' \n')
    const text = fc
      .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom('', 'end'))
      .map(([lines, end]) => lines.join('') + end)
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = composeDiff({ path: 'x', before, after, isExecutable: false })
        if (before !== after) expect(apply(GIT, 'x', before, diff)).toBe(after)
      }),
      { numRuns: 60 },
    )
  })
})
