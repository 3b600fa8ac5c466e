// Faults that the first penv had, in ids, ledger and allocation. Each stands for its kind.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeSandbox } from '../support/sandbox.ts'

describe('a worktree full of configuration', () => {
  it('neither runs anything nor moves the state directory', async () => {
    const box = makeSandbox()
    box.scripts({ 'provision.sh': '#!/bin/sh\nenv > "$PENV_DATA/env.txt"\n' })
    const tree = box.worktree('login')
    const ran = join(box.root, 'ran')
    box.write(tree, {
      'bunfig.toml': 'preload = ["./preload.js"]\n[run]\npreload = ["./preload.js"]\n',
      'preload.js': `require('node:fs').writeFileSync(${JSON.stringify(ran)}, 'ran')\n`,
      '.env': 'PENV_HOME=./x\nLEAKED=1\nNODE_OPTIONS=--require=./preload.js\n',
      '.env.local': 'PENV_HOME=/nowhere\nLEAKED=2\n',
      'package.json': '{"name":"x","type":"module","imports":{"#x":"./preload.js"}}\n',
      'tsconfig.json': '{"compilerOptions":{"paths":{"*":["./preload.js"]}}}\n',
      '.npmrc': 'node-options=--require=./preload.js\n',
      'commander.js': `require('node:fs').writeFileSync(${JSON.stringify(ran)}, 'ran')\n`,
      'node_modules/commander/index.js': `require('node:fs').writeFileSync(${JSON.stringify(ran)}, 'ran')\n`,
      'node_modules/execa/index.js': `require('node:fs').writeFileSync(${JSON.stringify(ran)}, 'ran')\n`,
    })
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    await box.penv(tree, ['session'])
    await box.penv(tree, ['up', '--quiet'])
    expect(existsSync(ran)).toBe(false)
    expect(existsSync(join(tree, 'x'))).toBe(false)
    expect(Object.keys(box.ledger().environments)).toEqual([id])
    const seen = readFileSync(join(box.stateDir, 'envs', id, 'data', 'env.txt'), 'utf8')
    expect(seen).toContain(`PENV_ID=${id}\n`)
    expect(seen).not.toMatch(/LEAKED|NODE_OPTIONS/)
  })
})

describe('an id that is a path', () => {
  it.each([
    ['../victim/rec', 5],
    ['../../../../../../victim', 5],
    ['/absolute/victim', 5],
    ['.', 5],
    ['..', 5],
    ['__proto__', 5],
    ['constructor', 5],
    ['', 2],
  ])('destroys nothing: %j', async (id, exit) => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const port = (await box.penv(tree, ['get', 'port', 'web'])).stdout
    const victims = [
      join(box.stateDir, 'victim', 'rec'),
      join(box.stateDir, 'envs', 'victim'),
      join(box.root, 'victim'),
    ]
    for (const victim of victims) {
      mkdirSync(victim, { recursive: true })
      writeFileSync(join(victim, 'record.json'), '{}')
    }
    for (const args of [
      ['destroy', '--id', id],
      ['destroy', id],
      ['destroy', '--force', '--id', id],
    ]) {
      const failed = await box.penv(tree, [...args, '--json'], { exit, stderr: /^penv: / })
      expect(failed.json()).toMatchObject({ error: { code: exit === 2 ? 'USAGE' : 'NO_ENVIRONMENT' } })
    }
    expect(victims.map(victim => readdirSync(victim))).toEqual(victims.map(() => ['record.json']))
    expect((await box.penv(tree, ['get', 'port', 'web'])).stdout).toBe(port)
  })

  it.each([
    [['destroy', '--id']],
    [['destroy', '--id', '--force']],
    [['destroy', 'a', '--id', 'b']],
    [['destroy', 'a', 'b']],
  ])('is a usage error where it is missing or one too many, and nothing is done: %j', async args => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    const port = (await box.penv(tree, ['get', 'port', 'web'])).stdout
    const revisions = box.revisions()
    const result = await box.run(args, { cwd: tree })
    expect(result).toMatchObject({ stdout: '', stderr: expect.stringMatching(/^penv: /) })
    expect([2, 5]).toContain(result.exit)
    expect(box.revisions()).toEqual(revisions)
    expect((await box.penv(tree, ['get', 'port', 'web'])).stdout).toBe(port)
  })
})

describe('a lock of an older penv', () => {
  it('that was left behind, held by whomever, holds nothing up', async () => {
    const box = makeSandbox()
    const tree = box.worktree('login')
    mkdirSync(box.stateDir, { recursive: true })
    const lock = JSON.stringify({ pid: process.pid, token: 'x', since: '2020-01-01T00:00:00Z' })
    box.write(box.stateDir, { 'ledger.lock': lock, lock, 'ledger/lock': lock, 'ledger/ledger.lock': lock })
    mkdirSync(join(box.stateDir, 'ledger.json.lock'))
    expect((await box.penv(tree, ['get', 'port', 'web'])).stdout).toMatch(/^\d+\n$/)
    expect(readFileSync(join(box.stateDir, 'ledger.lock'), 'utf8')).toBe(lock)
  })
})
