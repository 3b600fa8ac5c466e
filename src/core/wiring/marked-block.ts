// One marked block in a text file that belongs to somebody else: put in once, replaced in place, taken out.
// It must never change a byte outside of the block, and what it put in it takes out without a trace.
import { leaveAlone, type WiringOutcome } from './wiring-outcome.ts'

/** The two lines, whole, that enclose the block. */
export interface Marks {
  begin: string
  end: string
}

export const HTML_MARKS: Marks = { begin: '<!-- penv:begin -->', end: '<!-- penv:end -->' }
export const HASH_MARKS: Marks = { begin: '# >>> penv >>>', end: '# <<< penv <<<' }

export interface Block {
  /** Offset of the first byte of the begin mark's line. */
  start: number
  /** Offset after the end mark's line, without its line ending. */
  end: number
  /** What stands between the marks, with `\n` line endings. */
  body: string
}

export type Blocks = { blocks: readonly Block[] } | { problem: string }

/** The line ending that most lines of `text` have; `\n` where there is none. */
export function lineEndingOf(text: string): '\r\n' | '\n' {
  const windows = text.split('\r\n').length - 1
  return windows * 2 > text.split('\n').length - 1 ? '\r\n' : '\n'
}

/** Finds all blocks; a mark without its partner is a problem, because nobody can say what belongs to it. */
export function findBlocks(text: string, marks: Marks): Blocks {
  const blocks: Block[] = []
  let open: { start: number; lines: string[]; line: number } | undefined
  let offset = 0
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/\r$/, '')
    const bare = line.replace(/^\uFEFF/, '').trim()
    if (bare === marks.begin) {
      if (open) return { problem: `the mark "${marks.begin}" of line ${open.line} has no end` }
      open = { start: offset + (line.startsWith('\uFEFF') ? 1 : 0), lines: [], line: index + 1 }
    } else if (bare === marks.end) {
      if (!open) return { problem: `the mark "${marks.end}" of line ${index + 1} has no beginning` }
      blocks.push({ start: open.start, end: offset + line.length, body: open.lines.join('\n') })
      open = undefined
    } else open?.lines.push(line)
    offset += raw.length + 1
  }
  if (open) return { problem: `the mark "${marks.begin}" of line ${open.line} has no end` }
  return { blocks }
}

function render(body: string, marks: Marks, eol: string): string {
  return [marks.begin, ...body.split('\n'), marks.end].join(eol)
}

/**
 * Appends a block. A file that ends without a line ending keeps ending so: removal reads from it what was there.
 * `undefined` is a file that does not exist yet.
 */
export function appendBlock(text: string | undefined, body: string, marks: Marks): string {
  if (text === undefined) return `${render(body, marks, '\n')}\n`
  const eol = lineEndingOf(text)
  const block = render(body, marks, eol)
  if (text === '' || text === '\uFEFF') return text + block
  return text.endsWith('\n') ? `${text}${eol}${block}${eol}` : `${text}${eol}${eol}${block}`
}

function cutBlock(text: string, block: Block): string {
  const before = text.slice(0, block.start)
  const after = text.slice(block.end)
  const next = /^\r?\n/.exec(after)
  if (next) return before.replace(/(\n)\r?\n$/, '$1') + after.slice(next[0].length)
  return before.replace(/\r?\n\r?\n$/, '') + after
}

/** `text` without its blocks and without the blank line that came with each. */
export function removeBlocks(text: string, blocks: readonly Block[]): string {
  return blocks.toReversed().reduce(cutBlock, text)
}

/**
 * The block as a whole: its state, the text with it, and the text without it.
 * `standsElsewhere` says that the rest of the file already does what the block would do.
 */
export function editBlock(
  text: string | undefined,
  body: string,
  marks: Marks,
  standsElsewhere: (rest: string) => boolean = () => false,
): WiringOutcome {
  const fresh = appendBlock(undefined, body, marks)
  if (text === undefined) return { status: 'missing', applied: fresh, removed: null }
  const found = findBlocks(text, marks)
  if ('problem' in found) return leaveAlone('invalid', text, found.problem)
  const { blocks } = found
  const rest = removeBlocks(text, blocks)
  const removed = blocks.length > 0 && /^\uFEFF?$/.test(rest) && text.endsWith('\n') ? null : rest
  const elsewhere = standsElsewhere(rest)
  const [first, ...others] = blocks
  if (!first) {
    if (elsewhere) return leaveAlone('current', text, 'written by hand')
    const applied = appendBlock(text, body, marks)
    const again = findBlocks(applied, marks)
    if ('problem' in again || removeBlocks(applied, again.blocks) !== text)
      return leaveAlone('foreign', text, 'its last line ending cannot be kept')
    return { status: 'missing', applied, removed: text }
  }
  if (elsewhere) return { status: 'double', applied: removed ?? rest, removed }
  const isCurrent = first.body === body
  const eol = lineEndingOf(text.slice(first.start, first.end))
  const single = removeBlocks(text, others)
  const applied = isCurrent
    ? single
    : single.slice(0, first.start) + render(body, marks, eol) + single.slice(first.end)
  if (others.length > 0) return { status: 'double', applied, removed }
  return { status: isCurrent ? 'current' : 'stale', applied, removed }
}
