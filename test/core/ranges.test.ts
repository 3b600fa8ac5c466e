import { describe, expect, it } from 'vitest'
import {
  formatRange,
  isInRange,
  looksLikeRange,
  parseIndexRange,
  parsePortRange,
  rangesOverlap,
  sizeOfRange,
} from '../../src/core/ranges.ts'

describe('a range that a person types', () => {
  it.each([
    ['41000-41009', 41000, 41009],
    ['41000', 41000, 41000],
    ['41000-41000', 41000, 41000],
    ['1-65535', 1, 65535],
  ])('reads the port range %s', (word, first, last) => {
    expect(parsePortRange(word)).toEqual({ first, last })
  })

  it.each([
    ['0-15', 0, 15],
    ['1-15', 1, 15],
    ['7', 7, 7],
    ['0-2147483647', 0, 2147483647],
  ])('reads the index range %s', (word, first, last) => {
    expect(parseIndexRange(word)).toEqual({ first, last })
  })

  it.each([
    '41010-41000',
    '0-10',
    '0',
    '70000-70001',
    '65535-65536',
    '65536',
    '41000-',
    '-41000',
    '41000--41009',
    '41000-41009-41019',
    '41000:41009',
    '41000..41009',
    '41000,41001',
    '41000-41009 ',
    ' 41000',
    '4.1e4',
    '41e3',
    '0x10',
    '1_000',
    '１-２',
    '99999999999999999999',
    '1-99999999999999999999',
    'abc',
    'a-b',
    '',
  ])('refuses "%s" for ports as a usage error that quotes it', word => {
    expect(() => parsePortRange(word)).toThrow(
      expect.objectContaining({ code: 'USAGE', exit: 2, message: expect.stringContaining(`"${word}"`) }),
    )
  })

  it.each(['15-1', '1-', '-1', '1-2147483648', '3000000000', 'all', ''])(
    'refuses "%s" for indexes as a usage error that quotes it',
    word => {
      expect(() => parseIndexRange(word)).toThrow(
        expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(`"${word}"`) }),
      )
    },
  )

  it('is told from the name of an allocation by its first character', () => {
    expect(['41000', '1-2', '0', '9x'].map(looksLikeRange)).toEqual([true, true, true, true])
    expect(['web', '_1', '', '-5', 'a-b'].map(looksLikeRange)).toEqual([false, false, false, false, false])
  })

  it('is written back as it was typed', () => {
    expect(['41000-41009', '41000', '1-15'].map(word => formatRange(parsePortRange(word)))).toEqual([
      '41000-41009',
      '41000',
      '1-15',
    ])
  })
})

describe('a range', () => {
  const range = { first: 3, last: 5 }

  it('includes both ends', () => {
    expect(sizeOfRange(range)).toBe(3)
    expect([2, 3, 4, 5, 6].filter(value => isInRange(value, range))).toEqual([3, 4, 5])
  })

  it.each([
    [1, 2, false],
    [1, 3, true],
    [4, 4, true],
    [1, 9, true],
    [5, 9, true],
    [6, 9, false],
  ])('compared with %i-%i overlaps: %s', (first, last, overlaps) => {
    expect(rangesOverlap(range, { first, last })).toBe(overlaps)
    expect(rangesOverlap({ first, last }, range)).toBe(overlaps)
  })
})
