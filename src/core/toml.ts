// Reads TOML. The one owner of smol-toml, for facts of repositories and for files of other tools.

import { parse, TomlError, type TomlTable } from 'smol-toml'

/** The document as plain data. Throws what `tomlErrorLine` knows. */
export function parseToml(text: string): TomlTable {
  return parse(text)
}

/** The line that a failed `parseToml` stopped at; undefined for any other error. */
export function tomlErrorLine(error: unknown): number | undefined {
  return error instanceof TomlError ? error.line : undefined
}
