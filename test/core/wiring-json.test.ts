import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  claudeSession,
  conductorScripts,
  cursorSetup,
  geminiSession,
  phantomCommands,
  supersetCommands,
  t3Script,
  vscodeTask,
  wtCommands,
} from '../../src/core/wiring/wiring-entries.ts'
import { editJson, type JsonWants } from '../../src/core/wiring/wiring-json.ts'
import { jsonTexts, type Shape } from '../support/jsonc.ts'

const parse = (text: string) => JSON.parse(text.replace(/^\uFEFF/, ''))

const kinds: [string, JsonWants, Shape][] = [
  ['session hooks', claudeSession, { keys: ['hooks', 'SessionStart'] }],
  ['hooks in milliseconds', geminiSession, { keys: ['hooks', 'SessionStart'] }],
  ['a list of commands', cursorSetup, { keys: ['setup-worktree', 'setup-worktree-unix'] }],
  ['two lists', wtCommands, { keys: ['setup-worktree', 'teardown-worktree'] }],
  ['two lists in objects', phantomCommands, { keys: ['postCreate', 'preDelete', 'commands'] }],
  [
    'two command lines',
    conductorScripts,
    {
      keys: ['scripts', 'setup', 'archive'],
      leaves: ['"npm ci"', '"a\\nb"', '"a\\u000ab\\n"', '" "', '"x;"', '"x # y"'],
    },
  ],
  [
    'a script of a list',
    t3Script,
    { keys: ['scripts', 'command', 'runOnWorktreeCreate'], leaves: ['"bun i"', '"x &"'] },
  ],
  ['a task of a list', vscodeTask, { keys: ['tasks', 'label', 'command'] }],
]

describe.each(kinds)('%s in generated files', (_, wants, shape) => {
  it('are put in once, and taken out without a trace', () => {
    let wired = 0
    fc.assert(
      fc.property(jsonTexts(shape), ({ text, isStrict }) => {
        const first = editJson(text, wants)
        expect(first.status).not.toBe('invalid')
        expect(first.removed).toBe(text)
        if (first.status === 'foreign') {
          expect(first.applied).toBe(text)
          expect(first.reason).toMatch(/is not|cannot run/)
          return
        }
        expect(first.status).toBe('missing')
        wired++
        const second = editJson(first.applied, wants)
        expect(second).toMatchObject({ status: 'current', applied: first.applied, removed: text })
        if (isStrict) parse(first.applied)
      }),
      { numRuns: 400 },
    )
    expect(wired).toBeGreaterThan(100)
  })

  it('are refused where a key occurs twice', () => {
    const twice = fc.record({
      one: jsonTexts(shape),
      two: jsonTexts(shape),
      key: fc.constantFrom(...shape.keys),
    })
    fc.assert(
      fc.property(twice, ({ one, two, key }) => {
        const [a, b] = [one, two].map(({ text }) => text.replace(/^\uFEFF/, ''))
        const text = `{"other": [{"${key}": ${a},"${key}": ${b}}]}`
        expect(editJson(text, wants)).toMatchObject({ status: 'invalid', applied: text, removed: text })
      }),
      { numRuns: 50 },
    )
  })

  it('make a file of their own, which goes as a whole', () => {
    const fresh = editJson(undefined, wants)
    expect(fresh).toMatchObject({ status: 'missing', removed: null })
    expect(editJson(fresh.applied, wants)).toMatchObject({
      status: 'current',
      applied: fresh.applied,
      removed: null,
    })
    const rewritten = JSON.stringify(parse(fresh.applied), null, 4)
    expect(editJson(rewritten, wants)).toMatchObject({ status: 'current', removed: null })
  })
})

describe('session hooks', () => {
  const ours = {
    matcher: 'startup|resume|clear|compact',
    hooks: [{ type: 'command', command: 'penv session', timeout: 120 }],
  }
  const file = (...groups: unknown[]) => `${JSON.stringify({ hooks: { SessionStart: groups } }, null, 2)}\n`
  const other = { matcher: 'startup', hooks: [{ type: 'command', command: 'echo hi' }] }

  it('join the hooks that are there', () => {
    const { applied } = editJson(file(other), claudeSession)
    expect(parse(applied)).toEqual({ hooks: { SessionStart: [other, ours] } })
  })

  it.each([
    ['current, whatever the order of its keys', [{ hooks: ours.hooks, matcher: ours.matcher }], 'current'],
    ['stale with another timeout', [{ ...ours, hooks: [{ ...ours.hooks[0], timeout: 5 }] }], 'stale'],
    [
      'stale with another command line',
      [{ ...ours, hooks: [{ ...ours.hooks[0], command: '/opt/bin/penv session -q' }] }],
      'stale',
    ],
    ['stale without a group', [{ type: 'command', command: 'penv session' }], 'stale'],
    ['double', [ours, other, ours], 'double'],
    ['current in a group of others', [{ ...other, hooks: [...other.hooks, ...ours.hooks] }], 'current'],
    [
      'missing beside a command that only resembles it',
      [{ hooks: [{ type: 'command', command: 'penv sessions' }] }],
      'missing',
    ],
  ])('are %s', (_, groups, status) => {
    const text = file(...groups)
    const outcome = editJson(text, claudeSession)
    expect(outcome.status).toBe(status)
    const after = editJson(outcome.applied, claudeSession)
    expect(after).toMatchObject({ status: 'current', applied: outcome.applied })
    if (status === 'stale' || status === 'double')
      expect(parse(outcome.applied).hooks.SessionStart).toContainEqual(ours)
  })

  it('leave the other hooks of their group when they are taken out', () => {
    const text = file({ ...other, hooks: [...other.hooks, ...ours.hooks] })
    expect(parse(editJson(text, claudeSession).removed ?? '')).toEqual({ hooks: { SessionStart: [other] } })
  })

  it('do not take a command line of somebody else out that calls penv among others', () => {
    const text = file({ hooks: [{ type: 'command', command: 'cd app && penv session' }] })
    expect(editJson(text, claudeSession)).toMatchObject({ status: 'current', applied: text, removed: text })
  })
})

