import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeBlocksOf, codeSpansOf, sectionOf, tableOf } from '../support/markdown.ts'
import { PROGRAM } from '../support/sandbox.ts'

const contract = readFileSync(join(import.meta.dirname, '..', '..', 'contract', 'CONTRACT.md'), 'utf8')
const section = sectionOf(contract, 'Commands and options')

const helpOf = (...words: string[]) =>
  execFileSync(process.execPath, [PROGRAM, ...words, '--help'], { encoding: 'utf8' })

/** Commands below this one, by the lines of its help. */
function subcommandsOf(...words: string[]): string[] {
  const [, list = ''] = helpOf(...words).split('\nCommands:\n')
  return [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(match => match[1] as string)
}

function leavesBelow(...words: string[]): string[][] {
  const below = subcommandsOf(...words)
  return below.length === 0 ? [words] : below.flatMap(word => leavesBelow(...words, word))
}

/** `-q, --quiet` and `--main <value>`, as help shows them. */
const optionsOf = (...words: string[]) =>
  [...helpOf(...words).matchAll(/^ {2}(-[^\n]*?)(?: {2,}|$)/gm)].map(match => (match[1] as string).trim())

const commands = leavesBelow()
const common = ['--json', '-v, --verbose', '-q, --quiet', '-f, --force', '-h, --help']
const rows = tableOf(section)
const documented = rows.map(([command]) => codeSpansOf(command ?? '')[0]?.replace(/^penv /, '') ?? '')
const everyOption = new Set(
  commands.flatMap(words =>
    optionsOf(...words).flatMap(option => [...option.matchAll(/--[a-z-]+/g)].map(String)),
  ),
).add('--version')

describe('the commands of the contract', () => {
  it('are exactly those of penv --help', () => {
    expect(documented.sort()).toEqual(commands.map(words => words.join(' ')).sort())
  })

  it.each(rows.map(([command, , options]) => [codeSpansOf(command ?? '')[0] as string, options ?? '']))(
    '%s has exactly the options of its help',
    (command, options) => {
      const shown = optionsOf(...command.replace(/^penv /, '').split(' '))
      expect(shown.filter(option => !common.includes(option)).sort()).toEqual(codeSpansOf(options).sort())
      expect(shown).toEqual(expect.arrayContaining(common))
    },
  )

  it.each(rows.map(([command, words]) => [codeSpansOf(command ?? '')[0] as string, words ?? '']))(
    '%s takes the arguments of its help',
    (command, words) => {
      const usage = /^Usage: (.*)$/m.exec(helpOf(...command.replace(/^penv /, '').split(' ')))?.[1] ?? ''
      const taken = usage.replace(`${command} [options]`, '').trim()
      // Commander has no word for a range behind a list of names.
      expect(codeSpansOf(words)[0]?.replace(/ [[<]first-last[\]>]$/, '') ?? '').toBe(taken)
    },
  )

  it('share the options of the second table', () => {
    const shared = tableOf(section.slice(section.indexOf('| option |')))
    expect(shared.map(([option]) => codeSpansOf(option ?? '')[0])).toEqual(common)
    expect(helpOf()).toMatch(/^ {2}-V, --version/m)
  })

  it('are the only ones that the document speaks of', () => {
    const texts = [...codeSpansOf(contract), ...codeBlocksOf(contract).map(({ text }) => text)]
    const spoken = texts.flatMap(text => [...text.matchAll(/(?<![\w/.-])penv ([a-z][a-z-]*)/g)])
    const known = new Set([...commands.map(([first]) => first), 'template', 'copying'])
    for (const match of spoken) expect([...known]).toContain(match[1])
    expect(spoken.length).toBeGreaterThan(20)
  })

  it('have every option that the document speaks of', () => {
    const spoken = codeSpansOf(contract)
      .filter(span => /^(--|penv |destroy )/.test(span))
      .flatMap(span => [...span.matchAll(/--[a-z][a-z-]*/g)].map(String))
    for (const option of spoken) expect([...everyOption]).toContain(option)
    for (const option of everyOption)
      expect(spoken.concat(codeSpansOf(section).join(' ').split(/[ ,]+/))).toContain(option)
  })
})
