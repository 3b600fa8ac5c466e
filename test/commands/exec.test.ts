// `penv exec`: a command with the variables of .env.preview, and nothing between it and its caller.

import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pidOf, say, storyOf } from '../support/lifecycle.ts'
import { ended, makeSandbox, type Sandbox } from '../support/sandbox.ts'

async function withValues(box: Sandbox): Promise<string> {
  const tree = box.worktree('login')
  await box.penv(tree, ['env', 'A=1', "B=it's", 'C=a b#c $HOME', 'D='])
  return tree
}

describe('exec', () => {
  it('adds the variables to the caller’s, in the caller’s directory, with the words as they are', async () => {
    const box = makeSandbox()
    const tree = await withValues(box)
    mkdirSync(join(tree, 'sub'))
    const script = 'printf "%s\\n" "$A" "$B" "$C" "[$D]" "$KEPT" "$(pwd -P)" "$@"'
    const { exit, stdout } = await box.run(
      ['exec', '--', 'sh', '-c', script, 'sh', '--json', 'two words', '', '-v'],
      { cwd: join(tree, 'sub'), env: { A: 'overridden', KEPT: 'yes' } },
    )
    expect(exit).toBe(0)
    expect(stdout).toBe(`1\nit's\na b#c $HOME\n[]\nyes\n${join(tree, 'sub')}\n--json\ntwo words\n\n-v\n`)
  })

  it('passes stdin through, also of a writer that is slow', async () => {
    const box = makeSandbox()
    const tree = await withValues(box)
    const slow = '(sleep 0.3; echo late) | penv exec -- sh -c "read -r line; echo got \\$line"'
    expect(execFileSync('sh', ['-c', slow], { cwd: tree, env: box.env, encoding: 'utf8' })).toBe('got late\n')
    expect((await box.run(['exec', 'cat'], { cwd: tree, input: 'from stdin' })).stdout).toBe('from stdin')
  })

  const ENDS: [title: string, words: string[], exit: number][] = [
    ['0', ['true'], 0],
    ['the command’s', ['sh', '-c', 'exit 42'], 42],
    ['128 + n when a signal ended it', ['sh', '-c', 'kill -TERM $$'], 143],
    ['128 + n for any signal', ['sh', '-c', 'kill -USR1 $$'], 138],
    ['127 when there is no such command', ['no-such-command-anywhere'], 127],
    ['126 when it cannot be executed', ['/etc/passwd'], 126],
  ]
  it.each(ENDS)('exits %s', async (_title, words, exit) => {
    const box = makeSandbox()
    const tree = await withValues(box)
    expect((await box.run(['exec', '--', ...words], { cwd: tree })).exit).toBe(exit)
  })

  it('exits 125 where penv itself fails, and runs nothing', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    for (const cwd of [tree, box.main, box.home]) {
      const result = await box.run(['exec', 'sh', '-c', say('ran')], { cwd })
      expect([result.exit, result.stdout]).toEqual([125, ''])
      expect(result.stderr).toMatch(/^penv: /)
    }
    writeFileSync(join(tree, '.env.preview'), 'PENV_ID=other_abc123\nA=1\n')
    expect((await box.run(['exec', 'true'], { cwd: tree })).exit).toBe(125)
    rmSync(join(tree, '.env.preview'))
    expect((await box.run(['exec'], { cwd: tree })).exit).toBe(2)
    expect(storyOf(box)).toEqual([])
  })

  it.each(['SIGTERM', 'SIGHUP'] as const)('passes %s on, and ends as the command ends', async signal => {
    const box = makeSandbox()
    const tree = await withValues(box)
    const child = box.start(
      ['exec', '--', 'sh', '-c', `trap 'exit 7' TERM HUP\n${say('running $$')}while :; do sleep 0.02; done`],
      { cwd: tree },
    )
    const end = ended(child)
    await pidOf(box, 'running')
    child.kill(signal)
    expect((await end).exit).toBe(7)
  })

  it('leaves an interrupt of the terminal to the command', async () => {
    const box = makeSandbox()
    const tree = await withValues(box)
    // A terminal's Ctrl-C goes to the whole foreground group.
    const child = spawn(
      'penv',
      ['exec', '--', 'sh', '-c', `trap 'exit 6' INT\n${say('running $$')}while :; do sleep 0.02; done`],
      { cwd: tree, env: box.env, detached: true, stdio: 'ignore' },
    )
    const end = ended(child)
    await pidOf(box, 'running')
    process.kill(-(child.pid as number), 'SIGINT')
    expect((await end).exit).toBe(6)
  })
})
