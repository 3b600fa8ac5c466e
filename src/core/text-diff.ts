// Unified diffs in git's form, which `git apply` and `patch -p1` take. Pure, so that no setting of git, no attribute and
// no temporary directory has a part in what is shown.

const CONTEXT = 3
/** Beyond this many changed lines two texts have little in common, and one is shown as replaced by the other. */
const MAX_CHANGES = 500

export interface FileChange {
  readonly path: string
  /** Undefined: the file does not exist. */
  readonly before: string | undefined
  readonly after: string | undefined
  readonly isExecutable: boolean
}

interface Line {
  readonly mark: ' ' | '-' | '+'
  /** With its line ending, which the last line may lack. */
  readonly text: string
}

/** The empty text where nothing differs. */
export function composeDiff({ path, before, after, isExecutable }: FileChange): string {
  if (before === after) return ''
  const [old, fresh] = [quotePath(`a/${path}`), quotePath(`b/${path}`)]
  const mode = isExecutable ? '100755' : '100644'
  const lines = compareLines(splitLines(before ?? ''), splitLines(after ?? ''))
  const body = composeHunks(lines)
  const names = [
    `--- ${before === undefined ? '/dev/null' : closeName(old)}\n`,
    `+++ ${after === undefined ? '/dev/null' : closeName(fresh)}\n`,
  ]
  return [
    `diff --git ${old} ${fresh}\n`,
    ...(before === undefined ? [`new file mode ${mode}\n`] : []),
    ...(after === undefined ? [`deleted file mode ${mode}\n`] : []),
    ...(body === '' ? [] : [...names, body]),
  ].join('')
}

function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** As git spells a path with characters that would end it or its line. */
function quotePath(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be quoted
  if (!/["\\\u0000-\u001f\u007f]/.test(path)) return path
  const quoted = path
    .replace(/["\\]/g, '\\$&')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be quoted
    .replace(/[\u0000-\u001f\u007f]/g, char => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)
  return `"${quoted}"`
}

/** A name with a space is told from a time behind it by a tab. */
function closeName(name: string): string {
  return name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name
}

function composeHunks(lines: readonly Line[]): string {
  const changed = lines.flatMap(({ mark }, at) => (mark === ' ' ? [] : [at]))
  let text = ''
  for (let first = 0; first < changed.length; ) {
    let last = first
    while (
      last + 1 < changed.length &&
      (changed[last + 1] as number) - (changed[last] as number) <= 2 * CONTEXT
    )
      last++
    const start = Math.max(0, (changed[first] as number) - CONTEXT)
    const end = Math.min(lines.length, (changed[last] as number) + CONTEXT + 1)
    text += composeHunk(lines, start, end)
    first = last + 1
  }
  return text
}

function composeHunk(lines: readonly Line[], start: number, end: number): string {
  const count = (mark: Line['mark'], from: number, to: number) =>
    lines.slice(from, to).filter(line => line.mark === ' ' || line.mark === mark).length
  const range = (mark: Line['mark']) => {
    const length = count(mark, start, end)
    // An empty range is placed behind the line before it.
    return `${count(mark, 0, start) + (length === 0 ? 0 : 1)},${length}`
  }
  const body = lines
    .slice(start, end)
    .map(({ mark, text }) => `${mark}${text}${text.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`)
  return `@@ -${range('-')} +${range('+')} @@\n${body.join('')}`
}

function compareLines(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++
  const same = (text: string): Line => ({ mark: ' ', text })
  return [
    ...before.slice(0, head).map(same),
    ...findShortestEdit(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ]
}

/** Myers' greedy search (An O(ND) difference algorithm, 1986): `reach[k]` is how far diagonal k has come. */
function findShortestEdit(before: readonly string[], after: readonly string[]): Line[] {
  const most = before.length + after.length
  const reach = new Map<number, number>([[1, 0]])
  const trail: Map<number, number>[] = []
  const at = (k: number) => reach.get(k) ?? -1
  for (let changes = 0; changes <= Math.min(most, MAX_CHANGES); changes++) {
    trail.push(new Map(reach))
    for (let k = -changes; k <= changes; k += 2) {
      let x = k === -changes || (k !== changes && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++
      reach.set(k, x)
      if (x >= before.length && x - k >= after.length) return walkBack(before, after, trail)
    }
  }
  return [
    ...before.map((text): Line => ({ mark: '-', text })),
    ...after.map((text): Line => ({ mark: '+', text })),
  ]
}

function walkBack(
  before: readonly string[],
  after: readonly string[],
  trail: readonly ReadonlyMap<number, number>[],
): Line[] {
  const lines: Line[] = []
  let [x, y] = [before.length, after.length]
  for (let changes = trail.length - 1; changes >= 0; changes--) {
    const reach = trail[changes] as ReadonlyMap<number, number>
    const at = (k: number) => reach.get(k) ?? -1
    const k = x - y
    const from = k === -changes || (k !== changes && at(k - 1) < at(k + 1)) ? k + 1 : k - 1
    const fromX = changes === 0 ? 0 : at(from)
    const fromY = changes === 0 ? 0 : fromX - from
    for (; x > fromX && y > fromY; x--, y--) lines.push({ mark: ' ', text: before[x - 1] as string })
    if (changes === 0) break
    if (x > fromX) lines.push({ mark: '-', text: before[--x] as string })
    else lines.push({ mark: '+', text: after[--y] as string })
  }
  return lines.reverse()
}
