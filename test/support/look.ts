// What a directory holds, byte for byte, to show that a command changed nothing in it.

import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Everything below a directory by path: mode, time of change, content. Folders named in `without` are left out. */
export function look(directory: string, without: readonly string[] = [], path = ''): Record<string, string> {
  if (!existsSync(join(directory, path))) return {}
  return Object.fromEntries(
    readdirSync(join(directory, path))
      .filter(name => !without.includes(name))
      .flatMap(name => {
        const below = join(path, name)
        const full = join(directory, below)
        const stats = lstatSync(full)
        const mode = stats.mode.toString(8)
        if (stats.isDirectory()) return [[below, mode], ...Object.entries(look(directory, without, below))]
        if (stats.isSymbolicLink()) return [[below, `${mode} ${readlinkSync(full)}`]]
        const content = stats.isFile() ? readFileSync(full, 'latin1') : ''
        return [[below, `${mode} ${stats.mtimeMs} ${content}`]]
      }),
  )
}

/** The same without the times. */
export function lookAtContent(directory: string, without: readonly string[] = []): Record<string, string> {
  const entries = Object.entries(look(directory, without))
  return Object.fromEntries(entries.map(([path, text]) => [path, text.replace(/^(\d+) [\d.]+ /, '$1 ')]))
}
