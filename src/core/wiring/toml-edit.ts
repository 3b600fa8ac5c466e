// Edits of TOML text that belongs to somebody else: one entry in, the same entry out.
// It must never reprint the text: smol-toml says what it means, and all edits are by offset.
import type { TomlTable, TomlValue } from 'smol-toml'
import { parseToml, tomlErrorLine } from '../toml.ts'
import { countCommand, findSuffix, isOnlyCommand, suffixFor } from './command-line.ts'
import { lineEndingOf } from './marked-block.ts'
import { lineEnd, scanToml, type TomlPair } from './toml-scan.ts'
import type { WiringStatus } from './wiring-outcome.ts'

export interface TomlWant {
  /** The table that gets the entry. */
  table: string
  /** The entry's key as it is written; dots in it are paths. */
  key: string
  value: string
  /** A `command` is appended to what the string runs already; a `text` is the whole value. */
  kind: 'command' | 'text'
  /** Any entry of the table may hold the command, under whatever name. */
  anyKey?: boolean
}

/** Ends a line that was put into a table of somebody else. */
export const LINE_MARK = ' # penv'

const pathOf = (want: TomlWant) => [want.table, ...want.key.split('.')]
/** The entry as a line. */
export const entryLine = (want: TomlWant) => `${want.key} = ${JSON.stringify(want.value)}`

type Parsed = { root: TomlTable } | { problem: string }

/** What the text means, or that it means nothing. */
export function readToml(text: string): Parsed {
  try {
    return { root: parseToml(text.replace(/^\uFEFF/, '')) }
  } catch (error) {
    const at = tomlErrorLine(error)
    const line = at === undefined ? '' : ` in line ${at}`
    return { problem: `not valid TOML${line}` }
  }
}

/** All values at `path`; a table that is repeated has one for each time. */
function valuesAt(value: TomlValue | undefined, path: readonly string[]): TomlValue[] {
  const [step, ...rest] = path
  if (step === undefined) return value === undefined ? [] : [value]
  if (Array.isArray(value)) return value.flatMap(item => valuesAt(item, path))
  return isTable(value) ? valuesAt(value[step], rest) : []
}

export function isTable(value: TomlValue | undefined): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)
}

function stringsIn(value: TomlValue): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(stringsIn)
  return isTable(value) ? Object.values(value).flatMap(stringsIn) : []
}

/** Whether the entry is there; `stale` cannot be told from a form that somebody wrote by hand. */
export function statusOf(root: TomlTable, want: TomlWant): WiringStatus {
  const strings = valuesAt(root, want.anyKey ? [want.table] : pathOf(want)).flatMap(stringsIn)
  const count =
    want.kind === 'text'
      ? strings.filter(text => text === want.value).length
      : strings.reduce((sum, line) => sum + countCommand(line, want.value), 0)
  return count > 1 ? 'double' : count === 1 ? 'current' : 'missing'
}

const isSamePath = (a: readonly string[], b: readonly string[]) => a.join('\0') === b.join('\0')
const splice = (text: string, from: number, to: number, put: string) =>
  text.slice(0, from) + put + text.slice(to)

