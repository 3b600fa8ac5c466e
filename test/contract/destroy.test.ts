import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ended, makeSandbox, waitFor } from '../support/sandbox.ts'

const PROVISION = '#!/bin/sh\nset -eu\nindex=$(penv get index redis 1-15)\npenv env "INDEX=$index"\n'
// What a script that was written before the worktree was gone would do.
const TEARDOWN =
  '#!/bin/sh\nset -eu\n. "$PENV_ROOT/.env.preview"\nprintf "%s\\n" "flush ${INDEX-none} gone=$PENV_GONE by $(penv id) in $PENV_DIR" >> "$HOME/torn"\n'

const torn = (home: string) => {
  const file = join(home, 'torn')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

describe('teardown.sh', () => {
  it('runs from the snapshot when the worktree is gone, with the same .env.preview', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PROVISION, 'teardown.sh': TEARDOWN })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    rmSync(tree, { recursive: true })
    await box.penv(box.main, ['destroy', id], { stderr: 'any' })
    expect(torn(box.home)).toEqual([
      `flush 1 gone=1 by ${id} in ${join(box.stateDir, 'envs', id, 'root', '.preview')}`,
    ])
    expect(box.ledger().environments).toEqual({})
  })

  it('runs for an environment that was only allocated', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PROVISION, 'teardown.sh': TEARDOWN })
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'port', 'web'])
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(torn(box.home)).toEqual([expect.stringMatching(/^flush none gone= by login_/)])
    await box.penv(tree, ['destroy'], { stderr: /nothing to destroy/ })
  })

  it('finds .env.preview put back where it was lost or is a copy', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PROVISION, 'teardown.sh': TEARDOWN })
    const [lost, copied] = [box.worktree('lost'), box.worktree('copied')]
    for (const tree of [lost, copied]) await box.penv(tree, ['up'], { stderr: 'any' })
    const theirs = readFileSync(join(lost, '.env.preview'))
    rmSync(join(lost, '.env.preview'))
    writeFileSync(join(copied, '.env.preview'), theirs)
    for (const tree of [lost, copied]) await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(torn(box.home).map(line => line.slice(0, 7))).toEqual(['flush 1', 'flush 2'])
  })

  it.each([
    ['no .preview/', '.preview'],
    ['no teardown.sh', '.preview/teardown.sh'],
  ])('is the one of the snapshot when the branch that is checked out has %s', async (_title, path) => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PROVISION, 'teardown.sh': TEARDOWN })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    box.git(tree, 'rm', '-r', '--quiet', path)
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(torn(box.home)).toEqual([
      `flush 1 gone= by ${id} in ${join(box.stateDir, 'envs', id, 'root', '.preview')}`,
    ])
  })

  it('is missing: only what penv itself holds is released, with a note', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PROVISION })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    await box.penv(tree, ['destroy'], { stderr: /teardown.sh does not exist: only what penv itself holds/ })
    expect(box.ledger().environments).toEqual({})
  })

  it('that fails keeps everything, and --force names what it leaves behind', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': PROVISION, 'teardown.sh': '#!/bin/sh\nexit 23\n' })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    await box.penv(tree, ['destroy'], { exit: 8, stderr: /teardown failed/ })
    expect((await box.penv(tree, ['status', '--json'])).json()).toMatchObject({
      state: 'teardown-failed',
      indexes: { redis: 1 },
      keys: ['PENV_ID', 'INDEX'],
    })
    const forced = await box.penv(tree, ['destroy', '--force', '--json'], { stderr: /left behind: index 1/ })
    expect(forced.json()).toMatchObject({ destroyed: true, leftBehind: ['index 1 (redis)'] })
  })

  it('does not run again when only the clean-up behind it failed, but does after another up', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': PROVISION,
      'teardown.sh': `${TEARDOWN}rm -f "$PENV_ROOT/.env.preview"\n[ -z "\${BLOCK-}" ] || mkdir "$PENV_ROOT/.env.preview"\n`,
    })
    const tree = box.worktree('login')
    const blocked = { cwd: tree, env: { BLOCK: '1' } }
    const block = join(tree, '.env.preview')
    await box.penv(tree, ['up'], { stderr: 'any' })
    expect((await box.run(['destroy'], blocked)).exit).toBe(9)
    expect((await box.run(['destroy'], blocked)).exit).toBe(9)
    expect(torn(box.home)).toHaveLength(1)
    rmdirSync(block)
    await box.penv(tree, ['up'], { stderr: 'any' })
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(torn(box.home)).toHaveLength(2)
  })
})

