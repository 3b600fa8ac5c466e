// `penv env` as a command: where the pairs come from, what is printed, and whose file it is. How a file is merged is
// held in test/core/env-file.test.ts and test/host.

import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorOf } from '../support/lifecycle.ts'
import { ended, makeSandbox, PROGRAM, type Sandbox } from '../support/sandbox.ts'

const fileOf = (tree: string) => readFileSync(join(tree, '.env.preview'), 'utf8')

describe('penv env', () => {
  it('merges arguments, stamps the file and keeps it private and out of git', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    mkdirSync(join(tree, 'sub'))
    const { stdout } = await box.penv(join(tree, 'sub'), [
      'env',
      'A=1',
      'URL=postgres://u:p@h/d?x=1&y=2',
      'TOKEN=a=b==',
      'EMPTY=',
    ])
    expect(stdout).toBe('')
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    expect(fileOf(tree).split('\n')).toEqual([
      `PENV_ID=${id}`,
      'A=1',
      `URL='postgres://u:p@h/d?x=1&y=2'`,
      'TOKEN=a=b==',
      'EMPTY=',
      '',
    ])
    expect(statSync(join(tree, '.env.preview')).mode & 0o777).toBe(0o600)
    expect(box.git(tree, 'status', '--porcelain')).toBe('')
    await box.penv(tree, ['env', 'A=2', '--unset', 'EMPTY', '--unset', 'NEVER'])
    expect((await box.penv(tree, ['env'])).stdout).toBe(
      `PENV_ID=${id}\nA=2\nURL=postgres://u:p@h/d?x=1&y=2\nTOKEN=a=b==\n`,
    )
  })

  it('answers in JSON with keys when it merges, with values when it prints', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const merged = (await box.penv(tree, ['env', 'A=1', 'B=two words', '--json'])).json() as Record<
      string,
      unknown
    >
    expect(merged).toMatchObject({ file: join(tree, '.env.preview'), set: ['A', 'B'], unset: [] })
    expect((await box.penv(tree, ['env', '--json'])).json()).toMatchObject({ A: '1', B: 'two words' })
  })

  it('prints exports that a shell evaluates to the same values', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['env', "Q=it's", 'N=two\nlines'])
    const out = execFileSync('sh', ['-c', 'eval "$(penv env --export)"; printf "%s|%s" "$Q" "$N"'], {
      cwd: tree,
      env: box.env,
      encoding: 'utf8',
    })
    expect(out).toBe("it's|two\nlines")
  })

  const INPUTS: [title: string, command: string][] = [
    ['a pipe', 'printf "A=1\\n# note\\n\\nB=2\\n" | penv env'],
    ['a here-document', 'penv env <<EOF\nA=1\n\nB=2\nEOF'],
    ['a file', 'printf "A=1\\nB=2" > pairs; penv env < pairs'],
    ['a pipe that is slow', '(printf "A=1\\n"; sleep 0.3; printf "B=2\\n") | penv env'],
    ['a pipe with CRLF', 'printf "A=1\\r\\nB=2\\r\\n" | penv env'],
  ]
  it.each(INPUTS)('merges pairs from %s', async (_title, command) => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    execFileSync('sh', ['-c', command], { cwd: tree, env: box.env, stdio: 'pipe' })
    expect(fileOf(tree)).toMatch(/^PENV_ID=login_\w{6}\nA=1\nB=2\n$/)
  })

  it('merges pairs that another program writes to its socket or pipe late', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const child = spawn(process.execPath, [PROGRAM, 'env'], {
      cwd: tree,
      env: box.env,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const end = ended(child)
    // Nothing is to be read yet when penv looks.
    setTimeout(() => child.stdin.end('A=1\n'), 300)
    expect((await end).exit).toBe(0)
    expect(fileOf(tree)).toContain('A=1\n')
  })

  it('merges pairs from a pipe that somebody has made non-blocking', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    // The reading end is shared with a process that has switched it.
    const script = `import os, fcntl, subprocess, threading, time, sys
r, w = os.pipe()
fcntl.fcntl(r, fcntl.F_SETFL, fcntl.fcntl(r, fcntl.F_GETFL) | os.O_NONBLOCK)
def write():
    time.sleep(0.4)
    os.write(w, b'A=1\\n')
    os.close(w)
child = subprocess.Popen(sys.argv[1:], stdin=r, close_fds=True)
threading.Thread(target=write).start()
sys.exit(child.wait())
`
    execFileSync('python3', ['-c', script, process.execPath, PROGRAM, 'env'], {
      cwd: tree,
      env: box.env,
      stdio: 'pipe',
    })
    expect(fileOf(tree)).toContain('A=1\n')
  })

  it('never reads stdin when there are arguments', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const child = spawn(process.execPath, [PROGRAM, 'env', 'A=1'], {
      cwd: tree,
      env: box.env,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    // Neither written to nor closed.
    expect((await ended(child)).exit).toBe(0)
    expect(fileOf(tree)).toContain('A=1\n')
  })

  const BAD: [args: string[], input: string, code: string][] = [
    [['NOEQ'], '', 'USAGE'],
    [['1BAD=x'], '', 'USAGE'],
    [['A B=x'], '', 'USAGE'],
    [['=x'], '', 'USAGE'],
    [['GOOD=1', 'NOEQ'], '', 'USAGE'],
    [['GOOD=1', 'PENV_ID=other_abc123'], '', 'USAGE'],
    [['--unset', 'PENV_ID'], '', 'USAGE'],
    [['GOOD=1', `BAD='"\`$\\`], '', 'ENV_VALUE'],
    [[], 'GOOD=1\nthis is no pair\n', 'USAGE'],
    [[], 'GOOD=1\n<<<<<<< HEAD\n', 'USAGE'],
  ]
  it.each(BAD)('refuses all of %j %j, and writes nothing', async (args, input, code) => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['env', 'KEEP=1'])
    const [before, revisions] = [fileOf(tree), box.revisions()]
    const { exit, stdout } = await box.run(['env', ...args, '--json'], { cwd: tree, input })
    expect(errorOf(stdout).code).toBe(code)
    expect(exit).toBe(code === 'USAGE' ? 2 : 9)
    expect(fileOf(tree)).toBe(before)
    expect(box.revisions()).toEqual(revisions)
  })

  it('keeps every key of fifty that are set at once, from one run', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': '#!/bin/sh\nset -eu\nfor i in $(seq 50); do penv env "K$i=$i" & done\nwait\n',
    })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const values = (await box.penv(tree, ['env', '--json'])).json() as Record<string, string>
    expect(Object.keys(values)).toHaveLength(51)
    const { id } = (await box.penv(tree, ['id', '--json'])).json() as { id: string }
    expect(readFileSync(join(box.stateDir, 'envs', id, 'root', '.env.preview'), 'utf8')).toBe(fileOf(tree))
  })

  it('says that it cannot keep the file out of git, and goes on', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    writeFileSync(join(box.main, '.git', 'info-file'), '')
    execFileSync('sh', ['-c', 'rm -rf info && mv info-file info'], { cwd: join(box.main, '.git') })
    await box.penv(tree, ['env', 'A=1'], { stderr: /^penv: .env.preview is not kept out of git: [^\n]*\n$/ })
    expect(fileOf(tree)).toContain('A=1')
  })

  it('prints nothing where there is no file, and makes none', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    expect((await box.penv(tree, ['env'])).stdout).toBe('')
    expect((await box.penv(tree, ['env', '--json'])).json()).toEqual({})
    expect(existsSync(join(tree, '.env.preview'))).toBe(false)
    expect(box.revisions()).toEqual([])
  })
})

