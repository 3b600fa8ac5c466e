import { describe, expect, it } from 'vitest'
import {
  emptyLedger,
  formatLedger,
  lookUp,
  parseLedger,
  requireRecord,
  withEntry,
  withoutEntry,
  withRecord,
} from '../../src/core/ledger.ts'
import { makeLedger, makeRecord } from '../support/records.ts'

const whole = makeLedger([
  makeRecord('a_1', {
    ports: { web: 41000 },
    indexes: { redis: { value: 1, pool: 'default', range: '1-15' } },
    names: { preview: 'preview_a_1' },
  }),
])

/** The text of a ledger with one thing changed. */
function textWith(
  change: (ledger: Record<string, unknown>, record: Record<string, unknown>) => void,
): string {
  const copy = JSON.parse(formatLedger(whole))
  change(copy, copy.environments.a_1)
  return JSON.stringify(copy)
}

describe('the text of a ledger', () => {
  it('is read back as it was written', () => {
    expect(parseLedger(formatLedger(whole))).toEqual({ ledger: whole })
    expect(parseLedger(formatLedger(emptyLedger()))).toEqual({ ledger: emptyLedger() })
  })

  it('keeps fields that this version does not know, at every level', () => {
    const text = textWith((ledger, record) => {
      ledger.later = { a: 1 }
      record.later = [1]
    })
    const parsed = parseLedger(text)
    if (!('ledger' in parsed)) throw new Error('not read')
    const next = withRecord(parsed.ledger, makeRecord('b_2'))
    expect(JSON.parse(formatLedger(next))).toMatchObject({
      later: { a: 1 },
      environments: { a_1: { later: [1] }, b_2: {} },
    })
  })

  it('of a newer version is told as such, whatever else it holds', () => {
    expect(parseLedger('{"version":2,"worlds":[]}')).toEqual({ newerVersion: 2 })
  })

  it.each<[string, string]>([
    ['nothing', ''],
    ['a line break', '\n'],
    ['the first half', formatLedger(whole).slice(0, formatLedger(whole).length / 2)],
    ['all but the end', formatLedger(whole).slice(0, -3)],
    ['zero bytes', '\0'.repeat(64)],
    ['two documents', formatLedger(whole).repeat(2)],
    ['a list', '[]'],
    ['null', 'null'],
    ['a text', '"ledger"'],
    ['a number', '1'],
    ['an empty object', '{}'],
    ['no version', textWith(ledger => delete ledger.version)],
    ['a version that is text', textWith(ledger => Object.assign(ledger, { version: '1' }))],
    ['a version before the first', textWith(ledger => Object.assign(ledger, { version: 0 }))],
    ['a broken version', textWith(ledger => Object.assign(ledger, { version: 1.5 }))],
    ['no environments', textWith(ledger => delete ledger.environments)],
    ['environments in a list', textWith(ledger => Object.assign(ledger, { environments: [] }))],
    ['environments that are null', textWith(ledger => Object.assign(ledger, { environments: null }))],
    ['templates in a list', textWith(ledger => Object.assign(ledger, { templates: [] }))],
    ['no approved', textWith(ledger => delete ledger.approved)],
    ['released in an object', textWith(ledger => Object.assign(ledger, { released: {} }))],
    ['a record that is null', textWith(ledger => Object.assign(ledger, { environments: { a_1: null } }))],
    ['a record without nonce', textWith((_, record) => delete record.nonce)],
    ['a record without root', textWith((_, record) => delete record.root)],
    ['a record with a root that is a number', textWith((_, record) => Object.assign(record, { root: 7 }))],
    ['a record under another id', textWith((_, record) => Object.assign(record, { id: 'b_2' }))],
    ['a record without ports', textWith((_, record) => delete record.ports)],
    ['ports in a list', textWith((_, record) => Object.assign(record, { ports: [41000] }))],
    ['a port that is text', textWith((_, record) => Object.assign(record, { ports: { web: '41000' } }))],
    ['a port that is null', textWith((_, record) => Object.assign(record, { ports: { web: null } }))],
    ['an index that is a number', textWith((_, record) => Object.assign(record, { indexes: { redis: 1 } }))],
    ['an index that is null', textWith((_, record) => Object.assign(record, { indexes: { redis: null } }))],
    [
      'an index without pool',
      textWith((_, record) => Object.assign(record, { indexes: { redis: { value: 1, range: '1-15' } } })),
    ],
    ['a name that is a number', textWith((_, record) => Object.assign(record, { names: { preview: 1 } }))],
    ['a run that is text', textWith((_, record) => Object.assign(record, { run: 'up' }))],
    ['a last run that is a list', textWith((_, record) => Object.assign(record, { lastRun: [] }))],
  ])('with %s is damage, said in words', (_, text) => {
    expect(parseLedger(text)).toEqual({ damage: expect.stringMatching(/\w/) })
  })

  it.each(['../victim', '', 'A', 'a/b', '.', 'a b', '-x'])(
    'with the id %j is damage: ids become parts of paths',
    id => {
      const text = JSON.stringify(makeLedger([makeRecord(id)]))
      expect(parseLedger(text)).toEqual({ damage: expect.stringMatching(/id/) })
    },
  )
})

describe('a table of names', () => {
  const NAMES = ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', 'web']

  it.each(NAMES)('knows %s only after it was set, and no longer after it was taken out', name => {
    const before: Record<string, number> = { other: 1 }
    expect(lookUp(before, name)).toBeUndefined()
    const after = withEntry(before, name, 7)
    expect(lookUp(after, name)).toBe(7)
    expect(Object.getPrototypeOf(after)).toBe(Object.prototype)
    expect(lookUp(JSON.parse(JSON.stringify(after)) as Record<string, number>, name)).toBe(7)
    expect(lookUp(withoutEntry(after, name), name)).toBeUndefined()
    expect(lookUp(withoutEntry(after, name), 'other')).toBe(1)
    expect(before).toEqual({ other: 1 })
  })

  it('keeps an odd name when another is set or taken out', () => {
    const odd = withEntry<number>({}, '__proto__', 7)
    expect(lookUp(withEntry(odd, 'web', 1), '__proto__')).toBe(7)
    expect(lookUp(withoutEntry(withEntry(odd, 'web', 1), 'web'), '__proto__')).toBe(7)
  })
})

describe('an id that a person types', () => {
  it('finds its record', () => {
    expect(requireRecord(whole, 'a_1').id).toBe('a_1')
  })

  it.each(['a_2', '', '../a_1', 'a_1/', 'A_1', '__proto__', 'constructor', 'toString'])(
    'is looked up and nothing else: %j is no environment',
    id => {
      expect(() => requireRecord(whole, id)).toThrow(
        expect.objectContaining({ code: 'NO_ENVIRONMENT', exit: 5, details: { id } }),
      )
    },
  )
})
