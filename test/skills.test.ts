import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { INSTRUCTIONS } from '../src/core/wiring/wiring-text.ts'

const skills = join(import.meta.dirname, '..', 'skills')
const COMMANDS =
  'id is-worktree get env exec up verify down destroy status session list gc doctor init bootstrap trust'.split(
    ' ',
  )

/** Words after `penv` in code; prose such as "penv init wrote" is code too, and must be a command as well. */
function calledCommands(text: string): string[] {
  const code = [...text.matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].map(([found]) => found).join('\n')
  return [...code.matchAll(/(?<![\w./-])penv ([a-z-]+)/g)].map(([, command]) => command as string)
}

describe.each(readdirSync(skills))('the skill %s', name => {
  const text = readFileSync(join(skills, name, 'SKILL.md'), 'utf8')
  const [, front = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? []

  it('says what it is called and when to use it', () => {
    const { name: stated, description } = parse(front)
    expect(stated).toBe(name)
    expect(description.length).toBeGreaterThan(50)
    expect(description.length).toBeLessThanOrEqual(1024)
  })

  it('is short enough to be read whole', () => {
    expect(text.split('\n').length).toBeLessThanOrEqual(150)
  })

  it('calls only commands that penv has', () => {
    const called = calledCommands(body)
    expect(called).toEqual(expect.arrayContaining(['up', 'verify', 'destroy', 'get', 'doctor', 'init']))
    expect(called.filter(command => !COMMANDS.includes(command))).toEqual([])
  })

  it('has shell that a POSIX shell reads', () => {
    for (const [, script] of body.matchAll(/```sh\n([\s\S]*?)```/g))
      execFileSync('sh', ['-n'], { input: (script as string).replace(/<[a-z]+>/g, 'word') })
  })

  it('shows nothing that it forbids', () => {
    const shown = body.slice(body.indexOf('## 1.'))
    expect(shown).not.toMatch(/FLUSHALL|\|\| true|--force/)
  })
})

it('the instructions call only commands that penv has', () => {
  expect(calledCommands(INSTRUCTIONS).filter(command => !COMMANDS.includes(command))).toEqual([])
})
