// `penv verify`: what the engine itself checks, against the main checkout, the ledger and the machine.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { errorOf, say, statusOf, storyOf } from '../support/lifecycle.ts'
import { makeSandbox, PROGRAM, type Sandbox } from '../support/sandbox.ts'

interface Check {
  name: string
  verdict: string
  message: string
}

async function verify(
  box: Sandbox,
  tree: string,
): Promise<{ exit: number; checks: Check[]; code: string | undefined }> {
  const { exit, stdout } = await box.run(['verify', '--json'], { cwd: tree })
  const value = JSON.parse(stdout) as { checks?: Check[] }
  if (value.checks !== undefined) return { exit, checks: value.checks, code: undefined }
  const { code, details } = errorOf(stdout)
  return { exit, checks: details.checks as Check[], code }
}

const of = (checks: Check[], name: string) =>
  checks.filter(check => check.name === name).map(({ verdict, message }) => `${verdict}: ${message}`)

async function upWith(box: Sandbox, pairs: string, files: Record<string, string> = {}): Promise<string> {
  box.scripts({
    'provision.sh': `#!/bin/sh\nset -eu\nport=$(penv get port web)\nindex=$(penv get index redis 1-15)\npenv env "PORT=$port" ${pairs}\n`,
    ...files,
  })
  const tree = box.worktree('login')
  await box.penv(tree, ['up'], { stderr: 'any' })
  return tree
}

