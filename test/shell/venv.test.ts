// The virtual environment of a worktree: made once, made anew where it is another checkout's, never into a link.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import { describeServer, findProgram, missingPrograms } from '../support/servers.ts'

const AS_PYTHON_SEES_IT =
  'python3 -c "import sys; print(sys.prefix)"; command -v pip; printf "%s\\n" "$VIRTUAL_ENV"'

function makeTree(name = 'a tree'): string {
  const box = realpathSync(mkdtempSync(join(tmpdir(), 'penv-venv-')))
  onTestFinished(() => rmSync(box, { recursive: true, force: true }))
  const tree = join(box, name)
  mkdirSync(tree)
  return tree
}

const use = (tree: string, script = `venv_use\n${AS_PYTHON_SEES_IT}`, env: Record<string, string> = {}) =>
  runVerbs({ service: 'venv', script, id: 'login_k3v9xa', data: tree, env })

function expectOwn(tree: string, { code, stdout, stderr }: Awaited<ReturnType<typeof use>>): void {
  const at = join(tree, '.venv')
  expect({ code, stderr, said: stdout.trim().split('\n') }).toEqual({
    code: 0,
    stderr: '',
    said: [at, join(at, 'bin', 'pip'), at],
  })
}

describeServer('a virtual environment', missingPrograms({ python3: findProgram('python3') }), () => {
  it('is made in the worktree, kept out of git, and there again the next time', {
    timeout: 60_000,
  }, async () => {
    const tree = makeTree()
    expectOwn(tree, await use(tree))
    expect(readFileSync(join(tree, '.venv', '.gitignore'), 'utf8')).toBe('*\n')
    writeFileSync(join(tree, '.venv', 'kept'), '')
    expectOwn(tree, await use(tree))
    expect(existsSync(join(tree, '.venv', 'kept'))).toBe(true)
  })

  it('is made anew where it was copied from another checkout, which keeps what it has', {
    timeout: 60_000,
  }, async () => {
    const main = makeTree()
    await use(main)
    writeFileSync(join(main, '.venv', 'of main'), '')
    const tree = makeTree()
    cpSync(join(main, '.venv'), join(tree, '.venv'), { recursive: true, verbatimSymlinks: true })
    const active = {
      VIRTUAL_ENV: join(main, '.venv'),
      PATH: `${join(main, '.venv', 'bin')}:${process.env.PATH}`,
    }
    expectOwn(tree, await use(tree, undefined, active))
    expect(existsSync(join(tree, '.venv', 'of main'))).toBe(false)
    expect(existsSync(join(main, '.venv', 'of main'))).toBe(true)
  })

  it('is made anew where it was never finished', { timeout: 60_000 }, async () => {
    const tree = makeTree("it's one")
    mkdirSync(join(tree, '.venv', 'bin'), { recursive: true })
    writeFileSync(join(tree, '.venv', 'pyvenv.cfg'), 'home = /usr/bin\n')
    expectOwn(tree, await use(tree))
  })

  it('is refused as a link, and in a folder of other things', async () => {
    const main = makeTree()
    mkdirSync(join(main, '.venv'))
    writeFileSync(join(main, '.venv', 'pyvenv.cfg'), '')
    const tree = makeTree()
    symlinkSync(join(main, '.venv'), join(tree, '.venv'))
    const linked = await use(tree)
    expect({ code: linked.code, stdout: linked.stdout }).toEqual({ code: 1, stdout: '' })
    expect(linked.stderr).toMatch(/\.venv is a link/)
    expect(existsSync(join(main, '.venv', 'pyvenv.cfg'))).toBe(true)
    mkdirSync(join(tree, 'env'))
    writeFileSync(join(tree, 'env', 'settings.py'), '')
    const taken = await use(tree, 'venv_use env')
    expect(taken).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/env is there and is no virtual environment/),
    })
    expect(existsSync(join(tree, 'env', 'settings.py'))).toBe(true)
  })
})
