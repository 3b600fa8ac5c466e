import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const src = join(import.meta.dirname, '..', 'src')
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))

interface Import {
  from: string
  target: string
  typeOnly: boolean
  /** `import()`: loaded only by the command that needs it. */
  dynamic: boolean
}

function importsOf(name: string): Import[] {
  const text = readFileSync(join(src, name), 'utf8')
  const found: Import[] = []
  for (const match of text.matchAll(
    /^(?:import|export)\s+(type\s)?[^'"\n]*(?:\{[^}]*\}\s*from\s*|from\s*|\s)?['"]([^'"]+)['"]/gm,
  ))
    found.push({ from: name, target: match[2] as string, typeOnly: match[1] !== undefined, dynamic: false })
  for (const match of text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g))
    found.push({ from: name, target: match[1] as string, typeOnly: false, dynamic: true })
  return found
}

const imports = files.flatMap(importsOf)
const layerOf = (name: string) =>
  name.includes('/') ? name.slice(0, name.indexOf('/')) : name.replace(/\.ts$/, '')
const inner = imports.filter(entry => entry.target.startsWith('.') && entry.target !== '../package.json')
const outer = imports.filter(entry => !entry.target.startsWith('.'))

const mayImport: Record<string, string[]> = {
  cli: ['commands', 'context', 'output', 'errors', 'core'],
  context: ['host', 'core', 'errors'],
  commands: ['core', 'host', 'context', 'errors'],
  host: ['core', 'host', 'errors'],
  core: ['core', 'errors'],
  output: ['errors', 'core'],
  errors: [],
}

const ownerOf: Record<string, string> = {
  commander: 'cli.ts',
  execa: 'host/scripts.ts',
  'proper-lockfile': 'host/env-file.ts',
  dotenv: 'core/env-file.ts',
  'jsonc-parser': 'core/wiring/json-document.ts',
  'smol-toml': 'core/toml.ts',
  yaml: 'host/repo-facts.ts',
  picocolors: 'output.ts',
}

describe('the source layout', () => {
  it('lets each layer import only the layers below it', () => {
    const wrong = inner.filter(entry => {
      const target = relative(src, join(src, dirname(entry.from), entry.target))
      return !mayImport[layerOf(entry.from)]?.includes(layerOf(target))
    })
    expect(wrong).toEqual([])
  })

  it('gives each library one owner', () => {
    const wrong = outer.filter(
      entry => !entry.typeOnly && entry.target in ownerOf && ownerOf[entry.target] !== entry.from,
    )
    expect(wrong).toEqual([])
  })

  it('keeps the file system, processes, clocks and randomness out of core', () => {
    const allowed = new Set(['node:crypto', 'node:path'])
    const machine = outer.filter(
      entry =>
        entry.from.startsWith('core/') && entry.target.startsWith('node:') && !allowed.has(entry.target),
    )
    expect(machine).toEqual([])
    const impure = files.filter(
      name =>
        name.startsWith('core/') &&
        /\b(Date\.now|new Date\(\)|Math\.random|randomBytes|process\.\w)/.test(
          readFileSync(join(src, name), 'utf8'),
        ),
    )
    expect(impure).toEqual([])
  })

  it('loads the heavy libraries only in the commands that use them', () => {
    const heavy = outer.filter(
      entry => ['execa', 'proper-lockfile', 'dotenv', 'yaml'].includes(entry.target) && !entry.typeOnly,
    )
    for (const entry of heavy) {
      const importers = inner.filter(
        i => relative(src, join(src, dirname(i.from), i.target)) === entry.from && !i.typeOnly,
      )
      const eager = importers.filter(
        i => !i.dynamic && !entry.dynamic && (i.from === 'cli.ts' || i.from === 'context.ts'),
      )
      expect(eager).toEqual([])
    }
  })

  it('reads the process environment and directory only in cli and context', () => {
    const readers = files.filter(name => /\bprocess\.(env|cwd)\b/.test(readFileSync(join(src, name), 'utf8')))
    expect(readers.filter(name => name !== 'cli.ts' && name !== 'context.ts')).toEqual([])
  })

  it('has no default exports, no barrels, no utils, and no class but PenvError', () => {
    for (const name of files) {
      const text = readFileSync(join(src, name), 'utf8')
      expect(text, name).not.toMatch(/^export default/m)
      expect(text, name).not.toMatch(/^export \* from/m)
      expect(name).not.toMatch(/(^|\/)(index|utils?|helpers?|common|misc)\.ts$/)
      if (name !== 'errors.ts') expect(text, name).not.toMatch(/^(export )?class /m)
    }
  })
})
