import { describe, expect, it } from 'vitest'
import { boundText, findParseObstacle } from '../../src/core/stack/text-bounds.ts'

describe('a text that patterns read', () => {
  it('is the very text where a person wrote it', () => {
    const text = `a\n\n\n${'b'.repeat(1_000)}\n`
    expect(boundText(text)).toBe(text)
  })

  it('has its long lines cut, and every line keeps its number', () => {
    const bound = boundText(`a\n${'b'.repeat(50_000)}\nc`).split('\n')
    expect(bound.map(({ length }) => length)).toEqual([1, 1_000, 1])
    expect(bound[2]).toBe('c')
  })

  it.each(['\n', ' \n', '\t\n'])('ends before thousands of lines of %j', blank => {
    const text = `a\n${blank.repeat(1_000)}b\n`
    expect(boundText(text)).toBe(text)
    expect(boundText(`a\n${blank.repeat(100_000)}b\n`).length).toBeLessThan(3_000)
  })
})

describe('a text for a parser', () => {
  it.each<[string, string, boolean]>([
    ['a document', 'services:\n  db: {image: "postgres:16", ports: ["5432:5432"]}\n', false],
    ['a template with many braces', '{{ a }}\n'.repeat(5_000), false],
    ['more closing brackets than opening ones', `${']'.repeat(5_000)}[`, false],
    ['a hundred brackets in brackets', '['.repeat(100), false],
    ['thousands of brackets in brackets', '[\n'.repeat(5_000), true],
    ['brackets and braces in turn', '[{'.repeat(100), true],
    ['a line without end', 'a'.repeat(20_001), true],
  ])('is judged: %s', (_, text, isRefused) => {
    expect(findParseObstacle(text) !== undefined).toBe(isRefused)
  })
})
