// Promise 1, "never two": no number of a pool is held by two live environments, whatever processes run at once.

import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findFreePorts } from '../support/free-ports.ts'
import { makeSandbox, type Sandbox } from '../support/sandbox.ts'

interface Call {
  cwd: string
  args: string[]
  env?: Record<string, string>
}

/** Starts all calls at the same instant; each must succeed in silence. Returns what they print. */
async function all(box: Sandbox, calls: readonly Call[]): Promise<string[]> {
  const results = await Promise.all(calls.map(({ args, cwd, env = {} }) => box.run(args, { cwd, env })))
  expect(results.filter(({ exit, stderr }) => exit !== 0 || stderr !== '')).toEqual([])
  return results.map(({ stdout }) => stdout.trim())
}

const trees = (box: Sandbox, count: number) =>
  Array.from({ length: count }, (_, at) => box.worktree(`w${at}`))

/** Every port of the ledger, of every environment. */
const portsInLedger = (box: Sandbox) =>
  Object.values(box.ledger().environments).flatMap(record =>
    Object.values(record.ports as Record<string, number>),
  )

describe('never two', () => {
  it.each([64, 256])(
    '%i calls for new ports at once from 8 worktrees all get their own, three times in a row',
    {
      timeout: 600_000,
    },
    async count => {
      const box = makeSandbox()
      const places = trees(box, 8)
      const seen: string[] = []
      for (let round = 0; round < 3; round++) {
        const ports = await all(
          box,
          Array.from({ length: count }, (_, at) => ({
            cwd: places[at % 8] as string,
            args: ['get', 'port', `r${round}_p${at}`],
          })),
        )
        seen.push(...ports)
        expect(new Set(seen).size).toBe(seen.length)
        expect(portsInLedger(box).map(String).sort()).toEqual([...seen].sort())
      }
    },
  )

  it('8 calls for one new name from one worktree get one and the same port', async () => {
    const box = makeSandbox()
    const cwd = box.worktree('login')
    const ports = await all(
      box,
      Array.from({ length: 8 }, () => ({ cwd, args: ['get', 'port', 'web'] })),
    )
    expect(new Set(ports).size).toBe(1)
    expect(portsInLedger(box)).toHaveLength(1)
    expect(Object.keys(box.ledger().environments)).toHaveLength(1)
  })

  it('20 worktrees get all of 20 ports, again and again', { timeout: 300_000 }, async () => {
    const box = makeSandbox()
    const places = trees(box, 20)
    for (let round = 0; round < 5; round++) {
      const first = await findFreePorts(20)
      const PENV_HOME = join(box.root, `state ${round}`)
      const ports = await all(
        box,
        places.map(cwd => ({
          cwd,
          args: ['get', 'port', 'web', `${first}-${first + 19}`],
          env: { PENV_HOME },
        })),
      )
      expect(ports.map(Number).sort()).toEqual(Array.from({ length: 20 }, (_, at) => first + at))
    }
  })

  it('20 worktrees at once get 20 ports of 39, and the ledger holds 20 environments', {
    timeout: 300_000,
  }, async () => {
    const box = makeSandbox()
    const places = trees(box, 20)
    for (let round = 0; round < 5; round++) {
      const first = await findFreePorts(39)
      const PENV_HOME = join(box.root, `state ${round}`)
      const env = { PENV_HOME }
      const range = `${first}-${first + 38}`
      const ports = await all(
        box,
        places.map(cwd => ({ cwd, args: ['get', 'port', 'web', range], env })),
      )
      expect(new Set(ports).size).toBe(20)
      const { envs } = (await box.run(['list', '--json'], { env })).json() as { envs: unknown[] }
      expect(envs).toHaveLength(20)
    }
  })

  it('eight repositories with the same branch and folder get eight names and ports', {
    timeout: 300_000,
  }, async () => {
    const box = makeSandbox()
    for (let round = 0; round < 8; round++) {
      const places = Array.from({ length: 8 }, (_, at) => {
        const directory = join(box.root, `round${round}`, `repo${at}`)
        box.git(box.root, 'init', '--quiet', join(directory, 'main'))
        box.git(join(directory, 'main'), 'commit', '--quiet', '--allow-empty', '-m', 'start')
        box.git(join(directory, 'main'), 'worktree', 'add', '--quiet', '-b', 'fix', join(directory, 'fix'))
        return realpathSync(join(directory, 'fix'))
      })
      const answers = await all(
        box,
        places.flatMap(cwd => [
          { cwd, args: ['get', 'name', 'preview'] },
          { cwd, args: ['get', 'port', 'web'] },
        ]),
      )
      const names = answers.filter((_, at) => at % 2 === 0)
      expect(names.filter(name => !/^preview_fix_[0-9a-z]{6,}$/.test(name))).toEqual([])
      expect(new Set(answers).size).toBe(16)
    }
    expect(Object.keys(box.ledger().environments)).toHaveLength(64)
    expect(new Set(portsInLedger(box)).size).toBe(64)
  })

  it('what one gives back while others take is never held twice', { timeout: 300_000 }, async () => {
    const box = makeSandbox()
    const places = trees(box, 12)
    const first = await findFreePorts(8)
    const range = `${first}-${first + 7}`
    const [takers, givers] = [places.slice(0, 6), places.slice(6)]
    const held = new Map<string, string>()
    for (const cwd of givers)
      held.set(cwd, (await box.penv(cwd, ['get', 'port', 'web', range])).stdout.trim())
    const results = await Promise.all([
      ...givers.map(cwd => box.run(['destroy'], { cwd })),
      ...givers.map(cwd => box.run(['destroy'], { cwd })),
      ...takers.map(cwd => box.run(['get', 'port', 'web', range], { cwd })),
    ])
    expect(results.slice(0, 12).map(({ exit }) => exit)).toEqual(Array(12).fill(0))
    // Until something was given back there may have been nothing to take; that is said, not made up.
    for (const { exit, stdout } of results.slice(12))
      expect([exit, /^\d*\n?$/.test(stdout)]).toEqual([stdout === '' ? 6 : 0, true])
    const taken = results.slice(12).flatMap(({ stdout }) => (stdout === '' ? [] : [Number(stdout)]))
    expect(new Set(taken).size).toBe(taken.length)
    expect(portsInLedger(box).sort()).toEqual(taken.sort())
  })
})