describe('destroy', () => {
  it('leaves nothing of the environment, in the worktree or in the state directory', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': `${PROVISION}touch "$PENV_DATA/app.db"\n`, 'teardown.sh': TEARDOWN })
    const tree = box.worktree('login')
    await box.penv(tree, ['up'], { stderr: 'any' })
    const gitDir = box.git(tree, 'rev-parse', '--git-dir').trim()
    expect(existsSync(join(gitDir, 'penv'))).toBe(true)
    await box.penv(tree, ['destroy'], { stderr: 'any' })
    expect(existsSync(join(tree, '.env.preview'))).toBe(false)
    expect(existsSync(join(gitDir, 'penv'))).toBe(false)
    expect(readdirSync(join(box.stateDir, 'envs'))).toEqual([])
    expect(box.ledger().environments).toEqual({})
  })

  it('leaves a file with the stamp of another environment where it is', async () => {
    const box = makeSandbox()
    const [a, b] = [box.worktree('a'), box.worktree('b')]
    for (const tree of [a, b]) await box.penv(tree, ['env', 'A=1'])
    const theirs = readFileSync(join(a, '.env.preview'), 'utf8')
    writeFileSync(join(b, '.env.preview'), theirs)
    await box.penv(b, ['destroy'])
    expect(readFileSync(join(b, '.env.preview'), 'utf8')).toBe(theirs)
    await box.penv(a, ['status'])
  })

  it('keeps ports that were given back from another environment while others are free', async () => {
    const box = makeSandbox()
    const [a, b] = [box.worktree('a'), box.worktree('b')]
    const ask = (cwd: string, name: string) => box.run(['get', 'port', name, '21000-21005'], { cwd })
    const port = (await ask(a, 'web')).stdout
    await box.penv(a, ['destroy'])
    expect(box.ledger().released).toEqual([{ port: Number(port), id: expect.stringMatching(/^a_/) }])
    const given: string[] = []
    for (let n = 0; n < 7; n++) {
      const { exit, stdout } = await ask(b, `port${n}`)
      if (exit === 6) break
      given.push(stdout)
    }
    expect(given.length).toBeGreaterThan(1)
    expect(given.indexOf(port)).toBe(given.length - 1)
  })
})

describe('waiting', () => {
  const GATED =
    '#!/bin/sh\nset -eu\ntouch "$HOME/started"\nwhile [ ! -e "$HOME/go" ]; do sleep 0.05; done\necho x >> "$HOME/count"\nexit "$(cat "$HOME/exit")"\n'

  it.each([
    ['succeeds', 0, 0],
    ['fails', 3, 8],
  ])('up joins an up with the same options, which %s for both', async (_title, scriptExit, exit) => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': GATED })
    const tree = box.worktree('login')
    writeFileSync(join(box.home, 'exit'), String(scriptExit))
    const first = ended(box.start(['up', '--json'], { cwd: tree }))
    await waitFor(() => existsSync(join(box.home, 'started')), 'the first up')
    const second = box.start(['up', '--json'], { cwd: tree })
    let heard = ''
    second.stderr?.on('data', chunk => {
      heard += chunk
    })
    const result = ended(second)
    await waitFor(() => heard.includes('waiting for "penv up"'), 'the second up to wait')
    expect((await box.run(['down', '--timeout', '0.2', '--json'], { cwd: tree })).stdout).toContain('BUSY')
    writeFileSync(join(box.home, 'go'), '')
    expect([(await first).exit, (await result).exit]).toEqual([exit, exit])
    expect((await result).stdout).toContain('"joined":true')
    expect(readFileSync(join(box.home, 'count'), 'utf8')).toBe('x\n')
  })

  it('takes over the run of a killed penv, whose script is ended first', async () => {
    const box = makeSandbox()
    box.scripts({
      'provision.sh': '#!/bin/sh\necho "$$" >> "$HOME/pids"\n[ -e "$HOME/go" ] || exec sleep 300\n',
    })
    const tree = box.worktree('login')
    const killed = box.start(['up'], { cwd: tree })
    await waitFor(() => existsSync(join(box.home, 'pids')), 'the script')
    const over = ended(killed)
    killed.kill('SIGKILL')
    await over
    writeFileSync(join(box.home, 'go'), '')
    await box.penv(tree, ['up'], { stderr: /stopped the script that an ended penv had left running/ })
    const [left = '', own] = readFileSync(join(box.home, 'pids'), 'utf8').trim().split('\n')
    expect(own).toBeDefined()
    await waitFor(() => !isRunning(Number(left)), 'the end of the script that was left')
  })
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
