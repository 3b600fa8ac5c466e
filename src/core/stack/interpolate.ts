// Resolves ${VAR:-default} and its relatives the way Compose does, and says which variables stood in a text.
// A variable that is not known is empty, as it is for Compose; nothing here ever fails.

export interface Interpolated {
  readonly text: string
  /** Names in the order they were met, nested defaults included. */
  readonly variables: readonly string[]
}

export type Variables = ReadonlyMap<string, string>

export function interpolate(raw: string, known: Variables): Interpolated {
  const variables: string[] = []
  return { text: expand(raw, known, variables, 0), variables }
}

function expand(raw: string, known: Variables, variables: string[], depth: number): string {
  let text = ''
  for (let at = 0; at < raw.length; at++) {
    if (raw[at] !== '$') {
      text += raw[at]
      continue
    }
    if (raw[at + 1] === '$') {
      text += '$'
      at++
      continue
    }
    const bare = /^[A-Za-z_]\w*/.exec(raw.slice(at + 1))
    if (bare !== null) {
      variables.push(bare[0])
      text += known.get(bare[0]) ?? ''
      at += bare[0].length
      continue
    }
    const end = raw[at + 1] === '{' ? closingBrace(raw, at + 2) : -1
    if (end < 0 || depth > 8) {
      text += '$'
      continue
    }
    text += expandBraced(raw.slice(at + 2, end), known, variables, depth)
    at = end
  }
  return text
}

function expandBraced(inner: string, known: Variables, variables: string[], depth: number): string {
  const match = /^([A-Za-z_]\w*)(?:(:?[-+?])([\s\S]*))?$/.exec(inner.trim())
  if (match === null) return ''
  const [, name, operator, rest = ''] = match as unknown as [string, string, string?, string?]
  variables.push(name)
  const value = known.get(name)
  const isSet = value !== undefined && (operator?.startsWith(':') !== true || value !== '')
  if (operator?.endsWith('-')) return isSet ? value : expand(rest, known, variables, depth + 1)
  if (operator?.endsWith('+')) return isSet ? expand(rest, known, variables, depth + 1) : ''
  return value ?? ''
}

function closingBrace(raw: string, from: number): number {
  let open = 1
  for (let at = from; at < raw.length; at++) {
    if (raw[at] === '{' && raw[at - 1] === '$') open++
    else if (raw[at] === '}' && --open === 0) return at
  }
  return -1
}

/** Splits at a separator that stands outside ${…} and […], for port and volume short forms. */
export function splitOutside(raw: string, separator: string): string[] {
  const parts: string[] = []
  let part = ''
  let braces = 0
  let brackets = 0
  for (let at = 0; at < raw.length; at++) {
    const char = raw[at] as string
    if (char === '{' && raw[at - 1] === '$') braces++
    else if (char === '}' && braces > 0) braces--
    else if (braces === 0 && char === '[') brackets++
    else if (braces === 0 && char === ']') brackets--
    if (char === separator && braces === 0 && brackets === 0) {
      parts.push(part)
      part = ''
    } else part += char
  }
  return [...parts, part]
}
