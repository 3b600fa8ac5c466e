import { describe, expect, it } from 'vitest'
import {
  composeTemplateName,
  decideTemplate,
  findSurplusTemplates,
  KEPT_TEMPLATES,
  parseTemplateInputs,
  type TemplateRecord,
} from '../../src/core/template.ts'

const REPO = '/r/.git'

/** `1a 2b`: file 1 with content a, file 2 with content b. */
const inputs = (words: string) =>
  Object.fromEntries(
    words
      .split(' ')
      .filter(Boolean)
      .map(word => [`migrations/${word[0]}.sql`, word.slice(1)]),
  )
const template = (name: string, words: string, more: Partial<TemplateRecord> = {}): TemplateRecord => ({
  name,
  repo: REPO,
  inputs: inputs(words),
  state: 'ready',
  builtAt: '2026-01-01',
  usedAt: '2026-01-01',
  ...more,
})

describe('the template of a new environment', () => {
  const ROWS: [title: string, ours: string, templates: TemplateRecord[], decision: unknown][] = [
    ['is built when there is none', '1a 2a', [], { kind: 'build' }],
    [
      'is the one with the same inputs, fresh',
      '1a 2a',
      [template('t', '1a 2a')],
      { kind: 'clone', name: 't', isFresh: true },
    ],
    [
      'is the one whose inputs are contained in ours, not fresh',
      '1a 2a 3a',
      [template('t', '1a 2a')],
      { kind: 'clone', name: 't', isFresh: false },
    ],
    [
      'is the largest contained one',
      '1a 2a 3a',
      [template('small', '1a'), template('large', '1a 2a'), template('middle', '2a')],
      { kind: 'clone', name: 'large', isFresh: false },
    ],
    [
      'is the same one before a contained one',
      '1a 2a',
      [template('small', '1a'), template('same', '1a 2a')],
      { kind: 'clone', name: 'same', isFresh: true },
    ],
    [
      'is the one used last of several that are the same',
      '1a',
      [template('old', '1a'), template('new', '1a', { usedAt: '2026-02-01' })],
      { kind: 'clone', name: 'new', isFresh: true },
    ],
    [
      'is built when ours is older: the template holds a migration that we lack',
      '1a',
      [template('t', '1a 2a')],
      { kind: 'build' },
    ],
    ['is built when the branches diverge', '1a 2b', [template('t', '1a 2a')], { kind: 'build' }],
    ['is built when a migration was changed', '1b 2a', [template('t', '1a 2a')], { kind: 'build' }],
    [
      'is the common ancestor’s when the newest diverges from ours',
      '1a 2b',
      [template('theirs', '1a 2a'), template('base', '1a')],
      { kind: 'clone', name: 'base', isFresh: false },
    ],
    [
      'is never one that is half-built',
      '1a',
      [template('t', '1a', { state: 'building' })],
      { kind: 'build' },
    ],
    [
      'is never another repository’s',
      '1a',
      [template('t', '1a', { repo: '/other/.git' })],
      { kind: 'build' },
    ],
    [
      'is one without inputs, where there are no inputs',
      '',
      [template('t', '')],
      { kind: 'clone', name: 't', isFresh: true },
    ],
    [
      'may be one without inputs, for any of ours',
      '1a',
      [template('t', '')],
      { kind: 'clone', name: 't', isFresh: false },
    ],
  ]
  it.each(ROWS)('%s', (_title, ours, templates, decision) => {
    expect(decideTemplate(templates, REPO, inputs(ours))).toEqual(decision)
    expect(decideTemplate([...templates].reverse(), REPO, inputs(ours))).toEqual(decision)
  })

  it('is not confused by paths that objects have by themselves', () => {
    const odd = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>
    expect(decideTemplate([template('t', '', { inputs: odd })], REPO, {})).toEqual({ kind: 'build' })
    expect(decideTemplate([template('t', '', { inputs: odd })], REPO, odd)).toEqual({
      kind: 'clone',
      name: 't',
      isFresh: true,
    })
  })
})

describe('templates that are kept', () => {
  it('are the three used last of a repository; builds and other repositories do not count', () => {
    const days = [1, 2, 3, 4, 5].map(day => template(`t${day}`, '1a', { usedAt: `2026-01-0${day}` }))
    const others = [
      template('b', '1a', { state: 'building', usedAt: '2025-01-01' }),
      template('o', '1a', { repo: '/other', usedAt: '2025-01-01' }),
    ]
    expect(
      findSurplusTemplates([...others, ...days], REPO)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['t1', 't2'])
    expect(findSurplusTemplates(days.slice(0, KEPT_TEMPLATES), REPO)).toEqual([])
  })
})

describe('the name of a template', () => {
  it('is one for every build, plain and short enough to be a database’s', () => {
    const names = [
      composeTemplateName(REPO, inputs('1a'), 'n1'),
      composeTemplateName(REPO, inputs('1a'), 'n2'),
      composeTemplateName(REPO, inputs('1b'), 'n1'),
      composeTemplateName('/other/.git', inputs('1a'), 'n1'),
    ]
    expect(new Set(names).size).toBe(4)
    for (const name of names) expect(name).toMatch(/^penv_tpl_[a-z0-9]{6}_[a-z0-9]{6}_[a-z0-9]{6}$/)
  })

  it('does not depend on the order in which the inputs were found', () => {
    expect(composeTemplateName(REPO, { a: '1', b: '2' }, 'n')).toBe(
      composeTemplateName(REPO, { b: '2', a: '1' }, 'n'),
    )
  })
})

describe('template.inputs', () => {
  it.each([
    ['prisma/migrations\npackage-lock.json\n', ['prisma/migrations', 'package-lock.json']],
    ['# all\n\n  db/*.sql  \r\n:!db/seed.sql', ['db/*.sql', ':!db/seed.sql']],
    ['', []],
  ])('%j lists pathspecs, one a line', (text, pathspecs) => {
    expect(parseTemplateInputs(text)).toEqual(pathspecs)
  })
})