/** Length of the quotes of the string that starts at `from`. */
const quotesAt = (text: string, from: number) => (/^("""|''')/.test(text.slice(from, from + 3)) ? 3 : 1)

/** A suffix as it is written inside the quotes of a string: line endings as such only in a long one. */
function encodeSuffix(text: string, pair: TomlPair, suffix: string): string | undefined {
  if (!suffix.includes('\n')) return suffix
  if (quotesAt(text, pair.valueStart) === 3) return suffix.replaceAll('\n', lineEndingOf(text))
  return text[pair.valueStart] === '"' ? suffix.replaceAll('\n', '\\n') : undefined
}

function findPair(text: string, want: TomlWant): TomlPair | undefined {
  return scanToml(text).find(
    (found): found is TomlPair => found.kind === 'pair' && isSamePath(found.path, pathOf(want)),
  )
}

/** Puts one entry in; `{ section }` where it needs a table of its own at the end of the file. */
export function addWant(
  text: string,
  root: TomlTable,
  want: TomlWant,
): string | { section: string } | { blocked: string } {
  const table = root[want.table]
  const section = (brackets: string) => ({ section: `${brackets}\n${entryLine(want)}` })
  if (table === undefined) return section(`[${want.table}]`)
  const statements = scanToml(text)
  if (
    Array.isArray(table) &&
    statements.some(found => found.kind === 'array' && found.path[0] === want.table)
  )
    return section(`[[${want.table}]]`)
  const pair = findPair(text, want)
  if (pair) return extendPair(text, root, pair, want)
  const header = statements.findIndex(found => found.kind === 'table' && isSamePath(found.path, [want.table]))
  if (header < 0) return { blocked: `"${want.table}" is not written as a table of its own` }
  const next = statements.findIndex((found, index) => index > header && found.kind !== 'pair')
  const last = statements[(next < 0 ? statements.length : next) - 1] ?? statements[header]
  if (!last) return text
  const at = lineEnd(text, last.valueEnd)
  const indent = last.kind === 'pair' ? text.slice(text.lastIndexOf('\n', last.start) + 1, last.start) : ''
  return splice(text, at, at, `${lineEndingOf(text)}${indent}${entryLine(want)}${LINE_MARK}`)
}

function extendPair(
  text: string,
  root: TomlTable,
  pair: TomlPair,
  want: TomlWant,
): string | { blocked: string } {
  const [line] = valuesAt(root, pathOf(want))
  const name = `"${want.table}.${want.key}"`
  if (typeof line !== 'string' || want.kind === 'text')
    return { blocked: `${name} has another value; add ${JSON.stringify(want.value)} to it by hand` }
  const made = suffixFor(line.replaceAll('\r\n', '\n'), want.value)
  const suffix = 'suffix' in made ? encodeSuffix(text, pair, made.suffix) : undefined
  if (suffix === undefined) {
    const why = 'refused' in made ? made.refused : 'it is one line'
    return { blocked: `${name} cannot run ${want.value} too: ${why}` }
  }
  const at = pair.valueEnd - quotesAt(text, pair.valueStart)
  return splice(text, at, at, suffix)
}

/** Takes one entry out; the text as it is where penv did not put it in. */
export function removeWant(text: string, want: TomlWant, keepsEmpty: boolean): string {
  const parsed = readToml(text)
  const pair = findPair(text, want)
  if ('problem' in parsed || !pair) return text
  const [line] = valuesAt(parsed.root, pathOf(want))
  if (typeof line !== 'string') return text
  const end = lineEnd(text, pair.valueEnd)
  const isMarked = text.slice(pair.valueEnd, end) === LINE_MARK
  const isOurs = want.kind === 'command' ? isOnlyCommand(line, want.value) : isMarked && line === want.value
  if (isOurs && keepsEmpty && !isMarked) return splice(text, pair.valueStart, pair.valueEnd, '""')
  if (isOurs) return cutLine(text, pair.start, end)
  const suffix = want.kind === 'command' ? findSuffix(line.replaceAll('\r\n', '\n'), want.value) : undefined
  const raw = suffix === undefined ? undefined : encodeSuffix(text, pair, suffix)
  const close = pair.valueEnd - quotesAt(text, pair.valueStart)
  if (raw === undefined || !text.slice(0, close).endsWith(raw)) return text
  return splice(text, close - raw.length, close, '')
}

function cutLine(text: string, start: number, end: number): string {
  const before = text.slice(0, text.lastIndexOf('\n', start - 1) + 1)
  const after = text.slice(end)
  return before === '' ? after.replace(/^\r?\n/, '') : before.replace(/\r?\n$/, '') + after
}
