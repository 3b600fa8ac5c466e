import { describe, expect, it } from 'vitest'
import { formatEnvValue, readEnvBody } from '../../src/core/env-value.ts'
import { quoteForShell } from '../../src/core/shell-words.ts'
import { PenvError } from '../../src/errors.ts'

describe('the written form of a value', () => {
  it.each([
    ['', ''],
    ['41000', '41000'],
    ['postgres://u:p@h:5432/d', 'postgres://u:p@h:5432/d'],
    ['a=b==', 'a=b=='],
    ['a+b,c%20-d', 'a+b,c%20-d'],
    ['=a', "'=a'"],
    ['postgres://u:p@h/d?x=1&y=2', "'postgres://u:p@h/d?x=1&y=2'"],
    ['ab#cd', "'ab#cd'"],
    ['a #b', "'a #b'"],
    ['pa$word', "'pa$word'"],
    ['${HOME}', "'${HOME}'"],
    ['a`id`b', "'a`id`b'"],
    ['say "hi"', `'say "hi"'`],
    ['a!b', "'a!b'"],
    ['~/x', "'~/x'"],
    [' a ', "' a '"],
    ['a\tb', "'a\tb'"],
    ['a\nPORT=9\nb', "'a\nPORT=9\nb'"],
    ['a\\nb', "'a\\nb'"],
    ['é', "'é'"],
    ["it's", `"it's"`],
    ["it's a #1\nline", `"it's a #1\nline"`],
  ])('writes %j as %j', (value, written) => {
    expect(formatEnvValue('K', value)).toBe(written)
    expect(readEnvBody(written)).toBe(value)
  })

  it.each([
    ['a\0b', /NUL/],
    ['a\r', /carriage return/],
    ['a\r\nb', /carriage return/],
    ['a\\', /ends in a backslash/],
    [`s3c'"x`, /single quote together/],
    ["s3c'$x", /single quote together/],
    ["s3c'`x", /single quote together/],
    ["s3c'\\x", /single quote together/],
    ['s3c\uFFFD', /Unicode/],
    ['s3c\uD800', /Unicode/],
  ])('refuses %j, naming the key and never the value', (value, reason) => {
    const error = catchError(() => formatEnvValue('TOKEN', value))
    expect(error).toMatchObject({ code: 'ENV_VALUE', exit: 9, details: { key: 'TOKEN' } })
    expect(error.message).toMatch(reason)
    expect(error.message).toContain('"TOKEN"')
    expect(JSON.stringify(error) + error.message + error.facts).not.toMatch(/s3c/)
  })

  it.each(['', '1BAD', 'A B', 'A.B', 'A-B', 'É', ' A', 'A\n', 'postgres://u:s3c@h/d?x'])(
    'refuses the key %j and repeats no text that may be a secret',
    key => {
      const error = catchError(() => formatEnvValue(key, 'x'))
      expect(error).toMatchObject({ code: 'USAGE', exit: 2 })
      expect(error.message).not.toContain('s3c')
    },
  )

  it.each([
    ['plain', 'plain'],
    ['', "''"],
    ["it's", "'it'\\''s'"],
    ['a b', "'a b'"],
    ['=a', "'=a'"],
  ])('quotes %j for sh as %j', (text, quoted) => {
    expect(quoteForShell(text)).toBe(quoted)
  })
})

function catchError(action: () => unknown): PenvError {
  try {
    action()
  } catch (error) {
    if (error instanceof PenvError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
