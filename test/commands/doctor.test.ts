// `penv doctor` as a command: where it acts, what its verdicts mean for the exit code, and that it only looks. What it
// finds in repositories is held in test/core and by the fixtures of test/fixtures/repos.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeSandbox, type RunOptions, type Sandbox } from '../support/sandbox.ts'

interface Finding {
  area: string
  verdict: 'ok' | 'warn' | 'fail' | 'unchecked'
  message: string
  code?: string
  file?: string
  line?: number
  remedy?: string
}
interface Diagnosis {
  ok: boolean
  place: 'main' | 'worktree' | 'outside' | null
  findings: Finding[]
  stack: { services: { kind: string; need: string }[]; problems: { file: string }[] } | null
}

const GOOD = {
  '.preview/provision.sh': '#!/bin/sh\nset -eu\npenv env PORT="$(penv get port web)"\n',
  '.preview/verify.sh': '#!/bin/sh\n',
  '.preview/teardown.sh': '#!/bin/sh\n',
}

async function diagnose(cwd: string, box: Sandbox, options: RunOptions = {}) {
  const result = await box.run(['doctor', '--json'], { cwd, ...options })
  const diagnosis = result.json() as Diagnosis
  expect(result.stderr).toBe('')
  expect({ exit: result.exit, ok: diagnosis.ok }).toEqual(
    diagnosis.findings.some(({ verdict }) => verdict === 'fail')
      ? { exit: 1, ok: false }
      : { exit: 0, ok: true },
  )
  return diagnosis
}

const failuresOf = ({ findings }: Diagnosis) => findings.filter(({ verdict }) => verdict === 'fail')
const warningsOf = ({ findings }: Diagnosis) => findings.filter(({ verdict }) => verdict === 'warn')

/** Everything below a directory, git's own files too: type, mode, time, content. */
function look(directory: string, path = ''): Record<string, string> {
  if (!existsSync(directory)) return {}
  return Object.fromEntries(
    readdirSync(join(directory, path), { withFileTypes: true }).flatMap(entry => {
      const name = join(path, entry.name)
      if (entry.isDirectory()) return [[name, 'directory'], ...Object.entries(look(directory, name))]
      if (entry.isSymbolicLink()) return [[name, readlinkSync(join(directory, name))]]
      const { mode, mtimeMs } = statSync(join(directory, name))
      return [[name, `${mode} ${mtimeMs} ${readFileSync(join(directory, name), 'base64')}`]]
    }),
  )
}

describe('penv doctor', () => {
  it('acts on the main checkout, in a worktree, below it, and outside of a repository', async () => {
    const box = makeSandbox()
    box.write(box.main, GOOD)
    box.git(box.main, 'add', '--all')
    box.git(box.main, 'commit', '--quiet', '-m', 'scripts')
    const tree = box.worktree('log in')
    mkdirSync(join(tree, 'src'))
    expect((await diagnose(box.main, box)).place).toBe('main')
    expect((await diagnose(tree, box)).place).toBe('worktree')
    expect((await diagnose(join(tree, 'src'), box)).place).toBe('worktree')
    const outside = await diagnose(box.root, box)
    expect(outside).toMatchObject({ place: 'outside', stack: null, ok: true })
  })

  it('only looks', async () => {
    const box = makeSandbox()
    box.write(box.main, {
      ...GOOD,
      'AGENTS.md': '# Agents\n',
      'compose.yaml': 'services:\n  db: {image: "postgres:16"}\n',
    })
    box.git(box.main, 'add', '--all')
    box.git(box.main, 'commit', '--quiet', '-m', 'scripts')
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    // git would write its index anew here, had it not been told otherwise.
    writeFileSync(join(tree, 'AGENTS.md'), '# Agents\n')
    const before = [look(box.root), look(box.stateDir)]
    await diagnose(tree, box)
    await diagnose(box.main, box)
    expect([look(box.root), look(box.stateDir)]).toEqual(before)
  })

  it('makes no state directory', async () => {
    const box = makeSandbox()
    await diagnose(box.main, box)
    expect(existsSync(box.stateDir)).toBe(false)
  })

  it('goes on where git fails, and says so', async () => {
    const box = makeSandbox()
    const bin = join(box.root, 'broken')
    box.write(bin, { git: '#!/bin/sh\necho "fatal: out of luck" >&2\nexit 128\n' })
    chmodSync(join(bin, 'git'), 0o755)
    const diagnosis = await diagnose(box.main, box, { env: { PATH: `${bin}:${box.env.PATH}` } })
    expect(diagnosis).toMatchObject({ place: null, stack: null })
    expect(failuresOf(diagnosis).map(({ area }) => area)).toEqual(['git'])
    expect(diagnosis.findings.some(({ area }) => area === 'state')).toBe(true)
  })

  it('goes on where there is no git', async () => {
    const box = makeSandbox()
    const diagnosis = await diagnose(box.main, box, { env: { PATH: join(box.root, 'nothing') } })
    expect(failuresOf(diagnosis).map(({ area }) => area)).toEqual(['git'])
  })

  it.each<[string, string[]]>([
    ['an argument', ['postgres']],
    ['an unknown option', ['--fix']],
  ])('refuses %s as usage', async (_, args) => {
    const box = makeSandbox()
    const result = await box.run(['doctor', ...args])
    expect({ exit: result.exit, stdout: result.stdout }).toEqual({ exit: 2, stdout: '' })
  })
})

