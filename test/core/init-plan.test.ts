import { describe, expect, it } from 'vitest'
import { findStandingMode, planPreviewFiles, requireSameMode } from '../../src/core/init/init-plan.ts'

const texts = (files: Record<string, string>) => new Map(Object.entries(files))
const entries = (files: Record<string, string>) =>
  new Map(
    Object.entries(files).map(([name, text]) => [
      name,
      text === NO_TEXT ? { problem: 'it is no file' } : { text },
    ]),
  )
const NO_TEXT = '\0'
const plan = (
  wanted: Record<string, string>,
  other: Record<string, string>,
  existing: Record<string, string>,
  isForced: boolean,
) =>
  planPreviewFiles(texts(wanted), texts(other), entries(existing), isForced).map(
    ({ name, action }) => `${action} ${name}`,
  )

describe('the plan for .preview/', () => {
  it.each<[string, Parameters<typeof plan>, string[]]>([
    ['creates what is missing', [{ a: '1' }, {}, {}, false], ['create a']],
    ['leaves what is the same', [{ a: '1' }, {}, { a: '1' }, false], ['current a']],
    ['leaves what is the same under --force', [{ a: '1' }, {}, { a: '1' }, true], ['current a']],
    ['keeps what differs', [{ a: '1' }, {}, { a: '2' }, false], ['keep a']],
    ['keeps an empty file', [{ a: '1' }, {}, { a: '' }, false], ['keep a']],
    ['replaces what differs under --force', [{ a: '1' }, {}, { a: '2' }, true], ['update a']],
    ['keeps what is no text, even under --force', [{ a: '1' }, {}, { a: NO_TEXT }, true], ['keep a']],
    ["keeps the other way's file that is no text", [{}, { b: '1' }, { b: NO_TEXT }, true], ['keep b']],
    ["never speaks of a person's other files", [{ a: '1' }, {}, { a: '1', mine: 'x' }, true], ['current a']],
    ["leaves the other way's files without --force", [{}, { b: '1' }, { b: '1' }, false], []],
    ["removes the other way's files under --force", [{}, { b: '1' }, { b: '1' }, true], ['delete b']],
    ["keeps the other way's file that was changed", [{}, { b: '1' }, { b: '2' }, true], ['keep b']],
    ['writes a file of both ways once', [{ a: '1' }, { a: '2' }, { a: '2' }, true], ['update a']],
  ])('%s', (_, args, expected) => {
    expect(plan(...args)).toEqual(expected)
  })
})

describe('the way that the scripts in .preview/ go', () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ['an own project by its compose file', { 'compose.yaml': '', 'servers.sh': '' }, 'own'],
    ['shared servers by servers.sh', { 'servers.sh': '' }, 'shared'],
    ['no way by scripts of a person', { 'provision.sh': '' }, undefined],
    ['no way by nothing', {}, undefined],
  ])('is %s', (_, files, expected) => {
    expect(findStandingMode(entries(files))).toBe(expected)
  })

  it('is changed by --force only', () => {
    expect(() => requireSameMode('own', 'shared', false)).toThrow(
      expect.objectContaining({ code: 'USAGE', hint: expect.stringContaining('--compose shared --force') }),
    )
    requireSameMode('own', 'shared', true)
    requireSameMode('own', 'own', false)
    requireSameMode(undefined, 'own', false)
  })
})
