// What the main checkout says in its env files, as generated scripts ask for it: values, lines for penv env, servers.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parsePairs } from '../../src/core/env-pairs.ts'
import { runVerbs } from '../support/adapters.ts'
import { findProgram } from '../support/servers.ts'

const scratch = mkdtempSync(join(tmpdir(), 'penv-main-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const shells = [['dash'], ['bash'], ['bash', '--posix'], ['busybox', 'sh'], ['mksh']]
  .filter(([shell]) => findProgram(shell as string) !== undefined)
  .map(words => [words.join(' '), [...words, '-eu']] as const)

async function ask(
  files: Record<string, string>,
  script: string,
  { env = {}, shell = ['sh', '-eu'] }: { env?: Record<string, string>; shell?: string[] } = {},
): Promise<{ stdout: string; stderr: string }> {
  const main = mkdtempSync(join(scratch, 'a main checkout-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(main, name)), { recursive: true })
    writeFileSync(join(main, name), text)
  }
  const { code, stdout, stderr } = await runVerbs({
    service: 'main',
    script: `main_reads ${Object.keys(files).join(' ')}\n${script}`,
    id: 'login_k3v9xa',
    data: main,
    env: { PENV_MAIN: main, PENV_ROOT: '/nowhere', ...env },
    shell,
  })
  expect(code, stderr).toBe(0)
  return { stdout, stderr }
}

const VALUES: [title: string, line: string, value: string][] = [
  ['plain', 'KEY=a', 'a'],
  ['exported, with spaces around', '  export KEY = a b  ', 'a b'],
  ['behind a comment', 'KEY=a # why', 'a'],
  ['with a # inside of a word', 'KEY=a#b', 'a#b'],
  ['in single quotes', "KEY='a # ${OTHER} \\n' # why", 'a # ${OTHER} \\n'],
  ['in double quotes', 'KEY="a # b\\nc"', 'a # b\nc'],
  ['in backquotes', 'KEY=`it\'s "it"`', 'it\'s "it"'],
  ['over several lines', 'KEY="-----BEGIN\nabc=\n-----END"', '-----BEGIN\nabc=\n-----END'],
  ['with a quote that never closes', 'KEY="a', '"a'],
  ['with CRLF', 'KEY=a\r', 'a'],
  ['set twice', 'KEY=a\nKEY=b', 'b'],
  ['of another key', 'KEY=${OTHER}/${NONE:-c}-$OTHER', 'o/c-$OTHER'],
  ['of itself', 'KEY=${KEY}', ''],
  ['of a ring of keys', 'KEY=${RING}\nRING=${KEY}', ''],
  ['with what a shell would run', 'KEY=$(id) `id` ; & \\', '$(id) `id` ; & \\'],
  ['not there', 'NOKEY=a\n# KEY=b\nKEY2=c', 'none'],
]

describe.each(shells)('what the main checkout says, read by %s', (_name, shell) => {
  it.each(VALUES)('is a value %s', async (_title, line, value) => {
    const said = await ask({ '.env': `OTHER=o\n${line}\n` }, 'main_value KEY none', { shell: [...shell] })
    expect(said.stdout).toBe(`${value === '' ? 'none' : value}\n`)
  })
})

it('goes by the order of the files, and lets a file be absent', async () => {
  const files = { 'api/.env': 'A=1\nB=1\nC=1\n', '.env.example': 'A=2\nB=2', '.env': 'A=3\n' }
  const script = 'main_reads no/.env api/.env .env.example .env; main_value A; main_value B; main_value C'
  expect((await ask(files, script)).stdout).toBe('3\n2\n1\n')
})

it('reads the worktree where there is no main checkout', async () => {
  const tree = mkdtempSync(join(scratch, 'tree-'))
  writeFileSync(join(tree, '.env'), 'A=1\n')
  const { stdout } = await ask({ '.env': 'A=2\n' }, 'main_value A', {
    env: { PENV_MAIN: '', PENV_ROOT: tree },
  })
  expect(stdout).toBe('1\n')
})

it('passes values on so that penv env reads the same, and leaves out what is empty', async () => {
  const values = { A: 'two words # b', B: 'a\nb', C: `it's`, D: '{"a": "$x \\n"}', E: '' }
  const files = { '.env': `A='${values.A}'\nB="${values.B}"\nC=${values.C}\nD='${values.D}'\nE=\n` }
  const { stdout } = await ask(files, 'main_pairs A B C D E NONE')
  expect(Object.fromEntries(parsePairs(stdout))).toEqual({
    A: values.A,
    B: values.B,
    C: values.C,
    D: values.D,
  })
})

it('passes the same on to the programs that a script calls', async () => {
  const files = { '.env': `A='two words'\nB="a\nb"\nC=$(touch pwned)\nE=\n` }
  const script = `main_export A B C E NONE; sh -c 'printf "%s|%s|%s|%s|%s" "$A" "$B" "$C" "\${E-unset}" "\${NONE-unset}"'`
  expect((await ask(files, script)).stdout).toBe('two words|a\nb|$(touch pwned)|unset|unset')
})

const SAY = 'printf "%s|%s|%s|%s" "$main_host" "$main_port" "$main_user" "$main_password"'
const SERVERS: [title: string, env: string, call: string, expected: string][] = [
  [
    'a URL',
    'U=postgres://me:p%20w@localhost:5433/a?b=c@d\n',
    'main_server U h 1 u p',
    'localhost|5433|me|p w',
  ],
  ['a URL without an account', 'U=postgres://localhost/a\n', 'main_server U h 1 u p', 'localhost|||'],
  ['a URL that is not there', 'X=1\n', 'main_server U h 1 u p', 'h|1|u|p'],
  ['a URL and nothing else that is known', 'X=1\n', 'main_server U', '|||'],
  ['an address of IPv6', 'U=redis://:p@[::1]:6380/0\n', 'main_server U h 1', '::1|6380||p'],
  [
    'a server inside a compose project',
    'U=postgres://a:b@db:5432/x\n',
    'main_server U localhost 1 u p',
    'localhost|1|u|p',
  ],
  ['parts', 'H=127.0.0.1\nP=3307\nN=me\n', 'main_server_parts H P N W h 1 u p', '127.0.0.1|3307|me|p'],
  ['parts without a host', 'P=3307\n', "main_server_parts '' P '' '' h 1 u p", 'h|3307|u|p'],
  [
    'parts of a server inside a compose project',
    'H=db\nP=1\nN=me\n',
    'main_server_parts H P N W h 2 u p',
    'h|2|u|p',
  ],
]

describe('the server of the main checkout', () => {
  it.each(SERVERS)('is that of %s', async (_title, env, call, expected) => {
    expect(await ask({ '.env': env }, `${call}; ${SAY}`)).toEqual({ stdout: expected, stderr: '' })
  })

  it('is what an example says only where nothing else is known', async () => {
    const files = { '.env.example': 'U=postgres://ex:ample@localhost:1/x\n', '.env': 'A=1\n' }
    expect((await ask(files, `main_server U; ${SAY}`)).stdout).toBe('localhost|1|ex|ample')
    expect((await ask(files, `main_server U localhost 2 u p; ${SAY}`)).stdout).toBe('localhost|2|u|p')
    expect((await ask(files, `main_server_parts U U U U localhost 2 u p; ${SAY}`)).stdout).toBe(
      'localhost|2|u|p',
    )
  })

  it('is left alone on another machine, unless the repository has said that it may be used', async () => {
    const files = { '.env': 'U=postgres://a:s3cret@db.example.com/x\nH=db.example.com\n' }
    for (const call of ['main_server U localhost 1 u p', "main_server_parts H '' '' '' localhost 1 u p"]) {
      const { stdout, stderr } = await ask(files, `${call}; ${SAY}`)
      expect(stdout).toBe('localhost|1|u|p')
      expect(stderr).toMatch(
        /^penv: [UH] of the main checkout .*db\.example\.com[\s\S]*main_reaches db\.example\.com/,
      )
      expect(stderr).not.toContain('s3cret')
    }
    expect(await ask(files, `main_reaches db.example.com; main_server U localhost 1 u p; ${SAY}`)).toEqual({
      stdout: 'db.example.com||a|s3cret',
      stderr: '',
    })
  })

  it.each([
    ['mongodb://a:b@localhost:27018/x', 'mongodb://a:b@localhost:27018/x'],
    ['localhost:9094,localhost:9095', 'localhost:9094,localhost:9095'],
    ['', 'else'],
    ['broker:9092', 'else'],
  ])('is the address "%s" as it stands, where it can be reached', async (value, expected) => {
    expect((await ask({ '.env': `U=${value}\n` }, 'main_address U else')).stdout).toBe(`${expected}\n`)
  })
})