describe('the state directory, to doctor', () => {
  async function withLedger(): Promise<[Sandbox, string]> {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'port', 'web'])
    await box.penv(tree, ['get', 'port', 'api'])
    return [box, tree]
  }
  const newestOf = (box: Sandbox) => join(box.stateDir, 'ledger', box.revisions().at(-1) as string)

  it('fails with a damaged ledger, and its remedy brings the previous revision back', async () => {
    const [box, tree] = await withLedger()
    const whole = readFileSync(newestOf(box), 'utf8')
    writeFileSync(newestOf(box), whole.slice(0, 40))
    const [failure] = failuresOf(await diagnose(tree, box))
    expect(failure).toMatchObject({ area: 'state' })
    expect(failure?.message).toContain(newestOf(box))
    execFileSync('sh', ['-ec', failure?.remedy as string], { cwd: tree, env: box.env, stdio: 'pipe' })
    expect(failuresOf(await diagnose(tree, box))).toEqual([])
    expect(Object.keys(Object.values(box.ledger().environments)[0]?.ports as object)).toEqual(['web'])
  })

  it('fails with a ledger of a newer penv, and advises nothing that would lose it', async () => {
    const [box, tree] = await withLedger()
    const newer = JSON.stringify({ ...box.ledger(), version: 99 })
    writeFileSync(newestOf(box), newer)
    const [failure] = failuresOf(await diagnose(tree, box))
    expect(failure?.message).toContain('99')
    expect(failure?.remedy ?? '').not.toMatch(/\b(rm|mv)\b/)
    expect(readFileSync(newestOf(box), 'utf8')).toBe(newer)
  })

  it('fails where it cannot be made', async () => {
    const box = makeSandbox()
    writeFileSync(join(box.root, 'file'), '')
    const diagnosis = await diagnose(box.main, box, { env: { PENV_HOME: join(box.root, 'file', 'state') } })
    expect(failuresOf(diagnosis).map(({ area }) => area)).toContain('state')
  })

  it('warns where others can read it', async () => {
    const [box, tree] = await withLedger()
    chmodSync(box.stateDir, 0o755)
    const [warning] = warningsOf(await diagnose(tree, box)).filter(({ area }) => area === 'state')
    execFileSync('sh', ['-ec', warning?.remedy as string], { env: box.env })
    expect(statSync(box.stateDir).mode & 0o777).toBe(0o700)
  })

  it('warns of files among the revisions that penv did not put there', async () => {
    const [box, tree] = await withLedger()
    writeFileSync(join(box.stateDir, 'ledger', 'notes.txt'), '')
    expect(
      warningsOf(await diagnose(tree, box))
        .map(({ message }) => message)
        .join(),
    ).toContain('notes.txt')
  })
})

describe('environments, to doctor', () => {
  it('warn where their worktree is gone, with a remedy that releases what they hold', async () => {
    const box = makeSandbox()
    box.write(box.main, GOOD)
    box.git(box.main, 'add', '--all')
    box.git(box.main, 'commit', '--quiet', '-m', 'scripts')
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    rmSync(tree, { recursive: true })
    const [warning] = warningsOf(await diagnose(box.main, box)).filter(({ area }) => area === 'environment')
    expect(warning?.message).toContain(tree)
    execFileSync('sh', ['-ec', warning?.remedy as string], { cwd: box.main, env: box.env, stdio: 'pipe' })
    expect(box.ledger().environments).toEqual({})
  })

  it('warn where they have failed, with a remedy that is run from anywhere', async () => {
    const box = makeSandbox()
    box.write(box.main, { ...GOOD, '.preview/provision.sh': '#!/bin/sh\n[ -e "$HOME/mended" ]\n' })
    box.git(box.main, 'add', '--all')
    box.git(box.main, 'commit', '--quiet', '-m', 'scripts')
    const tree = box.worktree('log in')
    await box.penv(tree, ['up'], { exit: 8, stderr: 'any' })
    const [warning] = warningsOf(await diagnose(box.main, box)).filter(({ area }) => area === 'environment')
    writeFileSync(join(box.home, 'mended'), '')
    execFileSync('sh', ['-ec', warning?.remedy as string], { cwd: box.root, env: box.env, stdio: 'pipe' })
    expect(Object.values(box.ledger().environments)[0]).toMatchObject({ state: 'ready' })
  })

  it('warn of a PENV_ID in the shell that is another one', async () => {
    const box = makeSandbox()
    const diagnosis = await diagnose(box.main, box, { env: { PENV_ID: 'other_aaaaaa' } })
    expect(
      warningsOf(diagnosis)
        .map(({ message }) => message)
        .join(),
    ).toContain('other_aaaaaa')
  })
})

