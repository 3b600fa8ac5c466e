import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  editBlock,
  findBlocks,
  HASH_MARKS,
  HTML_MARKS,
  type Marks,
} from '../../src/core/wiring/marked-block.ts'

const BODY = 'one\n\ntwo'
const edit = (text: string | undefined, marks: Marks = HASH_MARKS) => editBlock(text, BODY, marks)
const block = (body = BODY) => `# >>> penv >>>\n${body}\n# <<< penv <<<`

const line = fc.constantFrom(
  '',
  ' ',
  'text',
  '\ttext ',
  '# comment',
  '# >>> other >>>',
  '```',
  'penv',
  '<!-- x -->',
  'ü',
)
const texts = fc
  .record({
    lines: fc.array(line, { maxLength: 6 }),
    eol: fc.constantFrom('\n', '\r\n'),
    end: fc.constantFrom('', 'EOL', 'EOLEOL', 'EOL EOL'),
    bom: fc.constantFrom('', '\uFEFF'),
  })
  .map(({ lines, eol, end, bom }) => bom + (lines.join('EOL') + end).replaceAll('EOL', eol))

describe('a block in a file of somebody else', () => {
  it('is put in once, and taken out without a trace', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(HASH_MARKS, HTML_MARKS), (text, marks) => {
        const first = edit(text, marks)
        expect(first).toMatchObject({ status: 'missing', removed: text })
        expect(edit(first.applied, marks)).toEqual({
          status: 'current',
          applied: first.applied,
          removed: text,
        })
        expect(first.applied.startsWith(text)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  it('is replaced in place, and what stands around it is kept', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const text = edit(before).applied.replace('two', 'an older form')
        const around = text.endsWith('\n') ? text + after.replace('\uFEFF', '') : text
        const outcome = edit(around)
        expect(outcome.status).toBe('stale')
        expect(outcome.applied).toBe(around.replace('an older form', 'two'))
      }),
      { numRuns: 200 },
    )
  })

  it('has the line endings of the file', () => {
    expect(edit('a\r\nb\r\n').applied).toBe(`a\r\nb\r\n\r\n${block().replaceAll('\n', '\r\n')}\r\n`)
  })

  it('is current whatever line endings the file was checked out with', () => {
    const text = edit('a\n').applied.replaceAll('\n', '\r\n')
    expect(edit(text)).toMatchObject({ status: 'current', applied: text, removed: 'a\r\n' })
  })

  it('makes a file of its own, which goes as a whole', () => {
    const fresh = edit(undefined)
    expect(fresh).toEqual({ status: 'missing', applied: `${block()}\n`, removed: null })
    expect(edit(fresh.applied)).toMatchObject({ status: 'current', removed: null })
    expect(edit(`${block('old')}\n`)).toMatchObject({
      status: 'stale',
      applied: fresh.applied,
      removed: null,
    })
  })

  it('leaves an empty file where there was one', () => {
    expect(edit('').removed).toBe('')
    expect(edit(edit('').applied).removed).toBe('')
  })

  it('is kept once when it is there twice', () => {
    const text = `a\n\n${block('old')}\n\nb\n\n${block()}\n`
    expect(edit(text)).toEqual({ status: 'double', applied: `a\n\n${block()}\n\nb\n`, removed: 'a\n\nb\n' })
  })

  it('counts as double beside a line that does the same, and goes for it', () => {
    const holds = (rest: string) => rest.includes('by hand')
    expect(editBlock('by hand\n', BODY, HASH_MARKS, holds).status).toBe('current')
    expect(editBlock(`by hand\n\n${block()}\n`, BODY, HASH_MARKS, holds)).toMatchObject({
      status: 'double',
      applied: 'by hand\n',
    })
  })

  it.each([
    ['no end', 'a\n# >>> penv >>>\nb\n', 'line 2'],
    ['no beginning', 'a\n# <<< penv <<<\n', 'line 2'],
    ['two beginnings', `# >>> penv >>>\n${block()}\n`, 'line 1'],
  ])('is left alone when it has %s', (_, text, where) => {
    const outcome = edit(text)
    expect(outcome).toMatchObject({ status: 'invalid', applied: text, removed: text })
    expect(outcome.reason).toContain(where)
  })

  it('is not found in a line that only mentions its mark', () => {
    expect(findBlocks('see `# >>> penv >>>` there\n', HASH_MARKS)).toEqual({ blocks: [] })
  })
})