describe('status', () => {
  it('shows what the environment holds, how the last run ended and where its logs are', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh':
        '#!/bin/sh\nset -eu\npenv get port web api >/dev/null\npenv get index redis 1-15 >/dev/null\npenv get name db >/dev/null\npenv env SECRET=s3cret\n[ ! -e broken ]\n',
    })
    const tree = box.worktree('login', 'feat/login')
    expect((await box.penv(tree, ['status', '--json'])).json()).toMatchObject({
      state: 'none',
      ports: {},
      keys: [],
      run: null,
      lastRun: null,
      logs: null,
      orphans: [],
    })
    await box.penv(tree, ['up'], { stderr: 'any' })
    const status = (await box.penv(tree, ['status', '--json'])).json() as {
      id: string
      ports: Record<string, number>
      logs: string
    }
    expect(status).toMatchObject({
      state: 'ready',
      root: tree,
      branch: 'feat/login',
      indexes: { redis: 1 },
      names: { db: `db_${status.id}` },
      keys: ['PENV_ID', 'SECRET'],
      lastRun: { command: 'up', ok: true },
    })
    const { stdout } = await box.penv(tree, ['status'])
    for (const word of [
      status.id,
      'ready',
      'feat/login',
      `web ${status.ports.web}`,
      `api ${status.ports.api}`,
      'redis 1',
      `db_${status.id}`,
      'SECRET',
    ])
      expect(stdout).toContain(word)
    expect(stdout).not.toContain('s3cret')
    expect(existsSync(status.logs)).toBe(true)
    writeFileSync(join(tree, 'broken'), '')
    expect((await box.run(['up'], { cwd: tree })).exit).toBe(8)
    expect((await box.penv(tree, ['status', '--json'])).json()).toMatchObject({
      state: 'failed',
      lastRun: { ok: false, error: { code: 'PROVISION_FAILED' } },
    })
    expect(await failedText(box, tree)).toContain('provision failed')
  })
})

async function failedText(box: Sandbox, tree: string): Promise<string> {
  return (await box.penv(tree, ['status'])).stdout
}
