// Edits of JSON text, with or without comments, that belongs to somebody else: one entry in, the same entry out.
// It must never reprint what it did not write: all edits are insertions and deletions by offset.
import type { Node } from 'jsonc-parser'
import {
  findNode,
  type JsonDocument,
  type JsonObject,
  type JsonPath,
  type JsonValue,
  readTrivia,
  readValue,
  type Trivia,
} from './json-document.ts'
import { lineEndingOf } from './marked-block.ts'

const isScalar = (value: unknown) => typeof value !== 'object' || value === null
const endOf = (node: Node) => node.offset + node.length

function indentOfLine(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? ''
}

/** One step of indentation, as the file's first indented line has it. */
function unitOf(text: string): string {
  return /\n([ \t]+)(?=["[{\]}/\-\w])/.exec(text)?.[1] ?? '  '
}

interface Style {
  /** undefined: everything on one line. */
  eol: string | undefined
  unit: string
}

function print(value: JsonValue, indent: string, style: Style): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const isList = Array.isArray(value)
  const inner = indent + style.unit
  const parts = isList
    ? value.map(item => print(item, inner, style))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${print(item, inner, style)}`)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  if (parts.length === 0) return open + close
  if (isList && value.every(isScalar)) return `${open}${parts.join(', ')}${close}`
  if (style.eol === undefined) return `${open} ${parts.join(', ')} ${close}`
  return `${open}${style.eol}${inner}${parts.join(`,${style.eol}${inner}`)}${style.eol}${indent}${close}`
}

/** The text of a new file. */
export function printJson(value: JsonObject): string {
  return `${print(value, '', { eol: '\n', unit: '  ' })}\n`
}

const splice = (text: string, from: number, to: number, put: string) =>
  text.slice(0, from) + put + text.slice(to)

/**
 * Puts `value` at the end of `container`. How it is spaced tells removal what was there: a container that was
 * already there and empty holds its entry directly after its bracket (a scalar: between single blanks).
 */
function insertChild(text: string, container: Node, key: string | undefined, value: JsonValue): string {
  const label = key === undefined ? '' : `${JSON.stringify(key)}: `
  const eol = lineEndingOf(text)
  const unit = unitOf(text)
  const last = container.children?.at(-1)
  const close = endOf(container) - 1
  if (!last) {
    const isSpread = !container.parent || /[\r\n]/.test(text.trim())
    const item =
      label + print(value, indentOfLine(text, container.offset), { eol: isSpread ? eol : undefined, unit })
    const at = container.offset + 1
    return splice(text, at, at, container.type === 'array' && isScalar(value) ? ` ${item} ` : item)
  }
  const trivia = readTrivia(text, endOf(last), close)
  const first = container.children?.[0] as Node
  const gaps = text.slice(container.offset, first.offset) + text.slice(endOf(last), close)
  const isSpread = gaps.includes('\n')
  const indent = indentOfLine(text, last.offset)
  const lead = isSpread ? eol + indent : ' '
  const isOneLine = !isSpread && !text.slice(last.offset, endOf(last)).includes('\n')
  const item = lead + label + print(value, indent, { eol: isOneLine ? undefined : eol, unit })
  if (trivia.comma !== undefined) return splice(text, trivia.end, trivia.end, `${item},`)
  return splice(splice(text, trivia.end, trivia.end, item), endOf(last), endOf(last), ',')
}

/**
 * Puts `leaf` where `path` says, making the objects on the way. `append`: the path names a list that gets it
 * as a further item. Answers the new text, or which part of the path is something else.
 */
export function insertAt(
  document: JsonDocument,
  path: readonly string[],
  leaf: JsonValue,
  append: boolean,
): string | { blocked: string } {
  let node = document.root
  for (const [depth, key] of path.entries()) {
    if (node.type !== 'object') return { blocked: `"${path.slice(0, depth).join('.')}" is not an object` }
    const next = findNode({ ...document, root: node }, [key])
    if (!next) {
      const inner = path
        .slice(depth + 1)
        .reduceRight<JsonValue>((value, step) => ({ [step]: value }), append ? [leaf] : leaf)
      return insertChild(document.text, node, key, inner)
    }
    node = next
  }
  if (node.type !== 'array' || !append) return { blocked: `"${path.join('.')}" is not a list` }
  return insertChild(document.text, node, undefined, leaf)
}

/** Takes the value at `path` out, with the containers that were made for it; null where nothing else was there. */
export function removeAt(document: JsonDocument, path: JsonPath): string | null {
  const value = findNode(document, path)
  return value
    ? removeNode(document.text, value.parent?.type === 'property' ? value.parent : value)
    : document.text
}

function removeNode(text: string, node: Node): string | null {
  const container = node.parent as Node
  const siblings = container.children as Node[]
  const index = siblings.indexOf(node)
  const previous = siblings[index - 1]
  const next = siblings[index + 1]
  const end = endOf(node)
  const after = readTrivia(text, end, next?.offset ?? endOf(container) - 1)
  if (!previous && !next) return removeOnly(text, container, node, after)
  const lead = /(\r?\n[ \t]*|[ \t])$/.exec(text.slice(0, node.offset))?.[0].length ?? 0
  const start = node.offset - lead
  if (after.comma !== undefined) return splice(splice(text, after.comma, after.comma + 1, ''), start, end, '')
  const before = previous && readTrivia(text, endOf(previous), node.offset)
  const cut = splice(text, start, end, '')
  return before?.comma === undefined ? cut : splice(cut, before.comma, before.comma + 1, '')
}

function removeOnly(text: string, container: Node, node: Node, after: Trivia): string | null {
  const open = container.offset + 1
  const end = endOf(node)
  const isScalarItem = container.type === 'array' && isScalar(readValue(node))
  const wasThere = isScalarItem
    ? text.slice(open, node.offset) === ' ' && text[end] === ' '
    : node.offset === open
  const hasComment = after.hasComment || readTrivia(text, open, node.offset).hasComment
  if (wasThere || hasComment) {
    const cut = after.comma === undefined ? text : splice(text, after.comma, after.comma + 1, '')
    return isScalarItem && wasThere ? splice(cut, open, end + 1, '') : splice(cut, node.offset, end, '')
  }
  const owner = container.parent
  if (owner) return removeNode(text, owner.type === 'property' ? owner : container)
  const around = text.slice(0, container.offset) + text.slice(endOf(container))
  return around.replace(/^\uFEFF/, '').trim() === '' ? null : splice(text, open, endOf(container) - 1, '')
}

/** Appends to the string at `path` without touching how the rest of it is escaped. */
export function appendToString(document: JsonDocument, path: JsonPath, suffix: string): string {
  const node = findNode(document, path)
  if (node?.type !== 'string') return document.text
  return splice(document.text, endOf(node) - 1, endOf(node) - 1, JSON.stringify(suffix).slice(1, -1))
}

/** Takes `suffix` off the string at `path`; the text as it is where it was escaped in another way. */
export function cutFromString(document: JsonDocument, path: JsonPath, suffix: string): string {
  const node = findNode(document, path)
  const raw = JSON.stringify(suffix).slice(1, -1)
  if (node?.type !== 'string' || !document.text.slice(0, endOf(node) - 1).endsWith(raw)) return document.text
  return splice(document.text, endOf(node) - 1 - raw.length, endOf(node) - 1, '')
}
