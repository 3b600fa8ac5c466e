// What no person writes: lines without end, thousands of blank lines, brackets in brackets. Patterns that look at pairs
// of places, and parsers that keep a stack, would take for ever on them. Pure.

const MAX_LINE_LENGTH = 1_000
const MAX_BLANK_LINES = 1_000
const MAX_PARSED_LINE_LENGTH = 20_000
const MAX_DEPTH = 100

/** The text as patterns may read it: long lines are cut, and it ends before too many blank lines. Lines keep their numbers. */
export function boundText(text: string): string {
  const lines = text.split('\n')
  let blank = 0
  const end = lines.findIndex(line => {
    blank = line.trim() === '' ? blank + 1 : 0
    return blank > MAX_BLANK_LINES
  })
  if (end < 0 && lines.every(({ length }) => length <= MAX_LINE_LENGTH)) return text
  return lines
    .slice(0, end < 0 ? undefined : end)
    .map(line => line.slice(0, MAX_LINE_LENGTH))
    .join('\n')
}

/** Why the text is not given to a parser that keeps a stack; undefined where it can be. */
export function findParseObstacle(text: string): string | undefined {
  if (text.split('\n').some(({ length }) => length > MAX_PARSED_LINE_LENGTH))
    return `a line is longer than ${MAX_PARSED_LINE_LENGTH} characters`
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = Math.max(0, depth + (bracket === '[' || bracket === '{' ? 1 : -1))
    if (depth > MAX_DEPTH) return `it is nested over ${MAX_DEPTH} deep`
  }
  return undefined
}
