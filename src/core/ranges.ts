// Ranges of numbers as a person types them: `41000-41009`, or one number for a pool of one. Pure.

import { usageError } from '../errors.ts'

export interface Range {
  first: number
  last: number
}

export const DEFAULT_PORT_RANGE: Range = { first: 20000, last: 29999 }
const PORTS: Range = { first: 1, last: 65535 }
// Large enough for any server's numbers, small enough to stay exact.
const INDEXES: Range = { first: 0, last: 0x7fffffff }

/** Whether a word is meant as a range: names of allocations never start with a digit. */
export function looksLikeRange(word: string): boolean {
  return /^\d/.test(word)
}

export function parsePortRange(word: string): Range {
  return parseRange(word, PORTS, 'a port range is like 41000-41009, within 1-65535')
}

export function parseIndexRange(word: string): Range {
  return parseRange(word, INDEXES, 'an index range is like 1-15')
}

function parseRange(word: string, limits: Range, rule: string): Range {
  const match = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(word)
  if (match === null) throw usageError(`"${word}" is not a range: ${rule}`)
  const first = Number(match[1])
  const last = Number(match[2] ?? match[1])
  if (first > last) throw usageError(`"${word}" is not a range: it ends before it starts`)
  if (first < limits.first || last > limits.last) throw usageError(`"${word}" is out of bounds: ${rule}`)
  return { first, last }
}

export function formatRange({ first, last }: Range): string {
  return first === last ? String(first) : `${first}-${last}`
}

export function sizeOfRange({ first, last }: Range): number {
  return last - first + 1
}

export function isInRange(value: number, { first, last }: Range): boolean {
  return value >= first && value <= last
}

export function rangesOverlap(a: Range, b: Range): boolean {
  return a.first <= b.last && b.first <= a.last
}
