// Entries of penv in a JSON file of another program: which are there, the text with them, the text without.
// It must never promise an edit that it cannot take back: what cannot be undone byte for byte is refused.
import { countCommand, findSuffix, isOnlyCommand, suffixFor } from './command-line.ts'
import {
  findNode,
  type JsonDocument,
  type JsonPath,
  type JsonValue,
  readJson,
  readValue,
} from './json-document.ts'
import { appendToString, cutFromString, insertAt, printJson, removeAt } from './json-edit.ts'
import { combineStatuses, leaveAlone, type WiringOutcome, type WiringStatus } from './wiring-outcome.ts'

/** An item of the list at `path`. */
export interface ItemWant {
  path: readonly string[]
  item: JsonValue
  find: (list: readonly JsonValue[]) => readonly FoundEntry[]
}
/** A call of penv in a list. */
export interface FoundEntry {
  /** Path below the list. */
  at: JsonPath
  isCurrent: boolean
  /** Holds nothing but the call, so that it can go as a whole. */
  isOurs: boolean
}
/** A command that the string at `path` runs too. */
export interface CommandWant {
  path: JsonPath
  command: string
}
export type JsonWant = ItemWant | CommandWant
/** What to put in, seen what is there: some programs read only one of several keys. */
export type JsonWants = (root: JsonValue) => readonly JsonWant[]

/** A want for an item that is a command line. */
export function commandItem(path: readonly string[], command: string): ItemWant {
  const find = (list: readonly JsonValue[]) =>
    list.flatMap((item, index) =>
      typeof item === 'string' && countCommand(item, command) > 0
        ? [{ at: [index], isCurrent: true, isOurs: isOnlyCommand(item, command) }]
        : [],
    )
  return { path, item: command, find }
}

const isItem = (want: JsonWant): want is ItemWant => 'item' in want

function entriesOf(document: JsonDocument, want: ItemWant): readonly FoundEntry[] {
  const node = findNode(document, want.path)
  return node?.type === 'array' ? want.find(readValue(node) as JsonValue[]) : []
}

function statusOf(document: JsonDocument, want: JsonWant): WiringStatus {
  if (isItem(want)) {
    const entries = entriesOf(document, want)
    if (entries.length > 1) return 'double'
    return entries[0] ? (entries[0].isCurrent ? 'current' : 'stale') : 'missing'
  }
  const node = findNode(document, want.path)
  const count = node?.type === 'string' ? countCommand(node.value, want.command) : 0
  return count > 1 ? 'double' : count === 1 ? 'current' : 'missing'
}

function removeWant(document: JsonDocument, want: JsonWant): string | null {
  if (isItem(want)) {
    const entry = entriesOf(document, want).findLast(found => found.isOurs)
    return entry ? removeAt(document, [...want.path, ...entry.at]) : document.text
  }
  const line = findNode(document, want.path)?.value
  if (typeof line !== 'string') return document.text
  if (isOnlyCommand(line, want.command)) return removeAt(document, want.path)
  const suffix = findSuffix(line, want.command)
  return suffix === undefined ? document.text : cutFromString(document, want.path, suffix)
}

/**
 * Takes all entries out, the last one first, so that each step undoes the step that made it. `isKept` says which
 * may stay.
 */
function removeAll(
  text: string,
  wantsOf: JsonWants,
  strict: boolean,
  isKept: (status: WiringStatus) => boolean = () => false,
): string | null {
  let current = text
  for (;;) {
    const document = readJson(current, strict)
    if ('problem' in document) return current
    const wants = wantsOf(readValue(document.root))
      .filter(want => !isKept(statusOf(document, want)))
      .toReversed()
    const next = wants.map(want => removeWant(document, want)).find(result => result !== current)
    if (next === undefined || next === null) return next === null ? null : current
    current = next
  }
}

function addWant(document: JsonDocument, want: JsonWant): string | { blocked: string } {
  if (isItem(want)) return insertAt(document, want.path, want.item, true)
  const node = findNode(document, want.path)
  if (!node) return insertAt(document, want.path.map(String), want.command, false)
  if (node.type !== 'string') return { blocked: `"${want.path.join('.')}" is not a command` }
  const made = suffixFor(node.value, want.command)
  if ('refused' in made)
    return { blocked: `"${want.path.join('.')}" cannot run ${want.command} too: ${made.refused}` }
  return appendToString(document, want.path, made.suffix)
}

function addAll(text: string, wantsOf: JsonWants, strict: boolean): string | { blocked: string } {
  let current = text
  const first = readJson(text, strict)
  if ('problem' in first) return { blocked: first.problem }
  for (const want of wantsOf(readValue(first.root))) {
    const document = readJson(current, strict)
    if ('problem' in document) return { blocked: document.problem }
    if (statusOf(document, want) !== 'missing') continue
    const next = addWant(document, want)
    if (typeof next !== 'string') return next
    current = next
  }
  return current
}

function freshText(wants: readonly JsonWant[]): string {
  const root: Record<string, JsonValue> = {}
  for (const want of wants) {
    let place = root
    for (const key of want.path.slice(0, -1)) {
      place[key] ??= {}
      place = place[key] as Record<string, JsonValue>
    }
    place[String(want.path.at(-1))] = isItem(want) ? [want.item] : want.command
  }
  return printJson(root)
}

/** The entries as a whole: their state, the text with them, the text without. `undefined`: there is no file. */
export function editJson(text: string | undefined, wantsOf: JsonWants, strict = false): WiringOutcome {
  const fresh = freshText(wantsOf({}))
  if (text === undefined) return { status: 'missing', applied: fresh, removed: null }
  const document = readJson(text, strict)
  if ('problem' in document) return leaveAlone('invalid', text, document.problem)
  const status = combineStatuses(wantsOf(readValue(document.root)).map(want => statusOf(document, want)))
  const removed = removeAll(text, wantsOf, strict)
  if (status === 'current') return { status, applied: text, removed }
  // What somebody arranged well himself stays as it is.
  const rest = removeAll(text, wantsOf, strict, entry => entry === 'current')
  const applied = rest === null ? fresh : addAll(rest, wantsOf, strict)
  if (typeof applied !== 'string') return { ...leaveAlone('foreign', text, applied.blocked), removed }
  if (removeAll(applied, wantsOf, strict) !== removed)
    return { ...leaveAlone('foreign', text, 'the entry could not be taken out again without loss'), removed }
  return { status, applied, removed }
}