describe('the comparison with the main checkout', () => {
  const ROWS: [
    title: string,
    main: Record<string, string>,
    own: string,
    verdicts: RegExp[],
    shared?: string,
  ][] = [
    [
      'finds nothing shared where all differs',
      { '.env': 'DATABASE_URL=postgres://127.0.0.1/shop\nPORT=3000\n' },
      'DATABASE_URL=postgres://127.0.0.1/shop_$PENV_ID',
      [/^ok: nothing is shared/],
    ],
    [
      'fails on an equal URL',
      { '.env': 'DATABASE_URL=postgres://127.0.0.1/shop\n' },
      'DATABASE_URL=postgres://127.0.0.1/shop',
      [/^fail: DATABASE_URL equals .*\(\.env\)/],
    ],
    [
      'fails on a resource that is not set here',
      { '.env': 'DATABASE_URL=postgres://127.0.0.1/shop\n' },
      'OTHER=1',
      [/^fail: shared: DATABASE_URL .*\.env is not set here/],
    ],
    [
      'passes over what .preview/shared lists',
      { '.env': 'DATABASE_URL=postgres://127.0.0.1/shop\nMAIL_URL=smtp://127.0.0.1:1025\n' },
      'OTHER=1',
      [/^ok: nothing is shared/],
      '# meant\nDATABASE_URL # read only\n\nMAIL_URL\n',
    ],
    [
      'fails on what .preview/shared does not list',
      { '.env': 'DATABASE_URL=postgres://127.0.0.1/shop\nMAIL_URL=smtp://127.0.0.1:1025\n' },
      'OTHER=1',
      [/MAIL_URL/],
      'DATABASE_URL\n',
    ],
    [
      'passes an equal host and port beside another database',
      { '.env': 'DB_HOST=db.local\nDB_PORT=5432\nDB_DATABASE=shop\n' },
      'DB_HOST=db.local DB_PORT=5432 DB_DATABASE=shop_$PENV_ID',
      [/^ok: nothing is shared/],
    ],
    [
      'fails on an equal database beside equal host and port',
      { '.env': 'DB_HOST=db.local\nDB_PORT=5432\nDB_DATABASE=shop\n' },
      'DB_HOST=db.local DB_PORT=5432 DB_DATABASE=shop',
      [/DB_HOST/, /DB_PORT/, /DB_DATABASE/],
    ],
    [
      'fails on an equal port of a server',
      { '.env': 'PORT=3000\nHOST=127.0.0.1\n' },
      'PORT=3000 HOST=127.0.0.1',
      [/^fail: PORT equals/],
    ],
    [
      'passes over secrets, flags and addresses of the world',
      {
        '.env':
          'API_KEY=k\nDEBUG=1\nNODE_ENV=development\nSENTRY_DSN=https://a@o1.ingest.sentry.io/1\nEMPTY_URL=\n',
      },
      'API_KEY=k DEBUG=1',
      [/^ok/],
    ],
    [
      'reads the file that wins on the main checkout',
      {
        '.env': 'DATABASE_URL=postgres://127.0.0.1/a\n',
        '.env.local': 'DATABASE_URL=postgres://127.0.0.1/b\n',
      },
      'DATABASE_URL=postgres://127.0.0.1/b',
      [/\(\.env\.local\)/],
    ],
    [
      'does not read examples',
      {
        '.env.example': 'DATABASE_URL=postgres://127.0.0.1/shop\n',
        '.env.sample': 'REDIS_URL=redis://127.0.0.1/0\n',
      },
      'OTHER=1',
      [/^ok/],
    ],
    [
      'compares values, not the way they are written',
      { '.env': "export DATABASE_URL='postgres://127.0.0.1/shop' # main\n" },
      'DATABASE_URL=postgres://127.0.0.1/shop',
      [/^fail: DATABASE_URL equals/],
    ],
    [
      'finds an equal cache index',
      { '.env': 'REDIS_URL=redis://127.0.0.1:6379/0\n' },
      'REDIS_URL=redis://127.0.0.1:6379/0',
      [/^fail: REDIS_URL equals/],
    ],
    [
      'passes over an equal file below the checkout, of which each has its own',
      { '.env': 'DATABASE_URL=file:./dev.db\n' },
      'DATABASE_URL=file:./dev.db',
      [/^ok/],
    ],
    [
      'finds an equal file',
      { '.env': 'DATABASE_URL=file:/var/lib/dev.db\n' },
      'DATABASE_URL=file:/var/lib/dev.db',
      [/^fail: DATABASE_URL equals/],
    ],
  ]
  it.each(ROWS)('%s', async (_title, main, own, verdicts, shared) => {
    const box = makeSandbox()
    const tree = await upWith(
      box,
      own
        .split(' ')
        .map(pair => `"${pair}"`)
        .join(' '),
      shared === undefined ? {} : { shared },
    )
    box.write(box.main, main)
    const { exit, checks } = await verify(box, tree)
    const found = of(checks, 'main-checkout')
    expect(found).toEqual(verdicts.map(verdict => expect.stringMatching(verdict)))
    expect(exit).toBe(found.some(line => line.startsWith('fail')) ? 1 : 0)
    // Keys only: no value of main's, and none of ours.
    expect(JSON.stringify(found)).not.toMatch(/127\.0\.0\.1|db\.local|dev\.db|var/)
  })

  it('reads the .env of the branch’s own main checkout only, and writes nothing there', async () => {
    const box = makeSandbox()
    const tree = await upWith(box, '"DATABASE_URL=postgres://127.0.0.1/shop_$PENV_ID"')
    box.write(tree, { '.env': 'DATABASE_URL=postgres://127.0.0.1/shop\n' })
    const before = box.git(box.main, 'status', '--porcelain', '--ignored')
    expect((await verify(box, tree)).exit).toBe(0)
    expect(box.git(box.main, 'status', '--porcelain', '--ignored')).toBe(before)
  })
})

