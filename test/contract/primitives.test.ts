import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeSandbox } from '../support/sandbox.ts'

describe('penv get', () => {
  it('prints one value a line in the order of the names, and the same again', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const ports = (await box.penv(tree, ['get', 'port', 'web', 'api'])).stdout.trim().split('\n').map(Number)
    for (const port of ports) expect(port >= 20000 && port <= 29999, String(port)).toBe(true)
    expect((await box.penv(tree, ['get', 'port', 'api', 'web'])).stdout).toBe(`${ports[1]}\n${ports[0]}\n`)
    expect((await box.penv(tree, ['get', 'port', 'web', 'api', '--export'])).stdout).toBe(
      `WEB=${ports[0]}\nAPI=${ports[1]}\n`,
    )
    const renewed = Number((await box.penv(tree, ['get', 'port', 'web', '--renew'])).stdout)
    expect(renewed).not.toBe(ports[0])
    expect((await box.penv(tree, ['get', 'port', 'web'])).stdout).toBe(`${renewed}\n`)
  })

  it('gives the lowest free index of its pool, and asks for a range the first time', async () => {
    const box = makeSandbox()
    const [a, b] = [box.worktree('a'), box.worktree('b')]
    await box.penv(a, ['get', 'index', 'redis'], { exit: 2, stderr: /first use needs a range/ })
    expect((await box.penv(a, ['get', 'index', 'redis', 'queue', '1-15'])).stdout).toBe('1\n2\n')
    expect((await box.penv(b, ['get', 'index', 'redis', '1-15'])).stdout).toBe('3\n')
    expect((await box.penv(b, ['get', 'index', 'other', '1-15', '--pool', 'second'])).stdout).toBe('1\n')
    expect((await box.penv(b, ['get', 'index', 'redis'])).stdout).toBe('3\n')
    expect(
      (await box.penv(b, ['get', 'index', 'zero', '0-0'], { stderr: /index 0 is usually/ })).stdout,
    ).toBe('0\n')
    const records = Object.values(box.ledger().environments) as {
      indexes: Record<string, { pool: string }>
    }[]
    expect(records.map(({ indexes }) => Object.values(indexes).map(({ pool }) => pool))).toEqual([
      ['default', 'default'],
      ['default', 'second', 'default'],
    ])
  })

  it.each([
    ['RANGE_MISMATCH', 2, ['get', 'index', 'redis', '9-15'], {}],
    [
      'POOL_EXHAUSTED',
      6,
      ['get', 'index', 'queue', '1'],
      { holders: [expect.objectContaining({ value: 1 })] },
    ],
    ['USAGE', 2, ['get', 'port', 'Web'], {}],
    ['USAGE', 2, ['get', 'port', 'a'.repeat(41)], {}],
    ['USAGE', 2, ['get', 'name', '../..'], {}],
    ['USAGE', 2, ['get', 'name', 'app', '--style', 'camel'], {}],
  ])('fails with %s and an empty answer: %i %j', async (code, exit, args, details) => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['get', 'index', 'redis', '1-15'])
    const before = box.revisions()
    expect(await box.run(args, { cwd: tree })).toMatchObject({ exit, stdout: '' })
    const result = await box.run([...args, '--json'], { cwd: tree })
    expect(result.json()).toMatchObject({ error: { code, details } })
    expect(box.revisions()).toEqual(before)
  })

  it('names carry the id, fit in 50 bytes, and differ for every suffix', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    const suffixes = [
      'app',
      'my.app v2/x',
      'my_app_v2_x',
      'App',
      'ünï',
      '9lives',
      'x'.repeat(70),
      'x'.repeat(71),
    ]
    const names = (await box.penv(tree, ['get', 'name', ...suffixes])).stdout.trim().split('\n')
    expect(names[0]).toBe(`app_${id}`)
    expect(names[2]).toBe(`my_app_v2_x_${id}`)
    expect(new Set(names).size).toBe(suffixes.length)
    for (const name of names) {
      expect(name).toMatch(/^[a-z][a-z0-9_]{0,49}$/)
      expect(name.endsWith(`_${id}`)).toBe(true)
    }
    expect((await box.penv(tree, ['get', 'name', 'app', '--style', 'kebab'])).stdout).toBe(
      `app-${id.replaceAll('_', '-')}\n`,
    )
  })
})