describe('the lifecycle scripts, to doctor', () => {
  const CASES: [title: string, files: Record<string, string>, verdict: string, text: RegExp][] = [
    [
      'a question that is left',
      { 'provision.sh': '#!/bin/sh\n# QUESTION: which key?\n' },
      'fail',
      /which key/,
    ],
    ['CRLF line ends', { 'teardown.sh': '#!/bin/sh\r\necho\r\n' }, 'fail', /CRLF/],
    ['FLUSHALL', { 'teardown.sh': '#!/bin/sh\nredis-cli FLUSHALL\n' }, 'fail', /FLUSHALL/i],
    [
      'a hidden failure of a drop',
      { 'teardown.sh': '#!/bin/sh\ndropdb "preview_$PENV_ID" || true\n' },
      'fail',
      /drop|\|\| true/i,
    ],
  ]
  it.each(CASES)('fail with %s, at its line', async (_, files, verdict, text) => {
    const box = makeSandbox()
    box.write(box.main, GOOD)
    box.write(join(box.main, '.preview'), files)
    const { findings } = await diagnose(box.main, box)
    const [name] = Object.keys(files)
    const found = findings.filter(one => one.verdict === verdict && one.file === `.preview/${name}`)
    expect(found.map(({ message, remedy }) => `${message} ${remedy}`).join()).toMatch(text)
  })

  it('are counted question by question', async () => {
    const box = makeSandbox()
    box.write(box.main, {
      ...GOOD,
      '.preview/provision.sh': '#!/bin/sh\n# QUESTION: one?\n# QUESTION: two?\n',
    })
    expect(failuresOf(await diagnose(box.main, box)).map(({ line }) => line)).toEqual([2, 3])
    const { stdout } = await box.run(['doctor'])
    expect(stdout).toMatch(/2 fail, \d+ warn, \d+ unchecked, \d+ ok\n$/)
  })

  it('warn where there are none, and where teardown or verify is missing', async () => {
    const box = makeSandbox()
    const warned = async () =>
      warningsOf(await diagnose(box.main, box))
        .filter(({ area }) => area === 'scripts')
        .map(({ message }) => message)
    expect(await warned()).toEqual(['there is no .preview/provision.sh on this branch'])
    box.write(box.main, { '.preview/provision.sh': GOOD['.preview/provision.sh'] })
    expect((await warned()).join()).toMatch(/verify\.sh.*teardown\.sh/)
    box.write(box.main, GOOD)
    expect(await warned()).toEqual([])
  })

  it('are sound without a run bit', async () => {
    const box = makeSandbox()
    box.write(box.main, GOOD)
    for (const file of Object.keys(GOOD)) chmodSync(join(box.main, file), 0o644)
    expect((await diagnose(box.main, box)).ok).toBe(true)
  })

  it('fail where git tracks .env.preview', async () => {
    const box = makeSandbox()
    box.write(box.main, { ...GOOD, '.env.preview': 'PENV_ID=x\n' })
    box.git(box.main, 'add', '--all', '--force')
    expect(failuresOf(await diagnose(box.main, box)).map(({ code }) => code)).toEqual(['ENV_PREVIEW_TRACKED'])
  })
})

describe('wiring, to doctor', () => {
  const wiringOf = async (box: Sandbox) =>
    (await diagnose(box.main, box)).findings
      .filter(({ area }) => area === 'wiring')
      .map(({ file, message, verdict }) => `${verdict} ${file} ${/is (\w+)/.exec(message)?.[1]}`)

  it('is missing, current, stale, double or invalid', async () => {
    const box = makeSandbox()
    box.write(box.main, { 'AGENTS.md': '# Agents\n' })
    expect(await wiringOf(box)).toContain('warn AGENTS.md missing')
    await box.penv(box.main, ['init', '--agents', 'codex'], { stderr: 'any' })
    const file = join(box.main, 'AGENTS.md')
    const wired = readFileSync(file, 'utf8')
    expect(await wiringOf(box)).toContain('ok AGENTS.md current')
    writeFileSync(file, wired.replace(/penv /, 'penv  '))
    expect(await wiringOf(box)).toContain('warn AGENTS.md stale')
    writeFileSync(file, `${wired}\n${wired.slice(wired.indexOf('<!--'))}`)
    expect(await wiringOf(box)).toContain('warn AGENTS.md double')
    box.write(box.main, { '.claude/settings.json': '{"hooks": ' })
    expect(await wiringOf(box)).toContain('unchecked .claude/settings.json invalid')
  })
})

