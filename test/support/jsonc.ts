// Generates JSON text with comments as people keep it: any spacing, comments, trailing commas, CRLF, tabs, BOM.
import fc from 'fast-check'

type Tree = { object: [string, Tree][] } | { array: Tree[] } | { leaf: string }

export interface Shape {
  /** Keys that are likely, so that the edits meet what they look for. */
  keys: readonly string[]
  /** Leaves as they are written. */
  leaves?: readonly string[]
}

const LEAVES = ['1', '-0.5e3', 'true', 'null', '""', '"a // b"', '"/* c */, ]"', '"\\u0041\\n\\""', '"ü 😀"']

function trees({ keys, leaves = [] }: Shape): fc.Arbitrary<Tree> {
  const key = fc.constantFrom(...keys, ...keys, 'other', '__proto__', 'ключ', '')
  return fc.letrec<{ tree: Tree; object: Tree }>(tie => ({
    object: fc
      .uniqueArray(fc.tuple(key, tie('tree')), { maxLength: 4, selector: ([name]) => name })
      .map(object => ({ object })),
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(...LEAVES, ...leaves).map(leaf => ({ leaf })),
      fc.array(tie('tree'), { maxLength: 3 }).map(array => ({ array })),
      tie('object'),
    ),
  })).object
}

const blank = fc.constantFrom('', '', ' ', '  ', '\t', 'EOL', 'EOL  ', 'EOL\t', 'EOLEOL')
const comment = fc.constantFrom(
  '/* note */',
  '/**/',
  '/* two\n lines, ] } */',
  '// to the endEOL',
  '// "a": 1,  EOL',
  '//EOL  ',
)

export interface JsonText {
  text: string
  isStrict: boolean
}

/** Text of an object; strict texts have neither comments nor trailing commas. */
export function jsonTexts(shape: Shape): fc.Arbitrary<JsonText> {
  return fc
    .record({
      tree: trees(shape),
      isStrict: fc.boolean(),
      gaps: fc.array(fc.tuple(blank, fc.option(comment, { freq: 3 }), blank), {
        minLength: 1,
        maxLength: 24,
      }),
      commas: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
      eol: fc.constantFrom('\n', '\r\n'),
      bom: fc.constantFrom('', '', '\uFEFF'),
    })
    .map(({ tree, isStrict, gaps, commas, eol, bom }) => {
      let gapAt = 0
      let commaAt = 0
      const gap = () => {
        const [before, note, after] = gaps[gapAt++ % gaps.length] as [string, string | null, string]
        return before + (isStrict ? '' : (note ?? '')) + after
      }
      const trailing = (count: number) =>
        !isStrict && count > 0 && commas[commaAt++ % commas.length] ? `,${gap()}` : ''
      const list = (parts: string[], open: string, close: string) =>
        `${open}${gap()}${parts.map(part => part + gap()).join(`,${gap()}`)}${trailing(parts.length)}${close}`
      const render = (node: Tree): string => {
        if ('leaf' in node) return node.leaf
        if ('array' in node) return list(node.array.map(render), '[', ']')
        const pairs = node.object.map(
          ([key, value]) => `${JSON.stringify(key)}${gap()}:${gap()}${render(value)}`,
        )
        return list(pairs, '{', '}')
      }
      const text = bom + (gap() + render(tree) + gap()).replaceAll('EOL', eol)
      return { text, isStrict }
    })
}
