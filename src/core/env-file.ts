// What becomes of the text of `.env.preview` when variables are set or unset, and what readers see in it.
// It must never change a line that it was not asked to change.

import { usageError } from '../errors.ts'
import { type EnvEntry, joinEnvText, parseEnvText } from './env-entries.ts'
import { unclosedQuote } from './env-file-errors.ts'
import {
  findCommonValue,
  formatEnvValue,
  isEnvKey,
  readEnvBody,
  requireEnvKey,
  writeVariable,
} from './env-value.ts'
import { quoteForShell } from './shell-words.ts'

export interface EnvChanges {
  set: ReadonlyMap<string, string>
  unset: readonly string[]
}

/** The variable that says whose file it is. */
export const STAMP_KEY = 'PENV_ID'

/** All or nothing: a bad key or a value that cannot be written leaves no changed text. */
export function mergeEnvText(text: string, changes: EnvChanges): string {
  requireWritable(changes)
  const parsed = parseEnvText(text)
  const lastOf = new Map<string, EnvEntry>()
  for (const entry of parsed.entries) if (entry.variable) lastOf.set(entry.variable.key, entry)
  const entries = parsed.entries.flatMap(entry => {
    const { variable } = entry
    if (variable === undefined) return [entry]
    const value = changes.set.get(variable.key)
    if (value === undefined) return changes.unset.includes(variable.key) ? [] : [entry]
    if (lastOf.get(variable.key) !== entry) return []
    if (findCommonValue(variable) === value) return [entry]
    return [{ ...entry, raw: writeVariable(variable, value) }]
  })
  const added = [...changes.set].filter(([key]) => !lastOf.has(key))
  const merged = joinEnvText({
    bom: parsed.bom,
    entries: addEntries(
      entries,
      added.map(([key, value]) => `${key}=${formatEnvValue(key, value)}`),
    ),
  })
  requireReadable(merged, changes.set)
  return merged
}

function requireWritable({ set, unset }: EnvChanges): void {
  for (const key of unset) {
    requireEnvKey(key)
    if (set.has(key)) throw usageError(`"${key}" cannot be both set and unset`)
  }
  for (const [key, value] of set) formatEnvValue(key, value)
}

function addEntries(entries: readonly EnvEntry[], lines: readonly string[]): EnvEntry[] {
  if (lines.length === 0) return [...entries]
  const eol = entries.findLast(entry => entry.eol !== '')?.eol ?? '\n'
  const at = findPlaceForNew(entries)
  const before = entries.slice(0, at)
  const last = before.at(-1)
  if (last !== undefined && last.eol === '') before[before.length - 1] = { ...last, eol }
  return [...before, ...lines.map(raw => ({ kind: 'variable' as const, raw, eol })), ...entries.slice(at)]
}

/**
 * The end, or the place before the last lines when some Node would read those as the beginning of the new key
 * (20: a line without `=`, an indented comment, a tab on an otherwise empty line) or the new line as the value
 * of the last key (22 and later: `KEY=` with spaces after it).
 */
function findPlaceForNew(entries: readonly EnvEntry[]): number {
  let place = entries.length
  for (let at = entries.length - 1; at >= 0; at--) {
    const { kind, raw } = entries[at] as EnvEntry
    const isLine = kind === 'variable' || kind === 'unknown'
    if (isLine && raw.includes('=')) break
    if (isLine || (kind === 'blank' ? raw.includes('\t') : /^\s/.test(raw))) place = at
  }
  const last = entries[place - 1]
  const isSwallowing = last?.variable?.body === '' && /\s$/.test(last.raw)
  return isSwallowing ? findPlaceForNew(entries.slice(0, place - 1)) : place
}

/** A quote left open further up would swallow what was written below it. */
function requireReadable(merged: string, set: ReadonlyMap<string, string>): void {
  const seen = new Map<string, string | undefined>()
  for (const { variable } of parseEnvText(merged).entries)
    if (variable) seen.set(variable.key, findCommonValue(variable))
  for (const [key, value] of set) if (seen.get(key) !== value) throw unclosedQuote(key)
}

/** The id of the environment that the file belongs to, where it says so. */
export function findStamp(text: string): string | undefined {
  const entry = parseEnvText(text).entries.findLast(({ variable }) => variable?.key === STAMP_KEY)
  if (entry?.variable === undefined) return undefined
  return readEnvBody(entry.variable.body) || undefined
}

/** What an application sees, as dotenv reads it; a BOM is no part of the first key. */
export async function readEnvVariables(text: string): Promise<Map<string, string>> {
  const { parse } = (await import('dotenv')).default
  // dotenv collects into a plain object, which loses the key `__proto__`.
  let standIn = '__penv_proto__'
  while (text.includes(standIn)) standIn += '_'
  const restore = (part: string) => part.replaceAll(standIn, '__proto__')
  const variables = parse(text.replace(/^\uFEFF/, '').replaceAll('__proto__', standIn))
  return new Map(Object.entries(variables).map(([key, value]) => [restore(key), restore(value)]))
}

/** Lines for `eval` in sh. Keys that sh cannot hold are left out. */
export function renderExports(variables: ReadonlyMap<string, string>): string {
  return [...variables]
    .filter(([key]) => isEnvKey(key))
    .map(([key, value]) => `export ${key}=${quoteForShell(value)}\n`)
    .join('')
}
