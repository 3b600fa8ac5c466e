// Finds the statements of TOML text with their offsets. The text has been parsed before, so this may trust its
// syntax; it must not decide what a value means, smol-toml does.

export interface TomlPair {
  kind: 'pair'
  /** The key as a whole, with the table's name before it. */
  path: readonly string[]
  start: number
  valueStart: number
  valueEnd: number
}
export interface TomlHeader {
  kind: 'table' | 'array'
  path: readonly string[]
  start: number
  /** Offset after the closing bracket. */
  valueEnd: number
}
export type TomlStatement = TomlPair | TomlHeader

const STRING = /"""(?:\\[\s\S]|[^\\])*?"""+|'''[\s\S]*?'''+|"(?:\\.|[^"\\\r\n])*"|'[^'\r\n]*'/y
const KEY_PART = /[ \t]*(?:("(?:\\.|[^"\\])*")|'([^']*)'|([\w-]+))[ \t]*(\.)?/y

function readKey(text: string, from: number): { path: string[]; end: number } {
  const path: string[] = []
  KEY_PART.lastIndex = from
  for (let part = KEY_PART.exec(text); part; part = KEY_PART.exec(text)) {
    path.push(part[1] === undefined ? (part[2] ?? part[3] ?? '') : unescapeKey(part[1]))
    if (part[4] === undefined) return { path, end: part.index + part[0].length }
  }
  return { path, end: from }
}

function unescapeKey(quoted: string): string {
  try {
    return JSON.parse(quoted)
  } catch {
    return quoted
  }
}

/** Offset after the value that starts at `from`: all that may follow it on its line is a comment. */
function endOfValue(text: string, from: number): number {
  let depth = 0
  let end = from
  for (let at = from; at < text.length; ) {
    const char = text[at] as string
    STRING.lastIndex = at
    if (STRING.test(text)) at = end = STRING.lastIndex
    else if (depth === 0 && /[\r\n#]/.test(char)) return end
    else if (char === '#') at = lineEnd(text, at)
    else {
      if (char === '[' || char === '{') depth++
      if (char === ']' || char === '}') depth--
      at++
      if (/\S/.test(char)) end = at
    }
  }
  return end
}

/** Offset of the line ending (or the end of the text) at or after `from`. */
export function lineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from)
  if (at < 0) return text.length
  return text[at - 1] === '\r' && at > from ? at - 1 : at
}

export function scanToml(text: string): readonly TomlStatement[] {
  const statements: TomlStatement[] = []
  let table: readonly string[] = []
  for (let at = 0; at < text.length; ) {
    const char = text[at] as string
    if (char === '#') at = lineEnd(text, at)
    else if (/\s|\uFEFF/.test(char)) at++
    else if (char === '[') {
      const isArray = text[at + 1] === '['
      const { path, end } = readKey(text, at + (isArray ? 2 : 1))
      const valueEnd = end + (isArray ? 2 : 1)
      statements.push({ kind: isArray ? 'array' : 'table', path, start: at, valueEnd })
      table = path
      at = valueEnd
    } else {
      const { path, end } = readKey(text, at)
      const gap = /=[ \t]*/y
      gap.lastIndex = end
      if (!gap.test(text)) return statements
      const valueStart = gap.lastIndex
      const valueEnd = endOfValue(text, valueStart)
      statements.push({ kind: 'pair', path: [...table, ...path], start: at, valueStart, valueEnd })
      at = lineEnd(text, valueEnd)
    }
  }
  return statements
}