describe('a hostile repository, to doctor', () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi']
    .map((name, n) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[n]}`).join(',')}]`)
    .join('\n')}\nservices: {db: {image: "postgres:16", x: *i}}\n`
  const HOSTILE: [title: string, make: (root: string, box: Sandbox) => void][] = [
    ['a YAML bomb', root => writeFileSync(join(root, 'compose.yaml'), bomb)],
    [
      'extends and include in a circle',
      (root, box) =>
        box.write(root, {
          'compose.yaml': 'include: [b.yaml]\nservices:\n  db: {extends: {file: b.yaml, service: db}}\n',
          'b.yaml':
            'include: [compose.yaml]\nservices:\n  db: {extends: {file: compose.yaml, service: db}}\n',
        }),
    ],
    [
      'tags of Compose and duplicate keys',
      root =>
        writeFileSync(
          join(root, 'compose.yaml'),
          'services:\n  db: {image: "postgres:16", ports: !reset []}\n  db: {image: redis}\n',
        ),
    ],
    ['a manifest that is a directory', root => mkdirSync(join(root, 'package.json'))],
    [
      'a manifest of 10 MB',
      root => writeFileSync(join(root, 'package.json'), `{"name":"${'x'.repeat(10_000_000)}"}`),
    ],
    ['a manifest that is no object', root => writeFileSync(join(root, 'package.json'), '[1, null]')],
    [
      'settings that are no text',
      root => writeFileSync(join(root, 'settings.toml'), Buffer.from([0, 255, 254, 10])),
    ],
    ['names with a newline and a quote', root => writeFileSync(join(root, 'a\n"b\'.env'), 'A=1\n')],
    [
      'a link to itself and a link out',
      root => {
        symlinkSync('self', join(root, 'self'))
        symlinkSync('/', join(root, 'out'))
        symlinkSync('.', join(root, 'loop'))
      },
    ],
    [
      'a pipe in place of a file',
      root => void execFileSync('mkfifo', [join(root, '.env'), join(root, 'compose.yaml')]),
    ],
    [
      'a name that is not UTF-8',
      root => writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]), ''),
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
    ],
  ]
  it.each(HOSTILE)('is described all the same: %s', async (_, make) => {
    const box = makeSandbox()
    box.write(box.main, GOOD)
    make(box.main, box)
    const diagnosis = await diagnose(box.main, box)
    expect(diagnosis.stack).not.toBe(null)
    await box.penv(box.main, ['init', '--dry-run'], { stderr: 'any' })
  })
})

describe('what doctor prints', () => {
  it('tells the services first, then what fails, and counts at the end', async () => {
    const box = makeSandbox()
    box.write(box.main, {
      ...GOOD,
      '.preview/provision.sh': '#!/bin/sh\n# QUESTION: which key?\n',
      'compose.yaml':
        'services:\n  db:\n    image: postgres:16\n    container_name: db\n  cache:\n    image: redis:7\n    ports: ["6379:6379"]\n',
    })
    const { stdout } = await box.run(['doctor'])
    const order = [
      'tier 1',
      'required  cache (redis)',
      'required  db (postgres)',
      '\nfail\n',
      '\nwarn\n',
      '1 fail, ',
    ]
    const places = order.map(text => stdout.indexOf(text))
    expect(places).not.toContain(-1)
    expect(places).toEqual([...places].sort((a, b) => a - b))
  })

  it('shows three findings of a kind and counts the others, unless asked for all', async () => {
    const box = makeSandbox()
    const ports = Array.from({ length: 9 }, (_, n) => `"${8000 + n}:80${n}0"`).join(', ')
    box.write(box.main, {
      ...GOOD,
      'compose.yaml': `services:\n  web:\n    image: nginx\n    ports: [${ports}]\n`,
    })
    const count = (text: string) => text.match(/publishes host port/g)?.length
    const short = await box.run(['doctor'])
    expect(count(short.stdout)).toBe(3)
    expect(short.stdout).toContain('and 6 more like the last; -v shows all')
    expect(count((await box.run(['doctor', '-v'])).stdout)).toBe(9)
  })
})
