import { describe, expect, it } from 'vitest'
import { parsePair, parsePairs } from '../../src/core/env-pairs.ts'

describe('a pair given as an argument', () => {
  it.each([
    ['TOKEN=a=b==', 'TOKEN', 'a=b=='],
    ['URL=postgres://u:p@h/d?x=1&y=2', 'URL', 'postgres://u:p@h/d?x=1&y=2'],
    ['EMPTY=', 'EMPTY', ''],
    ['P=a #b', 'P', 'a #b'],
    ['Q="kept"', 'Q', '"kept"'],
    ['S= x ', 'S', ' x '],
    ['_a1=x\ny', '_a1', 'x\ny'],
    ['__proto__=x', '__proto__', 'x'],
  ])('reads %j', (argument, key, value) => {
    expect(parsePair(argument)).toEqual([key, value])
  })

  it.each(['NOEQ', '1BAD=x', 'A B=x', '=x', '', ' A=x', 'export A=x', 'A.B=x', 'A-B=x', 'Ä=x'])(
    'refuses %j as a usage error',
    argument => {
      expect(() => parsePair(argument)).toThrow(expect.objectContaining({ code: 'USAGE', exit: 2 }))
    },
  )

  it('does not repeat an argument that may be a part of a password', () => {
    expect(() => parsePair('s3cret')).toThrow(/^(?!.*s3cret)/)
    expect(() => parsePair('u:s3cret@h?x=1')).toThrow(/^(?!.*s3cret)/)
  })
})

describe('pairs on stdin', () => {
  it.each([
    ['', {}],
    ['A=1\nB=2\n', { A: '1', B: '2' }],
    ['A=1\r\nB=2', { A: '1', B: '2' }],
    ['\uFEFFA=1\n', { A: '1' }],
    ['# c\n\n  \nA=1\n  # d\n', { A: '1' }],
    ['export A=1\n  export B=2\n', { A: '1', B: '2' }],
    ['A="x y"\nB=\'p $q\'\n', { A: 'x y', B: 'p $q' }],
    ['A="l1\nPORT=9\nl3"\nB=2\n', { A: 'l1\nPORT=9\nl3', B: '2' }],
    ['A="x\\ny"\nB=\'x\\ny\'\n', { A: 'x\ny', B: 'x\\ny' }],
    ['A=\nB=\n', { A: '', B: '' }],
    ['A=1\nA=2\n', { A: '2' }],
    ['A=pa$word\n', { A: 'pa$word' }],
    ['A=ab#cd\n', { A: 'ab#cd' }],
    ['A=#abc\n', { A: '#abc' }],
    ['A=3000 # the web port\n', { A: '3000' }],
    ['A="x y" # c\n', { A: 'x y' }],
    ['A=a b c  \n', { A: 'a b c' }],
    ['A={"k":"v","n":[1, 2]}\n', { A: '{"k":"v","n":[1, 2]}' }],
    ["A=it's\n", { A: "it's" }],
    ['A=postgres://u:p@h/d?x=1&y=2\n', { A: 'postgres://u:p@h/d?x=1&y=2' }],
  ])('reads %j', (text, pairs) => {
    expect(Object.fromEntries(parsePairs(text))).toEqual(pairs)
  })

  it('keeps a key that objects have', () => {
    expect([...parsePairs('__proto__=1\nconstructor=2\n')]).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ])
  })

  it.each([
    ['A=1\ns3cret\n', 2],
    ['s3cret=\n1BAD=s3cret\n', 2],
    ['A=1\n\n# c\nA B=s3cret\n', 4],
    ['A.B=s3cret\n', 1],
    ['A="s3cret\n', 1],
    ['A="s3cret" more\n', 1],
    ["A='x\ny\nz'\nB='s3cret\n", 4],
    ['A=1\r\nB=2\r\ns3cret\r\n', 3],
    ['A: s3cret\n', 1],
    ['=s3cret\n', 1],
  ])('refuses %j and names line %i, never its text', (text, line) => {
    expect(() => parsePairs(text)).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringMatching(new RegExp(`line ${line} `)) }),
    )
    expect(() => parsePairs(text)).toThrow(/^(?!.*s3cret)/)
  })
})
