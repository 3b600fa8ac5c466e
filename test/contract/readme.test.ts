import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeBlocksOf, codeSpansOf, headingsOf, sectionOf, tableOf } from '../support/markdown.ts'
import { PROGRAM } from '../support/sandbox.ts'

const root = join(import.meta.dirname, '..', '..')

function readReadme(): string {
  const file = join(root, 'README.md')
  if (!existsSync(file)) throw new Error('README.md is missing: it belongs at the root of the repository')
  return readFileSync(file, 'utf8')
}

const helpOf = (...words: string[]) =>
  execFileSync(process.execPath, [PROGRAM, ...words, '--help'], { encoding: 'utf8' })

/** The first word of each command of `penv --help`. */
function listCommands(): string[] {
  const [, list = ''] = helpOf().split('\nCommands:\n')
  return [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(match => match[1] as string)
}

/** The table whose section is titled "Commands". */
function readCommandTable(readme: string): string[] {
  const heading = headingsOf(readme).find(({ title }) => /^commands$/i.test(title))
  if (heading === undefined) throw new Error('README.md has no section "Commands"')
  return tableOf(sectionOf(readme, heading.title)).flatMap(([command]) => codeSpansOf(command ?? ''))
}

describe('README.md', () => {
  it('lists exactly the commands of penv --help', () => {
    const listed = readCommandTable(readReadme()).map(span => span.replace(/^penv /, '').split(/[ [<|]/)[0])
    expect([...new Set(listed)].sort()).toEqual(listCommands().sort())
  })

  it('shows in its command table only options that the command has', () => {
    for (const span of readCommandTable(readReadme())) {
      const words = span.replace(/^penv /, '').split(' ')
      const command = words.slice(0, words[0] === 'get' && /^[a-z]+$/.test(words[1] ?? '') ? 2 : 1)
      const help = helpOf(...command)
      for (const [option] of span.matchAll(/--[a-z][a-z-]*/g)) expect(help, span).toContain(option)
    }
  })

  it('runs only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const blocks = codeBlocksOf(readReadme()).map(({ text }) => text)
    const named = blocks.flatMap(text =>
      [...text.matchAll(/\bnpm (?:run (?:--\S+ )*)(\S+)/g)].map(match => match[1] as string),
    )
    if (blocks.some(text => /\bnpm (?:test|t)\b/.test(text))) named.push('test')
    expect(named).not.toEqual([])
    for (const name of named) expect(Object.keys(scripts)).toContain(name.replace(/[;&|)].*$/, ''))
  })

  it('calls only commands of penv that exist', () => {
    const known = listCommands()
    const called = codeBlocksOf(readReadme()).flatMap(({ text }) => [
      ...text.matchAll(/(?:^|[$;&|(] *)(?:git )?penv ([a-z][a-z-]*)/gm),
    ])
    expect(called.length).toBeGreaterThan(0)
    for (const match of called) expect(known).toContain(match[1])
  })

  it('leads only to files that exist', () => {
    const targets = [...readReadme().matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(
      match => match[1] as string,
    )
    for (const target of targets) expect(existsSync(join(root, target)), target).toBe(true)
  })
})
