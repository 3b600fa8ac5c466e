// What one entry of a command table says, in the shapes that manifests give it: text, lists, tables with a command,
// steps that call other tasks. Pure reading of parsed values; a shape that is not known says nothing.
import { asRecord, lineAt, valueAt } from './facts.ts'

/** A string, a list of strings, or a table with one of the usual keys. */
export function commandText(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry
  if (Array.isArray(entry)) return entry.flatMap(one => commandText(one) ?? []).join('\n')
  const table = asRecord(entry)
  if (table === undefined) return undefined
  const depends = table.depends ?? table.dependencies
  const own = commandText(
    table.cmd ?? table.command ?? table.run ?? table.shell ?? table.script ?? table.sequence,
  )
  return own === undefined && depends === undefined
    ? undefined
    : [commandText(depends), own].filter(Boolean).join('\n')
}

export function taskText(entry: unknown): string | undefined {
  if (typeof entry === 'string' || Array.isArray(entry)) return listText(entry)
  const lines = [
    listText(valueAt(entry, 'deps'), 'task '),
    listText(valueAt(entry, 'cmds')),
    listText(valueAt(entry, 'cmd')),
  ]
  return lines.filter(Boolean).join('\n')
}

function listText(value: unknown, call = ''): string {
  const entries = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
  return entries
    .flatMap(entry => {
      const task = valueAt(entry, 'task')
      if (typeof task === 'string') return [`task ${task}`]
      const cmd = typeof entry === 'string' ? `${call}${entry}` : valueAt(entry, 'cmd')
      return typeof cmd === 'string' ? [cmd] : []
    })
    .join('\n')
}

/** Aliases of a mix.exs: `"ecto.setup": ["ecto.create", "ecto.migrate"]`, each step as a call of mix. */
export function readMixAliases(text: string): { name: string; direct: string; line: number }[] {
  return [...text.matchAll(/^[ \t]*["']?([\w.]+)["']?:\s*(\[[^\]]*\])/gm)]
    .filter(match => /["']/.test(match[2] as string))
    .map(match => ({
      name: match[1] as string,
      direct: [...(match[2] as string).matchAll(/["']([^"']+)["']/g)]
        .map(step => `mix ${step[1]}`)
        .join('\n'),
      line: lineAt(text, match.index),
    }))
}

/** The line where a table's key is written, as `"key":`, `key =`, `key:` or `[table.key]`. */
export function lineOfKey(text: string, key: string): number {
  const name = key.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  const found = new RegExp(
    `^([^\\S\\n]*)["']?${name}["']?\\s*[:=]|\\.${name}\\]|["']${name}["']\\s*:`,
    'm',
  ).exec(text)
  return found === null ? 1 : lineAt(text, found.index)
}
