import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinEnvText, parseEnvText } from '../../src/core/env-entries.ts'
import { findStamp, mergeEnvText, readEnvVariables, renderExports } from '../../src/core/env-file.ts'

const merge = (text: string, set: Record<string, string>, unset: string[] = []) =>
  mergeEnvText(text, { set: new Map(Object.entries(set)), unset })

const pem = 'KEY="-----BEGIN\nPORT=9\n-----END"\n'

describe('merging', () => {
  it.each<[promise: string, before: string, set: Record<string, string>, after: string]>([
    ['starts a file', '', { A: '1' }, 'A=1\n'],
    ['changes one line', '# c\nA=1\n\nB=2\n', { A: '9' }, '# c\nA=9\n\nB=2\n'],
    ['adds one line', 'A=1\n', { B: '2', C: '3' }, 'A=1\nB=2\nC=3\n'],
    ['leaves a key that is commented out', '# PORT=1\n', { PORT: '2' }, '# PORT=1\nPORT=2\n'],
    ['ends an unfinished last line first', 'A=1', { B: '2' }, 'A=1\nB=2\n'],
    ['changes an unfinished last line', 'A=1\nB=2', { B: '3' }, 'A=1\nB=3'],
    ['keeps trailing spaces of other lines', 'A=1  \nB=2\n', { B: '3' }, 'A=1  \nB=3\n'],
    ['keeps CRLF', 'A=1\r\nB=2\r\n', { B: '3', C: '4' }, 'A=1\r\nB=3\r\nC=4\r\n'],
    ['keeps CRLF after an unfinished line', 'A=1\r\nB=2', { C: '4' }, 'A=1\r\nB=2\r\nC=4\r\n'],
    ['keeps each line its own ending', 'A=1\r\nB=2\nC=3\n', { A: '7', B: '8' }, 'A=7\r\nB=8\nC=3\n'],
    ['changes an empty value before CRLF', 'A=\r\nB=2\r\n', { A: '1' }, 'A=1\r\nB=2\r\n'],
    ['finds the first key behind a BOM', '\uFEFFA=1\nB=2\n', { A: '9' }, '\uFEFFA=9\nB=2\n'],
    ['keeps a BOM in front', '\uFEFF', { A: '9' }, '\uFEFFA=9\n'],
    ['keeps `export`', 'export A=1\n', { A: '2' }, 'export A=2\n'],
    ['keeps a comment on the line', 'A=1  # web\n', { A: 'x y' }, "A='x y'  # web\n"],
    ['keeps a comment that quotes', `A='1' # it's "x\nB=2\n`, { A: '2' }, `A=2 # it's "x\nB=2\n`],
    ['keeps indentation', '  A=1\n', { A: '2' }, '  A=2\n'],
    ['writes a line that sh can read', 'A = 1\n\texport\tB=2\n', { A: '2', B: '3' }, 'A=2\nexport B=3\n'],
    ['takes `KEY: value` for the key', 'A: 1\nB: 2\n', { A: '2' }, 'A=2\nB: 2\n'],
    ['keeps the last of a key, and its place', 'A=1\nB=2\nA=3\nC=4\n', { A: '5' }, 'B=2\nA=5\nC=4\n'],
    ['drops earlier places even for the same value', 'A=1\nB=2\nA=3\n', { A: '3' }, 'B=2\nA=3\n'],
    ['keeps duplicates of other keys', 'A=1\nA=2\nB=1\n', { B: '2' }, 'A=1\nA=2\nB=2\n'],
    ['leaves a block alone', pem, { PORT: '41000' }, `${pem}PORT=41000\n`],
    ['replaces a block by a line', `A=1\n${pem}B=2\n`, { KEY: 'x' }, 'A=1\nKEY=x\nB=2\n'],
    ['replaces a line by a block', 'K=1\nB=2\n', { K: 'a\nB=3' }, "K='a\nB=3'\nB=2\n"],
    [
      'finds a block that goes on after its quote',
      'A="x\nB=1"y\nC=2\n',
      { B: '5' },
      'A="x\nB=1"y\nC=2\nB=5\n',
    ],
    ['finds a block in CRLF', 'K="a\r\nB=1"\r\nB=2\r\n', { B: '3' }, 'K="a\r\nB=1"\r\nB=3\r\n'],
    [
      'sees no block in a quote inside a word',
      "A=it's\nB=2\nC=don't\n",
      { B: '3' },
      "A=it's\nB=3\nC=don't\n",
    ],
    ['sees no block in a quote left open', 'A="x\nB=2\n', { B: '3' }, 'A="x\nB=3\n'],
    ['keeps unknown lines', 'what is this\nA=1\n', { A: '2' }, 'what is this\nA=2\n'],
    ['sets an empty value', 'A=1\n', { A: '' }, 'A=\n'],
    // Measured: Node 22 reads `export A=` as a key with a space, Compose reads `A= # c` as a value.
    ['quotes an empty value after export', 'export A=1\n', { A: '' }, "export A=''\n"],
    ['quotes an empty value before a comment', 'A=1 # c\n', { A: '' }, "A='' # c\n"],
    // Measured: Node 20 glues these to the next key; Node 22 takes the next line for the value.
    ['adds before a last line without =', 'A=1\nhello\n', { B: '2' }, 'A=1\nB=2\nhello\n'],
    ['adds before a last line with a colon', 'A=1\nB: 2\n', { C: '2' }, 'A=1\nC=2\nB: 2\n'],
    ['adds before a last unfinished line', 'A=1\nhello', { B: '2' }, 'A=1\nB=2\nhello'],
    ['adds before a last indented comment', 'A=1\n  # c\n\n', { B: '2' }, 'A=1\nB=2\n  # c\n\n'],
    ['adds before a last empty value with a space', 'A=1\nC= \n', { B: '2' }, 'A=1\nB=2\nC= \n'],
    ['takes hash signs in words for the value', 'A=ab#cd # e\n', { A: '1' }, 'A=1 # e\n'],
    ['takes a comment without a value for a comment', 'A= # c\n', { A: '1' }, 'A=1 # c\n'],
    [
      'takes keys of objects for keys',
      '',
      { constructor: '1', toString: '2' },
      'constructor=1\ntoString=2\n',
    ],
  ])('%s', (_, before, set, after) => {
    expect(merge(before, set)).toBe(after)
    expect(merge(after, set)).toBe(after)
  })

  it.each<[line: string, value: string]>([
    ['A=1', '1'],
    ['A=', ''],
    ["A='1'", '1'],
    ['A="1"', '1'],
    ["A=''", ''],
    ['A="x y"', 'x y'],
    ["A='x y'   ", 'x y'],
    ['A="x\ny" # c', 'x\ny'],
    ['  export A="it\'s" # c', "it's"],
    ['export A=""', ''],
  ])('leaves %j alone when it says the value already', (line, value) => {
    expect(merge(`${line}\nB=1\n`, { A: value })).toBe(`${line}\nB=1\n`)
  })

  it.each<[line: string, value: string, after: string]>([
    ['A= 1', '1', 'A=1'],
    ['A=x y', 'x y', "A='x y'"],
    ['A=ab#cd', 'ab#cd', "A='ab#cd'"],
    ['A="$x"', '$x', "A='$x'"],
    ['A=`x`', 'x', 'A=x'],
    ['A=1\t', '1', 'A=1'],
    ['A=1\t# c', '1', 'A=1 # c'],
    ['export A=', '', "export A=''"],
    ["A='x\\'", 'y', 'A=y'],
  ])('rewrites %j, which readers disagree about', (line, value, after) => {
    expect(merge(`${line}\n`, { A: value })).toBe(`${after}\n`)
  })

  it('unsets every place of a key and nothing else', () => {
    expect(merge(`A=1\n${pem}export A=2\n# A=3\nB=1\n`, {}, ['A', 'KEY', 'NONE'])).toBe('# A=3\nB=1\n')
    expect(merge('A=1\nB=2', {}, ['B'])).toBe('A=1\n')
  })

  it('writes nothing when one of several pairs is refused', () => {
    expect(() => merge('A=1\n', { A: '2', B: 'x\r' })).toThrow(expect.objectContaining({ code: 'ENV_VALUE' }))
    expect(() => merge('A=1\n', { A: '2', 'B C': 'x' })).toThrow(expect.objectContaining({ code: 'USAGE' }))
    expect(() => merge('A=1\n', { A: '2' }, ['1B'])).toThrow(expect.objectContaining({ code: 'USAGE' }))
    expect(() => merge('A=1\n', { A: '2' }, ['A'])).toThrow(expect.objectContaining({ code: 'USAGE' }))
  })

  it('refuses to write below an open quote that would swallow the line', () => {
    expect(() => merge('A="foo\n', { K: "it's" })).toThrow(
      expect.objectContaining({ code: 'ENV_FILE', exit: 9, details: { key: 'K' } }),
    )
  })

  it('takes any text apart without losing a byte', () => {
    const piece = fc.constantFrom(
      'A',
      'B_1',
      '=',
      ' = ',
      ': ',
      '"',
      "'",
      '`',
      '\\',
      '#',
      ' ',
      '\t',
      '\n',
      '\r\n',
      '\r',
    )
    const text = fc
      .array(fc.oneof(piece, fc.constantFrom('export ', '\uFEFF', 'x', '$', '\u2028')))
      .map(l => l.join(''))
    fc.assert(
      fc.property(text, text => {
        expect(joinEnvText(parseEnvText(text))).toBe(text)
        expect(merge(text, {})).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('reading', () => {
  it('sees what dotenv sees, the first key behind a BOM, and keys that objects have', async () => {
    const text = `\uFEFFA=1\n__proto__='x __proto__'\nexport B="x\\ny"\nC=ab#cd\nA=2\nconstructor=3\n`
    expect(new Map(await readEnvVariables(text))).toEqual(
      new Map([
        ['A', '2'],
        ['__proto__', 'x __proto__'],
        ['B', 'x\ny'],
        ['C', 'ab'],
        ['constructor', '3'],
      ]),
    )
  })

  it.each([
    ['PENV_ID=login_k3v9xa\n', 'login_k3v9xa'],
    ['A=1\r\nexport PENV_ID="login_k3v9xa"\r\n', 'login_k3v9xa'],
    ['PENV_ID=a\nPENV_ID=b\n', 'b'],
    ['# PENV_ID=a\n', undefined],
    ['PENV_ID=\n', undefined],
    ['K="\nPENV_ID=a\n"\n', undefined],
    ['', undefined],
  ])('finds the stamp of %j', (text, stamp) => {
    expect(findStamp(text)).toBe(stamp)
  })

  it('renders lines for eval, without keys that sh cannot hold', () => {
    const variables = new Map([
      ['A', "it's\n$x"],
      ['a.b', 'x'],
      ['C', '1'],
      ['1D', 'x'],
    ])
    expect(renderExports(variables)).toBe("export A='it'\\''s\n$x'\nexport C=1\n")
  })
})
