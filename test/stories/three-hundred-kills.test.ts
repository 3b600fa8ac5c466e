// kill -9 at a random moment of `get`, `env` and `up`, hundreds of times, while others go on. Afterwards the
// ledger is readable, nothing that was answered is lost, nothing is held twice, and the next command goes on.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { parseLedger, recordsOf } from '../../src/core/ledger.ts'
import { makeRandom } from '../support/random.ts'
import { makeSandbox, type Result, type Sandbox } from '../support/sandbox.ts'

const RUNS = 300
/** Each in a worktree of its own, all on one ledger. */
const WORKERS = 4
const COMMANDS = ['get', 'env', 'up'] as const
type CommandName = (typeof COMMANDS)[number]

/** What was answered in one worktree, and must be so for ever. */
interface Promised {
  ports: Map<string, string>
  variables: Map<string, string>
}

interface Worker {
  box: Sandbox
  tree: string
  promised: Promised
  random: () => number
  /** How long each command takes here and now, in milliseconds: kills are spread over it. */
  durations: Map<CommandName, number>
}

const argsOf = (command: CommandName, turn: number): string[] =>
  command === 'get'
    ? ['get', 'port', `p${turn}`]
    : command === 'env'
      ? ['env', `K${turn}=${turn}`]
      : ['up', '--quiet']

/** Runs a command to its end, demands success, and keeps what it answered. */
async function runWhole(
  { box, tree, promised, durations }: Worker,
  command: CommandName,
  turn: number,
): Promise<Result> {
  const startedAt = performance.now()
  const result = await box.run(argsOf(command, turn), { cwd: tree })
  expect({ command, exit: result.exit, stderr: result.stderr }).toEqual({ command, exit: 0, stderr: '' })
  durations.set(command, performance.now() - startedAt)
  if (command === 'get') promised.ports.set(`p${turn}`, result.stdout.trim())
  if (command === 'env') promised.variables.set(`K${turn}`, String(turn))
  return result
}

/** Starts a command and kills it; true when the kill came before its end. */
async function runAndKill({ box, tree, random, durations }: Worker, command: CommandName, turn: number) {
  const child = box.start(argsOf(command, turn), { cwd: tree })
  const closed = new Promise(done => child.once('close', done))
  await Promise.race([delay(random() * (durations.get(command) ?? 0)), closed])
  child.kill('SIGKILL')
  await closed
  return child.signalCode === 'SIGKILL'
}

function readPromised({ box, tree }: Worker): Promised {
  const record = Object.values(box.ledger().environments).find(({ root }) => root === tree)
  const lines = readFileSync(join(tree, '.env.preview'), 'utf8').trim().split('\n')
  return {
    ports: new Map(Object.entries(record?.ports ?? {}).map(([name, port]) => [name, String(port)])),
    variables: new Map(
      lines.map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ),
  }
}

/** The newest revision; again where another worker has pruned it between the two looks. */
function readNewest(box: Sandbox): string {
  for (;;) {
    const newest = box.revisions().at(-1)
    try {
      return newest === undefined ? '' : readFileSync(join(box.stateDir, 'ledger', newest), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

function expectWholeLedger(box: Sandbox): void {
  const text = readNewest(box)
  if (text === '') return
  const parsed = parseLedger(text)
  if (!('ledger' in parsed)) throw new Error(JSON.stringify(parsed))
  const records = recordsOf(parsed.ledger)
  const ports = records.flatMap(record => Object.values(record.ports))
  expect(new Set(ports).size).toBe(ports.length)
  expect(new Set(records.map(({ root }) => root)).size).toBe(records.length)
}

async function work(worker: Worker, turns: readonly number[]): Promise<number> {
  let killed = 0
  // An undisturbed run of each, to know how long it takes.
  for (const command of COMMANDS) await runWhole(worker, command, 1_000_000 + (turns[0] ?? 0))
  for (const turn of turns) {
    const command = COMMANDS[turn % COMMANDS.length] as CommandName
    if (await runAndKill(worker, command, turn)) killed++
    expectWholeLedger(worker.box)
    await runWhole(worker, command, turn)
    const { ports, variables } = readPromised(worker)
    for (const [name, port] of worker.promised.ports) expect([name, ports.get(name)]).toEqual([name, port])
    for (const [key, value] of worker.promised.variables)
      expect([key, variables.get(key)]).toEqual([key, value])
  }
  return killed
}

it(`${RUNS} kills at random moments lose nothing, damage nothing, and hold nothing up`, {
  timeout: 600_000,
}, async () => {
  const random = makeRandom('killed anywhere')
  const box = makeSandbox()
  box.scripts({
    'provision.sh': '#!/bin/sh\nset -eu\nport=$(penv get port web)\npenv env "PORT=$port"\n',
  })
  const workers = Array.from({ length: WORKERS }, (_, at): Worker => {
    const promised = { ports: new Map<string, string>(), variables: new Map<string, string>() }
    return { box, tree: box.worktree(`w${at}`), promised, random, durations: new Map() }
  })
  const kills = await Promise.all(
    workers.map((worker, at) =>
      work(
        worker,
        Array.from({ length: RUNS / WORKERS }, (_, turn) => at + turn * WORKERS),
      ),
    ),
  )
  // A kill that comes too late proves nothing.
  expect(kills.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(RUNS / 3)
  for (const worker of workers) {
    await runWhole(worker, 'env', 2_000_000)
    expect(box.git(worker.tree, 'status', '--porcelain')).toBe('')
    expect((await box.penv(worker.tree, ['status', '--json'])).json()).toMatchObject({
      state: 'ready',
      run: null,
    })
    await box.penv(worker.tree, ['destroy', '--quiet'])
  }
  expect(box.ledger().environments).toEqual({})
})

it('40 kills of the first call in a new worktree leave one environment each, that the next call goes on with', {
  timeout: 300_000,
}, async () => {
  const random = makeRandom('killed at first')
  const box = makeSandbox()
  const durations = new Map<CommandName, number>()
  const makeWorker = (name: string): Worker => ({
    box,
    tree: box.worktree(name),
    promised: { ports: new Map(), variables: new Map() },
    random,
    durations,
  })
  await runWhole(makeWorker('measure'), 'get', 0)
  for (let turn = 0; turn < 20; turn++) {
    const pair = [makeWorker(`a${turn}`), makeWorker(`b${turn}`)]
    await Promise.all(pair.map(worker => runAndKill(worker, 'get', 0)))
    expectWholeLedger(box)
    await Promise.all(pair.map(worker => runWhole(worker, 'get', 0)))
  }
  const records = Object.values(box.ledger().environments)
  expect(records).toHaveLength(41)
  expect(new Set(records.map(({ ports }) => (ports as { p0: number }).p0)).size).toBe(41)
})
