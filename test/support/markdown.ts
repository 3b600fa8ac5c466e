// Takes a Markdown document apart as far as tests of documents need it: sections, tables, code.

export interface Heading {
  level: number
  title: string
  line: number
}

const FENCE = /^```/

/** The headings, without lines of code blocks that look like some. */
export function headingsOf(text: string): Heading[] {
  let isCode = false
  return text.split('\n').flatMap((content, line) => {
    if (FENCE.test(content)) isCode = !isCode
    const match = isCode ? null : /^(#+) (.+)$/.exec(content)
    return match?.[1] && match[2] ? [{ level: match[1].length, title: plain(match[2]), line }] : []
  })
}

/** What stands below a heading, up to the next one of its level or above. */
export function sectionOf(text: string, title: string): string {
  const headings = headingsOf(text)
  const at = headings.findIndex(heading => heading.title === title)
  const heading = headings[at]
  if (heading === undefined) throw new Error(`the document has no section "${title}"`)
  const next = headings.slice(at + 1).find(other => other.level <= heading.level)
  return text
    .split('\n')
    .slice(heading.line + 1, next?.line)
    .join('\n')
}

/** The rows of the first table, without its head; each row is its cells. */
export function tableOf(text: string): string[][] {
  const rows: string[][] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('|'))
      rows.push(
        line
          .slice(1, line.lastIndexOf('|'))
          .split('|')
          .map(cell => cell.trim()),
      )
    else if (rows.length > 0) break
  }
  if (rows.length < 3) throw new Error('there is no table with rows here')
  return rows.slice(2)
}

/** The texts between backquotes, outside of code blocks. */
export function codeSpansOf(text: string): string[] {
  return [...withoutCodeBlocks(text).matchAll(/`([^`]+)`/g)].map(match => match[1] as string)
}

export function codeBlocksOf(text: string): { language: string; text: string }[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(match => ({
    language: match[1] as string,
    text: match[2] as string,
  }))
}

export function withoutCodeBlocks(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '')
}

/** The anchor that a heading has on the usual renderers. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

function plain(title: string): string {
  return title.replaceAll('`', '').trim()
}
