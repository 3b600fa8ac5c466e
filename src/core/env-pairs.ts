// Reads the pairs that `penv env` is given: as arguments, or as lines on stdin.
// A bad pair stops everything; its text may be a secret and is never repeated.

import { usageError } from '../errors.ts'
import { parseEnvText } from './env-entries.ts'
import { isEnvKey, readEnvBody, requireEnvKey } from './env-value.ts'

/** `KEY=VAL`, split at the first `=`; the value is taken as it is. */
export function parsePair(argument: string): [key: string, value: string] {
  const at = argument.indexOf('=')
  if (at === -1) throw usageError('an argument is not KEY=VAL: it has no "="')
  const key = argument.slice(0, at)
  requireEnvKey(key)
  return [key, argument.slice(at + 1)]
}

/**
 * Lines `KEY=VAL`, with blank lines, comments, `export` and quoted values (also over several lines) as in an
 * env file. An unquoted value goes to the end of its line or to a `#` after a space; a `#` inside a word,
 * where readers of env files disagree, is part of the value, so that nothing is cut off. The last of a key wins.
 */
export function parsePairs(text: string): Map<string, string> {
  const pairs = new Map<string, string>()
  let line = 1
  for (const { kind, raw, eol, variable } of parseEnvText(text).entries) {
    if (kind === 'unknown') throw badLine(line, 'it is not KEY=VAL')
    if (variable !== undefined) {
      if (!isEnvKey(variable.key) || variable.separator.startsWith(':'))
        throw badLine(line, 'its key is not made of A-Z, a-z, 0-9 and _')
      const value = readEnvBody(variable.body)
      if (value === undefined) throw badLine(line, 'its quotes do not enclose the whole value')
      pairs.set(variable.key, value)
    }
    line += (raw + eol).split('\n').length - 1
  }
  return pairs
}

function badLine(line: number, why: string): Error {
  return usageError(`line ${line} of stdin cannot be used: ${why}`)
}