describe('a file that cannot be merged with', () => {
  it.each([
    ['is cut off', '{"a": 1', 'invalid'],
    ['is empty', '', 'invalid'],
    ['is a list', '[]', 'invalid'],
    ['has text after its end', '{} x', 'invalid'],
    ['has single quotes', "{'a': 1}", 'invalid'],
    ['is nested very deep', `{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'invalid'],
    ['has hooks that are a list', '{"hooks": []}', 'foreign'],
    ['has a session start that is an object', '{"hooks": {"SessionStart": {}}}', 'foreign'],
  ])('is left alone and says why when it %s', (_, text, status) => {
    const outcome = editJson(text, claudeSession)
    expect(outcome).toMatchObject({ status, applied: text, removed: text })
    expect(outcome.reason).toBeTruthy()
  })

  it('names the line of a syntax error', () => {
    expect(editJson('{\n  "a": 1\n  "b": 2\n}', claudeSession).reason).toContain('line 3')
  })

  it('is one with comments where the program reads plain JSON', () => {
    const text = '{\n  // setup\n  "setup-worktree": []\n}\n'
    expect(editJson(text, cursorSetup, true)).toMatchObject({ status: 'invalid', applied: text })
    expect(editJson(text, cursorSetup).status).toBe('missing')
  })

  it('is one whose command line would not go on', () => {
    const text = '{"scripts": {"setup": "npm ci &"}}'
    const outcome = editJson(text, conductorScripts)
    expect(outcome).toMatchObject({ status: 'foreign', applied: text })
    expect(outcome.reason).toContain('scripts.setup')
  })
})

describe('entries that people arranged themselves', () => {
  it.each([
    ['a longer command', '{"setup-worktree": ["npm ci && penv up"]}', cursorSetup, 'current'],
    [
      'the key of the system',
      '{"setup-worktree-unix": ["npm ci"], "setup-worktree-windows": []}',
      cursorSetup,
      'missing',
    ],
    ['one of two', '{"setup": ["penv up"]}', supersetCommands, 'stale'],
    ['both', '{"setup": ["penv up --seed"], "teardown": ["penv destroy"]}', supersetCommands, 'current'],
    [
      'a comment that names it',
      '{"setup": ["npm ci # then penv up"], "teardown": []}',
      supersetCommands,
      'missing',
    ],
  ])('are respected: %s', (_, text, wants, status) => {
    const outcome = editJson(text, wants)
    expect(outcome.status).toBe(status)
    expect(editJson(outcome.applied, wants)).toMatchObject({ status: 'current', applied: outcome.applied })
  })

  it('get penv where the system looks', () => {
    const { applied } = editJson('{"setup-worktree": ["a"], "setup-worktree-unix": ["b"]}', cursorSetup)
    expect(parse(applied)).toEqual({ 'setup-worktree': ['a'], 'setup-worktree-unix': ['b', 'penv up'] })
  })

  it('keep what others wrote when penv is taken out', () => {
    const text = '{"setup-worktree": ["npm ci && penv up", "penv up"]}'
    expect(editJson(text, cursorSetup)).toMatchObject({
      status: 'double',
      removed: '{"setup-worktree": ["npm ci && penv up"]}',
    })
  })

  it('keep comments that were written into what penv made', () => {
    const { applied } = editJson('{\n  "a": 1\n}\n', cursorSetup)
    const noted = applied.replace('["penv up"]', '[\n    // do not touch\n    "penv up"\n  ]')
    expect(editJson(noted, cursorSetup).removed).toContain('// do not touch')
  })
})

it('T3 Code runs penv with the script that it runs anyway, since it runs only one', () => {
  const text =
    '{"scripts": [{"name": "Dev", "command": "vite"}, {"name": "Setup", "command": "bun i", "runOnWorktreeCreate": true}]}'
  const { applied } = editJson(text, t3Script)
  expect(parse(applied).scripts[1].command).toBe('bun i && penv up')
  expect(parse(applied).scripts).toHaveLength(2)
})
