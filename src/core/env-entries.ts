// Takes the text of an env file apart into entries that, joined again, are the same text.
// It decides what belongs together (a quoted value over several lines is one entry) and must never lose a byte.

export interface EnvVariable {
  key: string
  /** Everything before the key, as it stands: indentation and `export`. */
  prefix: string
  exported: boolean
  /** From the key to the value: `=`, ` = ` or the `: ` that dotenv and Compose read too. */
  separator: string
  /** The value as it is written, with its quotes. */
  body: string
  /** What follows the value: spaces and a comment. */
  tail: string
}

export interface EnvEntry {
  kind: 'variable' | 'comment' | 'blank' | 'unknown'
  raw: string
  eol: '' | '\n' | '\r\n'
  variable?: EnvVariable
}

export interface EnvText {
  bom: '' | '\uFEFF'
  entries: EnvEntry[]
}

const HEAD = /([ \t]*(?:(export)[ \t]+)?)([\w.-]+)([ \t]*=[ \t]*|:[ \t]+)/y
const AFTER_QUOTE = /[ \t]*(?:#[^\n]*)?(?=\r?\n|\r?$)/y

export function parseEnvText(text: string): EnvText {
  const bom = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const entries: EnvEntry[] = []
  for (let at = bom.length; at < text.length; ) {
    const entry = readEntry(text, at)
    entries.push(entry)
    at += entry.raw.length + entry.eol.length
  }
  return { bom, entries }
}

export function joinEnvText({ bom, entries }: EnvText): string {
  return bom + entries.map(entry => entry.raw + entry.eol).join('')
}

function readEntry(text: string, at: number): EnvEntry {
  HEAD.lastIndex = at
  const head = HEAD.exec(text)
  if (head === null) {
    const { line, eol } = lineFrom(text, at, at)
    const kind = /^[ \t]*$/.test(line) ? 'blank' : /^[ \t]*#/.test(line) ? 'comment' : 'unknown'
    return { kind, raw: line, eol }
  }
  const [matched, prefix = '', exported, key = '', separator = ''] = head
  const valueAt = at + matched.length
  const quoteEnd = findQuoteEnd(text, valueAt)
  const { line: raw, eol } = lineFrom(text, at, quoteEnd ?? valueAt)
  const rest = raw.slice(matched.length)
  const variable = { key, prefix, exported: exported !== undefined, ...splitValue(separator, rest) }
  return { kind: 'variable', raw, eol, variable }
}

/** The text from `at` to the end of the line that holds `inside`, and how that line ends. */
function lineFrom(text: string, at: number, inside: number): { line: string; eol: EnvEntry['eol'] } {
  const newline = text.indexOf('\n', inside)
  if (newline === -1) return { line: text.slice(at), eol: '' }
  // A value may itself begin at the line's end, so that the carriage return lies before `inside`.
  const isCrlf = newline > at && text[newline - 1] === '\r'
  return { line: text.slice(at, isCrlf ? newline - 1 : newline), eol: isCrlf ? '\r\n' : '\n' }
}

function splitValue(separator: string, rest: string): Pick<EnvVariable, 'separator' | 'body' | 'tail'> {
  const quoteEnd = findQuoteEnd(rest, 0)
  if (quoteEnd !== undefined && isQuoteClosed(rest, quoteEnd))
    return { separator, body: rest.slice(0, quoteEnd + 1), tail: rest.slice(quoteEnd + 1) }
  if (quoteEnd !== undefined) return { separator, body: rest, tail: '' }
  // `KEY= # text`: the space before the comment belongs to the comment.
  if (rest.startsWith('#') && /[ \t]$/.test(separator)) {
    const bare = separator.trimEnd()
    return { separator: bare, body: '', tail: separator.slice(bare.length) + rest }
  }
  const end = /[ \t]+(?:#.*)?$/s.exec(rest)?.index ?? rest.length
  return { separator, body: rest.slice(0, end), tail: rest.slice(end) }
}

/**
 * Where the quote that opens at `start` closes. As dotenv reads it: a quote after a backslash does not close
 * unless no other does. As sh and Node read it: the first quote closes even when text follows it, because
 * no line in between may be taken for a variable of its own.
 */
export function findQuoteEnd(text: string, start: number): number | undefined {
  const quote = text[start]
  if (quote !== "'" && quote !== '"' && quote !== '`') return undefined
  let escaped: number | undefined
  for (let at = text.indexOf(quote, start + 1); at !== -1; at = text.indexOf(quote, at + 1)) {
    const closed = isQuoteClosed(text, at)
    if (text[at - 1] !== '\\') return closed ? at : (escaped ?? at)
    if (closed) escaped = at
  }
  return escaped
}

function isQuoteClosed(text: string, at: number): boolean {
  AFTER_QUOTE.lastIndex = at + 1
  return AFTER_QUOTE.test(text)
}

/** The keys in their order, each once. Keys only: values may be secrets. */
export function listEnvKeys(text: string): string[] {
  return [...new Set(parseEnvText(text).entries.flatMap(({ variable }) => variable?.key ?? []))]
}
