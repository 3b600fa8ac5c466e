// What `penv doctor` prints for a person: lines that fit a terminal, what matters first, and one thing to do next.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GOOD_SCRIPTS } from '../support/doctor.ts'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'

const EIGHT = `name: shop
services:
  db: {image: "postgres:16", container_name: shop-db, ports: ["5432:5432"]}
  cache: {image: "redis:7", ports: ["6379:6379"]}
  queue: {image: "rabbitmq:3", ports: ["5672:5672", "15672:15672"]}
  search: {image: "elasticsearch:8.11.0", container_name: shop-search, ports: ["9200:9200"]}
  files: {image: minio/minio, ports: ["9000:9000", "9001:9001"]}
  mail: {image: axllent/mailpit, ports: ["1025:1025", "8025:8025"]}
  events: {image: "nats:2", ports: ["4222:4222"]}
  sessions: {image: "memcached:1.6", ports: ["11211:11211"]}
volumes:
  pg: {name: shop_pg}
`

function makeEight(): Sandbox {
  const box = makeSandbox()
  box.write(box.main, {
    'compose.yaml': EIGHT,
    'server.js': 'require("http").createServer().listen(3000)\n',
    'package.json': '{"scripts":{"dev":"node server.js"}}',
    '.env.preview': 'A=1\n',
    '.worktreeinclude': '.env*\n',
    '.claude/settings.json': '{',
  })
  box.git(box.main, 'config', 'core.hooksPath', '.husky/_')
  box.scripts({ ...GOOD_SCRIPTS, 'provision.sh': '#!/bin/sh\n# QUESTION: which key?\n' })
  return box
}

const textOf = async (box: Sandbox, args: string[] = [], cwd = box.main) =>
  (await box.run(['doctor', ...args], { cwd })).stdout
const nextOf = (text: string) => /^ {2}(To .*)\n$/m.exec(text.slice(text.lastIndexOf('\n  To ') + 1))?.[1]

describe('what doctor prints', () => {
  it('fits 80 columns with eight services, but for commands and single words', async () => {
    const box = makeEight()
    for (const args of [[], ['-v']]) {
      const text = await textOf(box, args)
      const long = text
        .split('\n')
        .filter(
          line => line.length > 80 && !line.includes(', run: ') && /\S\s+\S/.test(line.trim().slice(0, 80)),
        )
      expect(long).toEqual([])
    }
  })

  it('puts each place on a line of its own where the paths are long', async () => {
    const box = makeSandbox()
    const folder = `deployment/${'with-a-long-name/'.repeat(3)}development`
    box.write(box.main, {
      [`${folder}/compose.yaml`]: 'services:\n  db: {image: "postgres:16"}\n  cache: {image: "redis:7"}\n',
    })
    const lines = (await textOf(box)).split('\n')
    for (const name of ['cache (redis)', 'db (postgres)']) {
      const at = lines.findIndex(line => line.includes(name))
      expect(lines[at + 1]).toMatch(/^ {4}deployment\/.*:\d+$/)
    }
  })

  it('tells the services first, then what fails, then what warns, and counts at the end', async () => {
    const text = await textOf(makeEight())
    const order = [
      'the main checkout: ',
      '\ntier 2: sessions',
      'required  cache (redis)',
      'required  sessions (memcached)',
      '\nfail\n',
      '\nwarn\n',
      '\nunchecked\n',
      '\n2 fail, ',
    ].map(words => text.indexOf(words))
    expect(order).not.toContain(-1)
    expect(order).toEqual([...order].sort((a, b) => a - b))
  })

  it('says every finding of the JSON with -v, and what is ok only then', async () => {
    const box = makeEight()
    const { findings } = (await box.run(['doctor', '--json'])).json() as {
      findings: { verdict: string; message: string; run?: string; remedy?: string }[]
    }
    const plain = (text: string) => text.replace(/\s+/g, ' ')
    const verbose = plain(await textOf(box, ['-v']))
    for (const { message, run, remedy } of findings)
      for (const words of [message, run ?? remedy ?? '']) expect(verbose).toContain(plain(words))
    const short = plain(await textOf(box))
    const ok = findings.filter(
      ({ verdict, message }) => verdict === 'ok' && !message.startsWith('the main checkout'),
    )
    for (const { message } of ok.filter(({ message }) => !message.startsWith('tier ')))
      expect(short).not.toContain(plain(message))
  })

  it('shows three findings of a kind and counts the others, unless asked for all; of what fails it shows all', async () => {
    const box = makeEight()
    const count = (text: string) => text.match(/publishes host port/g)?.length
    const short = await textOf(box)
    expect(count(short)).toBe(3)
    expect(short).toMatch(/^ {2}and 8 more like the last; -v shows all$/m)
    expect(count(await textOf(box, ['-v']))).toBe(11)
    box.write(join(box.main, '.preview'), { 'provision.sh': '# QUESTION: which?\n'.repeat(9) })
    expect((await textOf(box)).match(/a question is left/g)).toHaveLength(9)
  })

  it('gives a remedy that several share once, behind the last of them', async () => {
    const text = await textOf(makeEight())
    expect(text).toMatch(/shop-db exists.*\n.*shop-search exists.*\n {4}Remedy: remove container_name/)
    expect(text.match(/remove container_name/g)).toHaveLength(1)
  })

  it('has no colour in a pipe, and no word of doctor on stderr', async () => {
    const result = await makeEight().run(['doctor'], { env: { FORCE_COLOR: '1' } })
    expect(result.stdout).not.toContain('\u001b')
    expect(result.stderr).toBe('')
  })
})

describe('the last line of doctor', () => {
  it('leads a new repository to an environment, step by step', async () => {
    const box = makeSandbox()
    box.write(box.main, { 'package.json': '{}', '.env.example': 'PORT=3000\n' })
    box.git(box.main, 'add', '--all')
    box.git(box.main, 'commit', '--quiet', '-m', 'shop')
    const env = { ...box.env, PATH: `${join(box.root, 'bin')}:/usr/local/bin:/usr/bin:/bin` }
    const step = async (cwd: string) => {
      const next = nextOf(await textOf(box, [], cwd))
      const command = /^To .*?, run: (.*)$/.exec(next ?? '')?.[1] as string
      execFileSync('sh', ['-ec', command], { cwd, env, stdio: 'pipe' })
      return command
    }
    expect(await step(box.main)).toBe('penv init')
    const provision = join(box.main, '.preview', 'provision.sh')
    expect(nextOf(await textOf(box))).toBe('To look again when this is mended, run: penv doctor')
    writeFileSync(provision, '#!/bin/sh\nset -eu\nport=$(penv get port web)\npenv env "PORT=$port"\n')
    expect(await step(box.main)).toMatch(/^git add \.preview/)
    expect(await step(box.main)).toBe(`git worktree add ${box.main}-second -b second`)
    expect(await step(join(box.root, 'shop-second'))).toBe('penv up && penv verify')
    expect(Object.values(box.ledger().environments)).toMatchObject([{ state: 'ready' }])
  })

  it('mends what fails first, where a command can', async () => {
    const box = makeSandbox()
    box.write(box.main, { '.env.preview': 'A=1\n' })
    box.scripts(GOOD_SCRIPTS)
    const next = nextOf(await textOf(box))
    expect(next).toBe('To mend what fails first, run: git rm --cached -- .env.preview')
  })

  it('is there outside of a repository too', async () => {
    const box = makeSandbox()
    expect(nextOf(await textOf(box, [], box.root))).toMatch(/^To look at a repository, run: /)
  })
})
