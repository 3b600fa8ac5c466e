// Reads JSON text, with or without comments, as a tree with offsets, and says why text is not usable.
// It must never change text: json-edit.ts does.
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}
export type JsonPath = readonly (string | number)[]

export interface JsonDocument {
  text: string
  root: Node
}

/** Parses `text`; `strict` is for programs that read it with a plain JSON parser. */
export function readJson(text: string, strict = false): JsonDocument | { problem: string } {
  const errors: ParseError[] = []
  let root: Node | undefined
  try {
    root = parseTree(text.replace(/^\uFEFF/, ' '), errors, { allowTrailingComma: true })
  } catch {
    return { problem: 'it is nested too deep' }
  }
  const first = errors[0]
  if (first) {
    const what = printParseErrorCode(first.error).replace(
      /(?<=.)([A-Z])/g,
      (_, letter: string) => ` ${letter.toLowerCase()}`,
    )
    return { problem: `not valid JSON in line ${lineOf(text, first.offset)}: ${what}` }
  }
  if (root?.type !== 'object') return { problem: 'not a JSON object' }
  const repeated = findRepeatedKey(root)
  if (repeated)
    return { problem: `the key "${repeated.value}" occurs twice, in line ${lineOf(text, repeated.offset)}` }
  if (strict && !isStrictJson(text))
    return { problem: 'holds comments or trailing commas, which its reader refuses' }
  return { text, root }
}

function isStrictJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\uFEFF/, ''))
    return true
  } catch {
    return false
  }
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

function findRepeatedKey(node: Node): Node | undefined {
  const seen = new Set<unknown>()
  for (const child of node.children ?? []) {
    const key = node.type === 'object' ? child.children?.[0] : undefined
    if (key && seen.has(key.value)) return key
    if (key) seen.add(key.value)
    const inner = findRepeatedKey(child)
    if (inner) return inner
  }
  return undefined
}

/** The value at `path`, or undefined. Keys like `__proto__` are keys like any other. */
export function findNode(document: JsonDocument, path: JsonPath): Node | undefined {
  let node: Node | undefined = document.root
  for (const step of path) {
    if (node?.type === 'array' && typeof step === 'number') node = node.children?.[step]
    else if (node?.type === 'object')
      node = node.children?.find(property => property.children?.[0]?.value === step)?.children?.[1]
    else return undefined
  }
  return node
}

export function readValue(node: Node): JsonValue {
  return getNodeValue(node)
}

export interface Trivia {
  comma: number | undefined
  hasComment: boolean
  /** Offset after the last comma or comment, or `from` where there is neither. */
  end: number
}

/** Reads what may stand between two values. */
export function readTrivia(text: string, from: number, to: number): Trivia {
  const trivia: Trivia = { comma: undefined, hasComment: false, end: from }
  const token = /,|\/\*[\s\S]*?\*\/|\/\/[^\r\n]*/g
  token.lastIndex = from
  for (let match = token.exec(text); match && match.index < to; match = token.exec(text)) {
    if (match[0] === ',') trivia.comma ??= match.index
    else trivia.hasComment = true
    trivia.end = token.lastIndex
  }
  return trivia
}