describe('.env.preview', () => {
  it.each([
    ['bare', 'a.b/c:@%+,=-_9', 'a.b/c:@%+,=-_9'],
    ['empty', '', ''],
    ['not bare when it starts with =', '=a', "'=a'"],
    ['in single quotes', 'a b#c"d$e`f\\g', "'a b#c\"d$e`f\\g'"],
    ['in single quotes over two lines', 'a\nb', "'a\nb'"],
    ['in double quotes', "it's", '"it\'s"'],
  ])('holds a value %s', async (_title, value, written) => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['env', `KEY=${value}`])
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    expect(readFileSync(join(tree, '.env.preview'), 'utf8')).toBe(`PENV_ID=${id}\nKEY=${written}\n`)
    expect((await box.penv(tree, ['env', '--json'])).json()).toEqual({ PENV_ID: id, KEY: value })
  })

  it.each([
    ['a single quote with a double quote', `it's "x"`],
    ['a single quote with a dollar', `it's $x`],
    ['a single quote with a backquote', "it's `x`"],
    ['a single quote with a backslash', "it's \\x"],
    ['a backslash at the end', 'x\\'],
    ['a carriage return', 'a\rb'],
  ])('refuses %s, naming the key and not the value, and writes nothing', async (_title, value) => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const result = await box.run(['env', 'GOOD=1', `TOKEN=${value}`, '--json'], { cwd: tree })
    expect(result).toMatchObject({ exit: 9, stdout: expect.stringContaining('"ENV_VALUE"') })
    expect(result.stderr).toContain('"TOKEN"')
    expect(result.stdout + result.stderr).not.toContain(value)
    expect(existsSync(join(tree, '.env.preview'))).toBe(false)
  })

  it.each([
    [['NOEQ']],
    [['1BAD=x']],
    [['A B=x']],
    [['PENV_ID=other']],
    [['--unset', 'PENV_ID']],
    [['A=1', '--unset', 'A']],
  ])('refuses %j as a usage error, and writes nothing', async args => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['env', ...args], { exit: 2, stderr: /^penv: / })
    expect(existsSync(join(tree, '.env.preview'))).toBe(false)
  })

  it('changes only the keys of a merge, and new keys go to the end', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const file = join(tree, '.env.preview')
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    writeFileSync(file, `# top\nexport A=1 # one\n\nB=2\r\nA=3\nodd line\nPENV_ID=${id}\n`)
    await box.penv(tree, ['env', 'A=9', 'C=4', '--unset', 'B'])
    expect(readFileSync(file, 'utf8')).toBe(`# top\n\nA=9\nodd line\nPENV_ID=${id}\nC=4\n`)
  })

  it('takes pairs from stdin when there are no others, and prints when stdin is empty', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const input = "# comment\nexport A='x y'\n\nB=2\n"
    expect(await box.run(['env'], { cwd: tree, input })).toMatchObject({ exit: 0, stdout: '', stderr: '' })
    await box.run(['env', 'B=3'], { cwd: tree, input: 'B=from stdin\n' })
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    expect((await box.penv(tree, ['env'])).stdout).toBe(`PENV_ID=${id}\nA=x y\nB=3\n`)
    expect((await box.penv(tree, ['env', '--export'])).stdout).toBe(
      `export PENV_ID=${id}\nexport A='x y'\nexport B=3\n`,
    )
  })

  it('with the stamp of another environment is refused, fails verify, and is begun anew by up', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\npenv env "PORT=$(penv get port web)"\n' })
    const [a, b] = [box.worktree('a'), box.worktree('b')]
    for (const tree of [a, b]) await box.penv(tree, ['up'], { stderr: 'any' })
    await box.penv(a, ['env', 'THEIRS=1'])
    writeFileSync(join(b, '.env.preview'), readFileSync(join(a, '.env.preview')))
    await box.penv(b, ['env', 'A=1'], { exit: 9, stderr: /copy/ })
    await box.penv(b, ['exec', '--', 'true'], { exit: 125, stderr: /belongs to a_/ })
    await box.penv(b, ['verify'], { exit: 1, stderr: /it is a copy/ })
    await box.penv(b, ['up'], { stderr: /started afresh/ })
    const { keys } = (await box.penv(b, ['status', '--json'])).json() as { keys: string[] }
    expect(keys).toEqual(['PENV_ID', 'PORT'])
  })

  it('is replaced where it is a link, and is not followed', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const target = join(box.root, 'target')
    writeFileSync(target, 'KEPT=1\n')
    symlinkSync(target, join(tree, '.env.preview'))
    await box.penv(tree, ['env', 'A=1'])
    expect(readFileSync(target, 'utf8')).toBe('KEPT=1\n')
    expect(readFileSync(join(tree, '.env.preview'), 'utf8')).toMatch(/^A=1$/m)
  })
})

describe('penv exec', () => {
  it.each([
    ["the command's own code", ['sh', '-c', 'exit 7'], 7],
    ['128 + n after a signal', ['sh', '-c', 'kill -TERM $$'], 143],
    ['127 for what is not found', ['no-such-command-of-this-name'], 127],
    ['126 for what cannot be run', ['/etc/passwd'], 126],
  ])('exits with %s', async (_title, command, exit) => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['exec', '--', ...command], { exit: 125, stderr: /has no .env.preview/ })
    await box.penv(tree, ['env', 'A=1'])
    await box.penv(tree, ['exec', '--', ...command], { exit, stderr: 'any' })
  })

  it('has the variables over those of the caller, in the current directory', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    await box.penv(tree, ['env', 'A=ours'])
    box.write(tree, { 'sub/x': '' })
    const call = { cwd: join(tree, 'sub'), env: { A: 'theirs', B: 'kept' } }
    const { stdout } = await box.run(['exec', '--', 'sh', '-c', 'echo "$A $B $PWD"'], call)
    expect(stdout).toBe(`ours kept ${join(tree, 'sub')}\n`)
    await box.penv(tree, ['exec'], { exit: 2, stderr: /missing/ })
  })
})
