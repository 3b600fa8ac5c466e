// What `penv doctor` says of the lifecycle scripts and of the wiring of agents and tools.

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Diagnosis, diagnose, failuresOf, follow, GOOD_SCRIPTS, warningsOf } from '../support/doctor.ts'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'

const ofScripts = ({ area }: { area: string }) => area === 'scripts'
const codesOf = (findings: Diagnosis['findings']) => findings.map(({ code }) => code)

describe('the lifecycle scripts, to doctor', () => {
  const CASES: [title: string, name: string, text: string, codes: string[], line?: number][] = [
    ['a question that is left', 'provision.sh', '#!/bin/sh\n  # QUESTION: which key?\n', ['QUESTION'], 2],
    [
      'a question in another file',
      'compose.yaml',
      '# QUESTION: which service?\nservices: {}\n',
      ['QUESTION'],
      1,
    ],
    ['CRLF line ends', 'teardown.sh', '#!/bin/sh\r\necho\r\n', ['SCRIPT_FLAW']],
    ['CRLF in what they source', 'servers.sh', 'PGHOST=x\r\n', ['SCRIPT_FLAW']],
    ['a byte order mark', 'verify.sh', '\uFEFF#!/bin/sh\n', ['SCRIPT_FLAW']],
    ['FLUSHALL', 'teardown.sh', '#!/bin/sh\nredis-cli FLUSHALL\n', ['FLUSHALL'], 2],
    [
      'a drop of whatever database',
      'teardown.sh',
      'mongosh --eval "db.dropDatabase()"\n',
      ['DROP_DATABASE_UNNAMED'],
      1,
    ],
    [
      'a hidden failure of a drop',
      'teardown.sh',
      '#!/bin/sh\ndropdb "x_$PENV_ID" || true\n',
      ['DROP_ERROR_HIDDEN'],
      2,
    ],
  ]
  it.each(CASES)('fail once with %s, at its place', async (_, name, text, codes, line) => {
    const box = makeSandbox()
    box.scripts({ ...GOOD_SCRIPTS, [name]: text })
    const failures = failuresOf(await diagnose(box, box.main))
    expect(codesOf(failures)).toEqual(codes)
    expect(failures[0]).toMatchObject({ file: `.preview/${name}`, ...(line === undefined ? {} : { line }) })
  })

  it('are counted question by question', async () => {
    const box = makeSandbox()
    box.scripts({ ...GOOD_SCRIPTS, 'provision.sh': '#!/bin/sh\n# QUESTION: one?\n# QUESTION: two?\n' })
    expect(failuresOf(await diagnose(box, box.main)).map(({ line }) => line)).toEqual([2, 3])
    expect((await box.run(['doctor'])).stdout).toMatch(/^2 fail, \d+ warn, \d+ unchecked, \d+ ok$/m)
  })

  it('ask nothing in a word that only looks like a question', async () => {
    const box = makeSandbox()
    box.scripts({ ...GOOD_SCRIPTS, 'provision.sh': '#!/bin/sh\necho "# QUESTION: none"\n' })
    expect((await diagnose(box, box.main)).ok).toBe(true)
  })

  it('are sound again after the command that is advised for CRLF', async () => {
    const box = makeSandbox()
    box.git(box.main, 'config', 'core.autocrlf', 'false')
    box.scripts({ ...GOOD_SCRIPTS, 'verify.sh': '#!/bin/sh\r\n:\r\n' })
    const [failure] = failuresOf(await diagnose(box, box.main))
    follow(box, failure, box.main)
    box.git(box.main, 'commit', '--quiet', '-m', 'line ends')
    const tree = box.worktree('login')
    expect((await diagnose(box, tree)).ok).toBe(true)
  })

  it('warn where there are none, and where verify or teardown is missing', async () => {
    const box = makeSandbox()
    const warned = async () => codesOf(warningsOf(await diagnose(box, box.main)).filter(ofScripts))
    expect(await warned()).toEqual(['NO_PROVISION'])
    box.scripts({ 'provision.sh': GOOD_SCRIPTS['provision.sh'] })
    expect(await warned()).toEqual(['SCRIPT_MISSING', 'SCRIPT_MISSING'])
    box.scripts(GOOD_SCRIPTS)
    expect(await warned()).toEqual([])
  })

  it('warn where a new worktree would not have them, with the command that gives them to it', async () => {
    const box = makeSandbox()
    box.write(join(box.main, '.preview'), GOOD_SCRIPTS)
    const [warning] = warningsOf(await diagnose(box, box.main)).filter(ofScripts)
    expect(warning?.code).toBe('NOT_COMMITTED')
    follow(box, warning, box.main)
    expect(existsSync(join(box.worktree('login'), '.preview', 'provision.sh'))).toBe(true)
    expect(warningsOf(await diagnose(box, box.main)).filter(ofScripts)).toEqual([])
  })

  it('warn where git ignores them, and are judged all the same', async () => {
    const box = makeSandbox()
    box.write(box.main, { '.gitignore': '.preview\n' })
    box.write(join(box.main, '.preview'), { ...GOOD_SCRIPTS, 'teardown.sh': 'redis-cli FLUSHALL\n' })
    const diagnosis = await diagnose(box, box.main)
    expect(codesOf(warningsOf(diagnosis).filter(ofScripts))).toEqual(['SCRIPTS_IGNORED'])
    expect(codesOf(failuresOf(diagnosis))).toEqual(['FLUSHALL'])
  })

  it('are sound without a run bit', async () => {
    const box = makeSandbox()
    box.scripts(GOOD_SCRIPTS)
    for (const name of Object.keys(GOOD_SCRIPTS)) chmodSync(join(box.main, '.preview', name), 0o644)
    const diagnosis = await diagnose(box, box.main)
    expect(diagnosis.ok).toBe(true)
    expect(diagnosis.findings.filter(({ code }) => code === 'NO_RUN_BIT')).toHaveLength(3)
  })
})

