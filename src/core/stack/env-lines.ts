// Reads the lines of an env file as keys with their lines, for facts. It never edits (core/env-file.ts does),
// and keeps a value only where the caller says that values may be known, and never a secret one.
import { type EnvEntry, isSecretKey, maskSecrets } from './facts.ts'

const ENTRY = /^\s*(?:#+\s*)?(?:export\s+|set\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*[=](.*)$/
/** A comment is an alternative only if it is nothing but an assignment: prose with an equals sign is not. */
const COMMENTED = /^\s*#+\s?(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(\S*|"[^"]*"|'[^']*')\s*$/

const MAX_VALUE_LENGTH = 1_000

export function readEnvLines(text: string, withValues: boolean): EnvEntry[] {
  const entries: EnvEntry[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string
    const commented = /^\s*#/.test(line)
    const match = (commented ? COMMENTED : ENTRY).exec(line)
    if (match === null) continue
    const key = match[1] as string
    const raw = (match[2] as string).trim()
    const number = at + 1
    const quote = raw[0] === '"' || raw[0] === "'" || raw[0] === '`' ? raw[0] : undefined
    // A quoted value may go on for lines; what stands inside it is no key.
    if (!commented && quote !== undefined && closingQuote(raw, quote) < 0) {
      let end = at + 1
      while (end < lines.length && closingQuote(` ${lines[end]}`, quote) < 0) end++
      if (end < lines.length) at = end
    }
    const value =
      withValues && !isSecretKey(key)
        ? maskSecrets(unquote(raw.slice(0, MAX_VALUE_LENGTH), quote))
        : undefined
    entries.push({ key, line: number, commented, ...(value === undefined ? {} : { value }) })
  }
  return entries
}

function closingQuote(raw: string, quote: string): number {
  for (let at = 1; at < raw.length; at++) {
    if (raw[at] === '\\' && quote === '"') at++
    else if (raw[at] === quote) return at
  }
  return -1
}

function unquote(raw: string, quote: string | undefined): string {
  if (quote === undefined) return raw.replace(/\s+#.*$/, '')
  const end = closingQuote(raw, quote)
  return end < 0 ? raw.slice(1) : raw.slice(1, end)
}
