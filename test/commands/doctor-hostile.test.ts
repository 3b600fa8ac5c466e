// Repositories that nobody means well with, or that have grown odd: `penv doctor` and `penv init` describe them all
// the same, in a time that is bounded, and say what they could not read.

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Diagnosis, diagnose, failuresOf, GOOD_SCRIPTS, readDiagnosis } from '../support/doctor.ts'
import { makeSandbox, PROGRAM, type Sandbox } from '../support/sandbox.ts'
import { ALICE, findUserObstacle, giveTo, publishProgram, runAs } from '../support/users.ts'

type Hostile = [title: string, make: (root: string, box: Sandbox) => void, unread: string[]]

const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi']
  .map((name, n) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[n]}`).join(',')}]`)
  .join('\n')}\nservices: {db: {image: "postgres:16", x: *i}}\n`

const READ_BY_NAME = [
  'compose.yaml',
  'package.json',
  'pyproject.toml',
  'Makefile',
  'Procfile',
  'Dockerfile',
  'scripts/dev.sh',
  'src/server.js',
  'settings.py',
  '.env.example',
  '.worktreeinclude',
  '.github/workflows/ci.yml',
  '.preview/provision.sh',
  '.claude/settings.json',
  '.gtrconfig',
  '.config/wt.toml',
  'AGENTS.md',
]
const everywhere = (text: string) => (root: string, box: Sandbox) =>
  box.write(root, Object.fromEntries(READ_BY_NAME.map(name => [name, text])))

const CASES: Hostile[] = [
  ['a YAML bomb', root => writeFileSync(join(root, 'compose.yaml'), bomb), ['compose.yaml']],
  [
    'extends and include in a circle',
    (root, box) =>
      box.write(root, {
        'compose.yaml': 'include: [b.yaml]\nservices:\n  db: {extends: {file: b.yaml, service: db}}\n',
        'b.yaml': 'include: [compose.yaml]\nservices:\n  db: {extends: {file: compose.yaml, service: db}}\n',
      }),
    [],
  ],
  [
    'tags of Compose and duplicate keys',
    (root, box) =>
      box.write(root, {
        'compose.yaml': 'services:\n  db: {image: "postgres:16", ports: !reset []}\n  db: {image: redis}\n',
      }),
    [],
  ],
  ['a manifest that is a directory', root => mkdirSync(join(root, 'package.json')), []],
  [
    'a manifest of 10 MB',
    root => writeFileSync(join(root, 'package.json'), `{"name":"${'x'.repeat(10_000_000)}"}`),
    ['package.json'],
  ],
  ['a manifest that is no object', root => writeFileSync(join(root, 'package.json'), '[1, null]'), []],
  [
    'a manifest that is cut off',
    root => writeFileSync(join(root, 'package.json'), '{"scripts": {'),
    ['package.json'],
  ],
  [
    'settings that are no text',
    root => writeFileSync(join(root, 'settings.toml'), Buffer.from([0, 255, 254, 10])),
    ['settings.toml'],
  ],
  ['names with a newline and a quote', root => writeFileSync(join(root, 'a\n"b\'.env'), 'A=1\n'), []],
  [
    'links to themselves, to nowhere and out',
    root => {
      symlinkSync('self', join(root, 'compose.yaml'))
      symlinkSync('nowhere', join(root, '.env'))
      symlinkSync('/', join(root, 'out'))
      symlinkSync('.', join(root, 'loop'))
      mkdirSync(join(root, '.preview', 'deep'), { recursive: true })
      symlinkSync('..', join(root, '.preview', 'deep', 'loop'))
    },
    [],
  ],
  [
    'a pipe in place of a file',
    root => void execFileSync('mkfifo', [join(root, '.env'), join(root, 'compose.yaml')]),
    [],
  ],
  [
    'a name that is not UTF-8',
    root => writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]), ''),
    [],
  ],
  [
    'keys that are properties of every object',
    (root, box) =>
      box.write(root, {
        'package.json':
          '{"__proto__": {"scripts": {"dev": "x"}}, "dependencies": {"constructor": "1", "__proto__": "1"}}',
        'compose.yaml': 'services:\n  __proto__: {image: postgres}\n  constructor: {image: redis}\n',
        '.env.example': '__proto__=1\nconstructor=2\n',
      }),
    [],
  ],
  ['brackets in brackets', everywhere('[\n'.repeat(100_000)), ['compose.yaml']],
  ['braces in braces on one line', everywhere('{'.repeat(200_000)), ['compose.yaml']],
  ['nothing but blank lines', everywhere('\n'.repeat(200_000)), []],
  ['nothing but spaces', everywhere(' '.repeat(200_000)), []],
  ['one word without end', everywhere('a'.repeat(200_000)), []],
  ['words without end on each line', everywhere(`${'A_'.repeat(450)}\n`.repeat(200)), []],
]

const pathsOf = ({ stack }: Diagnosis) => stack?.problems.map(({ file }) => file)

describe('a hostile repository', () => {
  it.each(CASES)('is described all the same, by doctor and by init: %s', async (_, make, unread) => {
    const box = makeSandbox()
    box.scripts(GOOD_SCRIPTS)
    make(box.main, box)
    const diagnosis = await diagnose(box, box.main)
    expect(diagnosis.stack).not.toBe(null)
    expect(pathsOf(diagnosis)).toEqual(expect.arrayContaining(unread))
    await box.penv(box.main, ['init', '--dry-run'], { stderr: 'any' })
  })

  it('is not read through a link that leads out of it', async () => {
    const box = makeSandbox()
    box.write(box.home, {
      'compose.yaml': 'services: {db: {image: "postgres:16"}}\n',
      '.env': 'REDIS_URL=redis://x\n',
    })
    symlinkSync(join(box.home, 'compose.yaml'), join(box.main, 'compose.yaml'))
    symlinkSync(join(box.home, '.env'), join(box.main, '.env'))
    expect((await diagnose(box, box.main)).stack?.services).toEqual([])
  })

  it('runs nothing of itself: no hook, no filter, no file monitor, no pager', async () => {
    const box = makeSandbox()
    const trap = join(box.root, 'trap')
    writeFileSync(trap, `#!/bin/sh\ntouch '${box.root}/sprung'\ncat\n`, { mode: 0o755 })
    box.write(box.main, { 'package.json': '{}', '.gitattributes': '* filter=trap diff=trap\n' })
    for (const key of [
      'core.fsmonitor',
      'core.pager',
      'diff.trap.textconv',
      'diff.external',
      'core.sshCommand',
    ])
      box.git(box.main, 'config', key, trap)
    for (const key of ['filter.trap.clean', 'filter.trap.smudge', 'filter.trap.process'])
      box.git(box.main, 'config', key, trap)
    await diagnose(box, box.main)
    await box.penv(box.main, ['init', '--dry-run'], { stderr: 'any' })
    expect(readdirSync(box.root)).not.toContain('sprung')
  })

  const obstacle = findUserObstacle()
  it.skipIf(obstacle !== undefined)(
    `is described where a file or folder cannot be read${obstacle === undefined ? '' : ` (not here: ${obstacle})`}`,
    () => {
      const box = makeSandbox()
      const program = publishProgram(PROGRAM, box.root)
      box.scripts(GOOD_SCRIPTS)
      box.write(box.main, {
        'compose.yaml': 'services: {db: {image: "postgres:16"}}\n',
        'closed/package.json': '{}',
        'AGENTS.md': '# Agents\n',
      })
      giveTo(ALICE, box.main)
      giveTo(ALICE, box.home)
      for (const name of ['compose.yaml', '.preview/verify.sh', 'closed', 'AGENTS.md'])
        chmodSync(join(box.main, name), 0o000)
      const run = (...args: string[]) => runAs(ALICE, [program, ...args], { cwd: box.main, env: box.env })
      const diagnosis = readDiagnosis(run('doctor', '--json'))
      expect(pathsOf(diagnosis)).toContain('compose.yaml')
      expect(failuresOf(diagnosis)).toMatchObject([{ code: 'SCRIPT_UNREADABLE', file: '.preview/verify.sh' }])
      expect(diagnosis.findings.find(({ file }) => file === 'AGENTS.md')).toMatchObject({
        verdict: 'unchecked',
      })
      expect(run('init', '--dry-run').exit).toBe(0)
    },
  )
})
