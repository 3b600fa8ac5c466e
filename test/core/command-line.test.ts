import { describe, expect, it } from 'vitest'
import { countCommand, findSuffix, isOnlyCommand, suffixFor } from '../../src/core/wiring/command-line.ts'

describe('a call of penv in a command line', () => {
  it.each([
    ['penv up', 1],
    ['npm ci && penv up', 1],
    ['/opt/my bin/penv up --seed', 1],
    ['git penv up; penv up', 2],
    ['(penv up)', 1],
    ['penv up\npenv up', 2],
    ['npm ci # penv up', 0],
    ['penv update', 0],
    ['mypenv up', 0],
    ['echo "penv-up"', 0],
    ['penv  up', 0],
    ['', 0],
  ])('is counted in %j: %i', (line, count) => {
    expect(countCommand(line, 'penv up')).toBe(count)
  })

  it.each([
    ['penv up', true],
    ['penv up --seed', true],
    [' penv up', false],
    ['/opt/bin/penv up', true],
    ['npm ci && penv up', false],
    ['penv up; rm -rf x', false],
    ['penv up $(x)', false],
  ])('stands alone in %j: %s', (line, alone) => {
    expect(isOnlyCommand(line, 'penv up')).toBe(alone)
  })
})

describe('a command that joins a line', () => {
  it.each([
    ['npm ci', 'npm ci && penv up'],
    ['a; b || c', 'a; b || c && penv up'],
    ['', ' penv up'],
    ['  ', '   penv up'],
    ['a\nb', 'a\nb\npenv up'],
    ['a\nb\n', 'a\nb\npenv up\n'],
    ['a # note\nb', 'a # note\nb\npenv up'],
    ['echo "#1"', 'echo "#1" && penv up'],
  ])('runs after %j, and leaves it as it was', (line, joined) => {
    const made = suffixFor(line, 'penv up')
    expect(made).toHaveProperty('suffix')
    if (!('suffix' in made)) return
    expect(line + made.suffix).toBe(joined)
    expect(countCommand(joined, 'penv up')).toBe(1)
    expect(findSuffix(joined, 'penv up')).toBe(made.suffix)
  })

  it.each([
    'npm ci &',
    'npm ci;',
    'npm ci \\',
    'npm ci |',
    'npm ci # all of it',
    'cat <<X',
    'exit 0',
    'a\nexec zsh',
    'a &&\nb &&',
    'a\nb \\\n',
  ])('is refused by %j', line => {
    expect(suffixFor(line, 'penv up')).toHaveProperty('refused')
  })

  it.each(['penv up', 'penv up && npm ci', 'npm ci || penv up'])(
    'is not found in %j, which it did not join',
    line => expect(findSuffix(line, 'penv up')).toBeUndefined(),
  )
})