describe('traps for worktrees, to doctor', () => {
  it('fail where git tracks .env.preview, until the command that is advised was run', async () => {
    const box = makeSandbox()
    box.write(box.main, { '.env.preview': 'PENV_ID=x\n', 'app one/.env.preview': 'A=1\n' })
    box.scripts(GOOD_SCRIPTS)
    const failures = failuresOf(await diagnose(box, box.main))
    expect(codesOf(failures)).toEqual(['ENV_PREVIEW_TRACKED', 'ENV_PREVIEW_TRACKED'])
    for (const failure of failures) follow(box, failure, box.main)
    expect((await diagnose(box, box.main)).ok).toBe(true)
    expect(existsSync(join(box.main, '.env.preview'))).toBe(true)
  })

  it.each<[string, string, boolean]>([
    ['.env*', '.env*\n', true],
    ['.env.* with the exception', '.env.*\n!.env.preview\n', false],
    ['another file', '.env.local\n', false],
  ])('warn where .worktreeinclude would copy .env.preview: %s', async (_, text, isWarned) => {
    const box = makeSandbox()
    box.write(box.main, { '.worktreeinclude': text })
    const codes = codesOf(warningsOf(await diagnose(box, box.main)))
    expect(codes.includes('WORKTREE_INCLUDE')).toBe(isWarned)
  })

  it('warn where hooks lie in a folder that a new worktree lacks', async () => {
    const box = makeSandbox()
    box.git(box.main, 'config', 'core.hooksPath', '.husky/_')
    const tree = box.worktree('login')
    for (const cwd of [box.main, tree])
      expect(codesOf(warningsOf(await diagnose(box, cwd)))).toContain('HOOKS_PATH')
  })
})

describe('wiring, to doctor', () => {
  const wiringOf = async (box: Sandbox) =>
    (await diagnose(box, box.main)).findings
      .filter(({ area }) => area === 'wiring')
      .map(({ file, code, verdict }) => `${verdict} ${file} ${code}`)

  it('is missing, current, stale, double or invalid', async () => {
    const box = makeSandbox()
    box.write(box.main, { 'AGENTS.md': '# Agents\n' })
    expect(await wiringOf(box)).toContain('warn AGENTS.md WIRING_MISSING')
    await box.penv(box.main, ['init', '--agents', 'codex'], { stderr: 'any' })
    const file = join(box.main, 'AGENTS.md')
    const wired = readFileSync(file, 'utf8')
    expect(await wiringOf(box)).toContain('ok AGENTS.md WIRING_CURRENT')
    writeFileSync(file, wired.replace(/penv /, 'penv  '))
    expect(await wiringOf(box)).toContain('warn AGENTS.md WIRING_STALE')
    writeFileSync(file, `${wired}\n${wired.slice(wired.indexOf('<!--'))}`)
    expect(await wiringOf(box)).toContain('warn AGENTS.md WIRING_DOUBLE')
    box.write(box.main, { '.claude/settings.json': '{"hooks": ' })
    expect(await wiringOf(box)).toContain('unchecked .claude/settings.json WIRING_INVALID')
  })

  it('is current after what is advised, be it missing, stale or double', async () => {
    const box = makeSandbox()
    box.write(box.main, { 'AGENTS.md': '# Agents\n', '.cursor/worktrees.json': '{}\n' })
    await box.penv(box.main, ['init', '--agents', 'instructions'], { stderr: 'any' })
    const file = join(box.main, 'AGENTS.md')
    const wired = readFileSync(file, 'utf8')
    for (const text of [
      wired.replace(/penv /, 'penv  '),
      `${wired}\n${wired.slice(wired.indexOf('<!--'))}`,
    ]) {
      writeFileSync(file, text)
      const [warning] = warningsOf(await diagnose(box, box.main)).filter(({ area }) => area === 'wiring')
      follow(box, warning, box.main)
      expect((await wiringOf(box)).filter(line => !line.startsWith('ok '))).toEqual([])
    }
  })

  it('is said of nothing that nobody uses', async () => {
    const box = makeSandbox()
    const { findings } = await diagnose(box, box.main, { env: { PATH: `${box.root}/bin:/usr/bin:/bin` } })
    expect(findings.filter(({ area }) => area === 'wiring')).toEqual([])
  })
})