describe('the check of .env.preview', () => {
  const ROWS: [title: string, spoil: (box: Sandbox, tree: string) => void, verdict: RegExp][] = [
    ['is gone', (_box, tree) => rmSync(join(tree, '.env.preview')), /does not exist/],
    [
      'is a copy',
      (box, tree) => box.write(tree, { '.env.preview': 'PENV_ID=other_abc123\n' }),
      /belongs to other_abc123/,
    ],
    ['has no stamp', (box, tree) => box.write(tree, { '.env.preview': 'PORT=1\n' }), /no PENV_ID/],
  ]
  it.each(ROWS)('fails when it %s', async (_title, spoil, verdict) => {
    const box = makeSandbox()
    const tree = await upWith(box, '', { 'verify.sh': `#!/bin/sh\n${say('ran')}` })
    spoil(box, tree)
    const { exit, checks, code } = await verify(box, tree)
    expect([exit, code]).toEqual([1, 'VERIFY_FAILED'])
    expect(of(checks, 'env-file')).toEqual([expect.stringMatching(verdict)])
    expect(storyOf(box)).toEqual([])
    await box.penv(tree, ['up'], { stderr: 'any' })
    expect((await verify(box, tree)).exit).toBe(0)
  })

  it('warns when git tracks it', async () => {
    const box = makeSandbox()
    const tree = await upWith(box, '')
    box.git(tree, 'add', '--force', '.env.preview')
    const { exit, checks } = await verify(box, tree)
    expect(exit).toBe(0)
    expect(of(checks, 'env-file-tracked')).toEqual([expect.stringMatching(/^warn: .*tracked by git/)])
  })

  it('fails on a port, a name and a URL of another environment, and on a port that was given back', async () => {
    const box = makeSandbox()
    const tree = await upWith(box, '')
    const other = box.worktree('cart')
    const port = (await box.penv(other, ['get', 'port', 'web'])).stdout.trim()
    const name = (await box.penv(other, ['get', 'name', 'db'])).stdout.trim()
    for (const pair of [
      `API_PORT=${port}`,
      `API_URL=http://localhost:${port}/v1`,
      `DATABASE=${name}`,
      `BUCKET=${name.replaceAll('_', '-')}`,
    ]) {
      await box.penv(tree, ['env', pair])
      const { exit, checks } = await verify(box, tree)
      expect([pair, exit]).toEqual([pair, 1])
      expect(of(checks, 'ledger')).toEqual([
        expect.stringMatching(new RegExp(`^fail: ${pair.split('=')[0]} `)),
      ])
      await box.penv(tree, ['env', '--unset', pair.split('=')[0] as string])
    }
    await box.penv(tree, ['env', `API_PORT=${port}`])
    await box.penv(other, ['destroy'])
    expect(of((await verify(box, tree)).checks, 'ledger')).toEqual([expect.stringMatching(/given back/)])
  })

  it('warns of an allocated port that no variable names', async () => {
    const box = makeSandbox()
    const tree = await upWith(box, '')
    const unused = (await box.penv(tree, ['get', 'port', 'admin'])).stdout.trim()
    const { exit, checks } = await verify(box, tree)
    expect(exit).toBe(0)
    expect(of(checks, 'ledger')).toEqual([
      expect.stringMatching(/^ok/),
      expect.stringMatching(`^warn: port admin \\(${unused}\\)`),
    ])
  })
})

