import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { quoteForShell } from '../../src/core/shell-words.ts'

describe('a word for the shell', () => {
  it.each(['login_k3v9xa', '/home/u/shop-login', 'a=b', 'user@host:/p', '41000', '%+,'])(
    'stays bare where it may: %s',
    word => {
      expect(quoteForShell(word)).toBe(word)
    },
  )

  it.each([
    '',
    ' ',
    'my tree',
    "it's",
    '"quoted"',
    '$HOME',
    '`id`',
    '$(id)',
    'a\nb',
    '\\',
    '-rf',
    '~',
    '~/x',
    '*',
    '?',
    '[a]',
    '{a,b}',
    'a;b',
    'a&b',
    'a|b',
    '#c',
    '!x',
    'тест',
    '日本',
    '🦊',
    'é',
    "''''",
  ])('is read back by sh as it was: %j', word => {
    const read = execFileSync('/bin/sh', ['-c', `printf '%s.' ${quoteForShell(word)}`], { encoding: 'utf8' })
    expect(read).toBe(`${word}.`)
  })
})
