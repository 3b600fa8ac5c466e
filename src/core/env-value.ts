// How one value is written so that sh, dotenv, `node --env-file` and Compose read the same, and how a written one is read.
// What the readers disagree about was measured (dash, bash, busybox, mksh, zsh; dotenv 16-18; Node 20.19-26;
// compose-go 2). It must never write a value that one of them reads differently, and never name a value in an error.

import { PenvError, usageError } from '../errors.ts'
import { type EnvVariable, findQuoteEnd } from './env-entries.ts'

const KEY = /^[A-Za-z_][A-Za-z0-9_]*$/
const BARE = /^(?!=)[A-Za-z0-9_./:@%+,=-]*$/
// Compose takes `\'` for a quote, so a backslash must not be last.
const SINGLE = /^[^']*(?<!\\)$/
// Inside double quotes sh and Compose expand `$`, sh runs backquotes, and each reader has its own escapes.
const DOUBLE = /^[^"\\$`]*$/

export function isEnvKey(key: string): boolean {
  return KEY.test(key)
}

export function requireEnvKey(key: string): void {
  if (KEY.test(key)) return
  // Text that cannot be meant as a key may be part of a value: it is not repeated.
  const shown = /^[\w .-]{1,60}$/.test(key) ? `"${key}"` : key === '' ? 'an empty text' : 'this text'
  throw usageError(`${shown} is not a key: use A-Z, a-z, 0-9 and _, not starting with a digit`)
}

/** The value as it is written after `KEY=`; refuses (`ENV_VALUE`) what cannot be read the same everywhere. */
export function formatEnvValue(key: string, value: string): string {
  requireEnvKey(key)
  const reason = findUnwritable(value)
  if (reason !== undefined)
    throw new PenvError({
      code: 'ENV_VALUE',
      message: `cannot write "${key}": its value ${reason}, which sh, dotenv, Node and Compose do not read alike`,
      facts: ['a value in base64 or URL encoding has no such character'],
      details: { key },
    })
  if (BARE.test(value)) return value
  return SINGLE.test(value) ? `'${value}'` : `"${value}"`
}

function findUnwritable(value: string): string | undefined {
  if (value.includes('\0')) return 'contains a NUL byte'
  if (value.includes('\r')) return 'contains a carriage return'
  // Bytes of an argument that are not UTF-8 arrive as U+FFFD: the value is lost already.
  if (/[\p{Surrogate}\uFFFD]/u.test(value)) return 'is not valid Unicode text'
  if (SINGLE.test(value) || DOUBLE.test(value)) return undefined
  return value.includes("'") ? 'contains a single quote together with ", $, ` or \\' : 'ends in a backslash'
}

/** What a written value means; undefined where text follows the closing quote or a quote never closes. */
export function readEnvBody(body: string): string | undefined {
  const quote = body[0]
  if (quote !== "'" && quote !== '"' && quote !== '`') return body
  if (findQuoteEnd(body, 0) !== body.length - 1) return undefined
  const inner = body.slice(1, -1)
  return quote === '"' ? inner.replaceAll('\\n', '\n').replaceAll('\\r', '\r') : inner
}

/** The value of an entry that all readers read alike as it stands; undefined for any other entry. */
export function findCommonValue(variable: EnvVariable): string | undefined {
  const { prefix, separator, body, tail } = variable
  if (separator !== '=' || !/^ *(?:export )?$/.test(prefix) || !/^(?: *| +#[^\r]*)$/.test(tail))
    return undefined
  // Node 22 and later read `export KEY=` as a key with a space; Compose reads `KEY= # text` as a value.
  if (body === '') return prefix.trim() === '' && tail === '' ? '' : undefined
  if (body.includes('\r')) return undefined
  if (BARE.test(body)) return body
  const inner = body.slice(1, -1)
  if (body.length < 2) return undefined
  if (body.startsWith("'") && body.endsWith("'") && SINGLE.test(inner)) return inner
  if (body.startsWith('"') && body.endsWith('"') && DOUBLE.test(inner)) return inner
  return undefined
}

/** The same variable with another value: its `export` and its comment stay. */
export function writeVariable(variable: EnvVariable, value: string): string {
  // Node 20 takes a tab for a part of the key, and of a bare value before it.
  const indent = /^ */.exec(variable.prefix)?.[0] ?? ''
  const hash = variable.tail.indexOf('#')
  const gap = variable.tail.slice(0, hash)
  const comment = hash === -1 ? '' : (/^ +$/.test(gap) ? gap : ' ') + variable.tail.slice(hash)
  const body = formatEnvValue(variable.key, value)
  const isAlone = !variable.exported && comment === ''
  return `${indent}${variable.exported ? 'export ' : ''}${variable.key}=${body === '' && !isAlone ? "''" : body}${comment}`
}