describe('the check of a port', () => {
  async function listen(
    cwd: string,
    port: number,
    options: { host?: string; uid?: number } = {},
  ): Promise<ChildProcess> {
    const code = `require('net').createServer().listen(${port}, '${options.host ?? '127.0.0.1'}', () => console.log('on'))`
    const child = spawn(process.execPath, ['-e', code], {
      cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await new Promise(done => child.stdout?.once('data', done))
    return child
  }

  it('is ok when it is free, or served from the worktree, below it, or from its data', async () => {
    const box = makeSandbox()
    const tree = await upWith(box, '')
    const { id, ports } = await statusOf(box, tree)
    const port = ports.web as number
    expect(of((await verify(box, tree)).checks, 'port-web')).toEqual([`ok: port web (${port}) is free`])
    mkdirSync(join(tree, 'apps', 'api'), { recursive: true })
    for (const place of [tree, join(tree, 'apps', 'api'), join(box.stateDir, 'envs', id, 'data')])
      for (const host of ['127.0.0.1', '::1', '0.0.0.0']) {
        const server = await listen(place, port, { host })
        const { exit, checks } = await verify(box, tree)
        expect(of(checks, 'port-web')).toEqual([`ok: port web (${port}) is served from ${place}`])
        expect(exit).toBe(0)
        server.kill('SIGKILL')
        await new Promise(done => server.once('exit', done))
      }
  })

  it('fails with pid, command and directory when a stranger holds it, also one whose path begins alike', async () => {
    const box = makeSandbox()
    const tree = await upWith(box, '')
    const port = (await statusOf(box, tree)).ports.web as number
    mkdirSync(`${tree}-2`)
    for (const place of [box.home, box.main, `${tree}-2`, '/']) {
      const server = await listen(place, port)
      const { exit, checks } = await verify(box, tree)
      expect(exit).toBe(1)
      expect(of(checks, 'port-web')).toEqual([
        `fail: port web (${port}) is held by pid ${server.pid} (node) in ${place}`,
      ])
      server.kill('SIGKILL')
      await new Promise(done => server.once('exit', done))
    }
    // The way out that is documented.
    const renewed = await (async () => {
      const server = await listen(box.home, port)
      const { stdout } = await box.penv(tree, ['get', 'port', 'web', '--renew'])
      server.kill('SIGKILL')
      return Number(stdout)
    })()
    expect(renewed).not.toBe(port)
  })

  it('does not take another environment’s server for ours', async () => {
    const box = makeSandbox()
    const tree = await upWith(box, '')
    const other = box.worktree('cart')
    const port = (await statusOf(box, tree)).ports.web as number
    await listen(other, port)
    expect((await verify(box, tree)).exit).toBe(1)
  })

  const canBeOther = process.getuid?.() === 0
  it.runIf(canBeOther)(
    `is unchecked when another user’s process holds it${canBeOther ? '' : ' (not run: it takes two users)'}`,
    async () => {
      const box = makeSandbox()
      // Root reads every process, so penv is the one with the lesser user.
      execFileSync('chmod', ['755', box.root])
      const tree = await upWith(box, '')
      const port = (await statusOf(box, tree)).ports.web as number
      await listen('/', port)
      for (const file of execFileSync('find', [box.root], { encoding: 'utf8' }).trim().split('\n'))
        chownSync(file, 65534, 65534)
      // Copied to where that user can read it.
      const program = join(box.root, 'penv.cjs')
      execFileSync('cp', [PROGRAM, program])
      const out = execFileSync(process.execPath, [program, 'verify', '--json'], {
        cwd: tree,
        env: box.env,
        uid: 65534,
        gid: 65534,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const { checks } = JSON.parse(out) as { checks: Check[] }
      expect(of(checks, 'port-web')).toEqual([expect.stringMatching(/^unchecked: .*another user/)])
    },
  )
})

describe('verify.sh', () => {
  it('runs only behind checks that pass, and its failure is the verdict', async () => {
    const box = makeSandbox()
    const tree = await upWith(box, '', { 'verify.sh': `#!/bin/sh\n${say('ran')}[ ! -e wrong ]\n` })
    expect(await verify(box, tree)).toMatchObject({ exit: 0 })
    writeFileSync(join(tree, 'wrong'), '')
    const { exit, code, checks } = await verify(box, tree)
    expect([exit, code]).toEqual([1, 'VERIFY_FAILED'])
    expect(checks.every(({ verdict }) => verdict === 'ok')).toBe(true)
    expect(storyOf(box)).toEqual(['ran', 'ran'])
    // A failed verify changes nothing of the environment.
    expect((await statusOf(box, tree)).state).toBe('ready')
  })

  it('is not asked for an environment that never was up', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\n', 'verify.sh': `#!/bin/sh\n${say('ran')}` })
    const tree = box.worktree('login')
    const result = await box.run(['verify', '--json'], { cwd: tree })
    expect(result.exit).toBe(1)
    expect(errorOf(result.stdout)).toMatchObject({
      code: 'VERIFY_FAILED',
      hint: expect.stringContaining('penv up'),
    })
    expect(storyOf(box)).toEqual([])
    expect(box.revisions()).toEqual([])
  })
})
