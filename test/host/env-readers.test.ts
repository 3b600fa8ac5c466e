// The written file is read by the real programs. Many cases share one start of each: their keys differ.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'dotenv'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { parseEnvText } from '../../src/core/env-entries.ts'
import { mergeEnvText, readEnvVariables, renderExports } from '../../src/core/env-file.ts'
import { formatEnvValue } from '../../src/core/env-value.ts'

const directory = mkdtempSync(join(tmpdir(), 'penv-readers-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Case {
  lines: { key?: string; text: string }[]
  isFinished: boolean
  pairs: Map<string, string>
}

const NASTY = [
  '\\',
  '\\n',
  "'",
  '"',
  '`',
  '$',
  '${HOME}',
  '$(id)',
  '#',
  ' #',
  ' ',
  '\t',
  '\n',
  '\nK1=no\n',
  '=',
  '!',
  '&',
  ';',
  '|',
  '<',
  '(',
  '*',
  '~',
  '%',
  '{',
  '\u00a0',
  '\u2028',
  '\u0001',
  'é',
  '\r',
  '\0',
]
const value = fc
  .array(fc.oneof(fc.constantFrom(...NASTY), fc.string({ maxLength: 3 })), { maxLength: 6 })
  .map(parts => parts.join(''))

const KEYS = ['K1', 'K2', 'K3', 'K4', 'K5']
// Lines that all readers agree about, so that what they say about our lines is ours alone.
const line = fc.oneof(
  fc.constantFrom('', '# K1=no', "# it's \"K2='", '#', '#K3="').map(text => ({ text })),
  fc
    .record({
      key: fc.constantFrom(...KEYS, 'OTHER'),
      indent: fc.constantFrom('', '', '  '),
      exported: fc.constantFrom('', '', 'export '),
      written: fc.constantFrom(
        '1',
        "'a b'",
        '"a b"',
        "'m\nK1=no\nK2=\"\n# x'",
        '"m\n\nK3=\'no"',
        "''",
        'a=b',
      ),
      tail: fc.constantFrom('', '', ' ', ' # c', ' # it\'s "c'),
    })
    .map(({ key, indent, exported, written, tail }) => ({
      key,
      text: `${indent}${exported}${key}=${written}${tail}`,
    })),
)

const cases = fc.array(
  fc.record<Case>({
    lines: fc.array(line, { maxLength: 7 }),
    isFinished: fc.boolean(),
    pairs: fc
      .array(fc.tuple(fc.constantFrom(...KEYS), value), { minLength: 1, maxLength: 4 })
      .map(pairs => new Map(pairs)),
  }),
  { minLength: 30, maxLength: 60 },
)

/** Keys of different cases must not meet where one process reads all files. */
function separate({ lines, isFinished, pairs }: Case, index: number) {
  const own = (key: string) => `C${index}_${key}`
  const chunks = lines.map(({ key, text }) => ({
    key: key === undefined ? undefined : own(key),
    text: key === undefined ? text : text.replace(`${key}=`, `${own(key)}=`),
  }))
  const before = chunks.map(({ text }) => text).join('\n') + (isFinished && chunks.length > 0 ? '\n' : '')
  return { chunks, before, pairs: new Map([...pairs].map(([key, text]) => [own(key), text])) }
}

function isWritable(text: string): boolean {
  try {
    formatEnvValue('K', text)
    return true
  } catch {
    return false
  }
}

function readWithSh(files: readonly string[]): Record<string, string> {
  const script = 'set -a; for file do . "$file" || exit; done; exec "$NODE" -p "JSON.stringify(process.env)"'
  return JSON.parse(
    execFileSync('/bin/sh', ['-c', script, 'sh', ...files], {
      env: { NODE: process.execPath },
      encoding: 'utf8',
    }),
  )
}

function readWithNode(files: readonly string[]): Record<string, string> {
  const flags = files.map(file => `--env-file=${file}`)
  return JSON.parse(
    execFileSync(process.execPath, [...flags, '-p', 'JSON.stringify(process.env)'], {
      env: {},
      encoding: 'utf8',
    }),
  )
}

const pick = (all: Record<string, string>, keys: Iterable<string>) =>
  Object.fromEntries([...keys].map(key => [key, all[key]]))

describe('a merged file', () => {
  it('gives the pairs back to sh, dotenv and node, keeps every other byte, and merging again changes nothing', () => {
    fc.assert(
      fc.property(cases, cases => {
        const files: string[] = []
        const wanted = new Map<string, string>()
        for (const { chunks, before, pairs } of cases.map(separate)) {
          const set = new Map([...pairs].filter(([, text]) => isWritable(text)))
          if (set.size < pairs.size)
            expect(() => mergeEnvText(before, { set: pairs, unset: [] })).toThrow(
              expect.objectContaining({ code: 'ENV_VALUE' }),
            )
          const after = mergeEnvText(before, { set, unset: [] })
          expect(mergeEnvText(after, { set, unset: [] })).toBe(after)
          expect(pick(parse(after), set.keys())).toEqual(Object.fromEntries(set))
          const others = parseEnvText(after).entries.filter(({ variable }) => !set.has(variable?.key ?? ''))
          const kept = chunks.filter(({ key }) => !set.has(key ?? ''))
          // An empty last piece is no line.
          expect(
            others
              .map(({ raw }) => raw)
              .join('\n')
              .trimEnd(),
          ).toBe(
            kept
              .map(({ text }) => text)
              .join('\n')
              .trimEnd(),
          )
          const file = join(directory, `${files.length}.env`)
          writeFileSync(file, after)
          files.push(file)
          for (const [key, text] of set) wanted.set(key, text)
        }
        const expected = Object.fromEntries(wanted)
        expect(pick(readWithSh(files), wanted.keys())).toEqual(expected)
        expect(pick(readWithNode(files), wanted.keys())).toEqual(expected)
      }),
      { numRuns: 30 },
    )
  })

  it('gives the pairs back to dotenv and node in files with CRLF and unknown lines at the end', () => {
    const odd = fc.constantFrom('hello', '  # c', '\t', 'KEY: x y', 'two words', '')
    fc.assert(
      fc.property(cases, fc.array(odd, { maxLength: 3 }), (cases, tail) => {
        const files: string[] = []
        const wanted = new Map<string, string>()
        for (const { before, pairs } of cases.map(separate)) {
          const set = new Map([...pairs].filter(([, text]) => isWritable(text)))
          const text = [before.replace(/\n$/, ''), ...tail].join('\n').replaceAll('\n', '\r\n')
          const after = mergeEnvText(text, { set, unset: [] })
          expect(mergeEnvText(after, { set, unset: [] })).toBe(after)
          expect(pick(parse(after), set.keys())).toEqual(Object.fromEntries(set))
          const file = join(directory, `${files.length}.env`)
          writeFileSync(file, after)
          files.push(file)
          for (const [key, text] of set) wanted.set(key, text)
        }
        expect(pick(readWithNode(files), wanted.keys())).toEqual(Object.fromEntries(wanted))
      }),
      { numRuns: 20 },
    )
  })

  it('gives sh the same through the lines for eval', async () => {
    const set = new Map([
      ['A', "it's"],
      ['B', 'a\n$HOME `id` "x" \\ \\n #'],
      ['C', ''],
      ['D', 'é\u00a0 '],
    ])
    const script = 'eval "$LINES_"; exec "$NODE" -p "JSON.stringify(process.env)"'
    const env = { NODE: process.execPath, LINES_: renderExports(set) }
    const seen = JSON.parse(execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' }))
    expect(pick(seen, set.keys())).toEqual(Object.fromEntries(set))
    expect(await readEnvVariables(mergeEnvText('', { set: new Map([['A', "it's"]]), unset: [] }))).toEqual(
      new Map([['A', "it's"]]),
    )
  })
})
