// A process is stopped between its steps, sleeps through more revisions than are kept, and goes on. Every number
// that it knew was used and pruned meanwhile, so that it may link a revision that was there long ago.

import type { ChildProcess } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { choosePort } from '../../src/core/allocate.ts'
import { type Ledger, recordsOf, withRecord } from '../../src/core/ledger.ts'
import { KEPT_REVISIONS } from '../../src/core/revisions.ts'
import { findGitDirOf } from '../../src/host/git.ts'
import { changeLedger, readLedger } from '../../src/host/ledger-files.ts'
import { readMarker } from '../../src/host/marker.ts'
import { findFreePorts } from '../support/free-ports.ts'
import { makeRecord } from '../support/records.ts'
import { ended, makeSandbox, type Sandbox } from '../support/sandbox.ts'

const STOPS = 3
const TRIES = 60
const LOOKS_PER_TURN = 50

/** Looks without a pause until `isMoment`, then stops the process; false when the process had ended before. */
async function stopAt(child: ChildProcess, isMoment: () => boolean): Promise<boolean> {
  for (let look = 1; !isMoment(); look++) {
    if (child.exitCode !== null) return false
    if (look % LOOKS_PER_TURN === 0) await nextTurn()
  }
  return child.kill('SIGSTOP')
}

function countTemps(box: Sandbox): number {
  try {
    return readdirSync(join(box.stateDir, 'ledger', 'tmp')).length
  } catch {
    return 0
  }
}

/** Commits more revisions than are kept; the first of them gives `port` to another environment. */
async function commitPast(box: Sandbox, port: number): Promise<void> {
  const rival = makeRecord('rival', { ports: { web: port } })
  for (let turn = 0; turn < KEPT_REVISIONS + 8; turn++)
    await changeLedger(box.stateDir, ledger => ({
      ledger: withRecord(ledger, { ...rival, branch: `turn${turn}` }),
      value: undefined,
    }))
}

/** The port that `penv get port web` in this worktree has in mind. */
function portInMind(ledger: Ledger, tree: string, first: number): number {
  const id = readMarker(findGitDirOf(tree) as string)?.id ?? ''
  const range = { first, last: first + 1 }
  return choosePort(ledger, { id, name: 'web', range, busy: new Set(), isMacOs: false }) as number
}

const portsOf = (ledger: Ledger) => recordsOf(ledger).flatMap(record => Object.values(record.ports))

interface Moment {
  isMoment: (box: Sandbox, before: number) => boolean
  /** Whether the process really stands there, now that it is stopped. */
  isThere: (box: Sandbox, before: number) => boolean
}

const MOMENTS: [string, Moment][] = [
  [
    'before it links its revision',
    {
      isMoment: box => countTemps(box) > 0,
      isThere: (box, before) => countTemps(box) > 0 && box.revisions().length === before,
    },
  ],
  [
    'after it linked its revision',
    {
      isMoment: (box, before) => box.revisions().length > before,
      isThere: (box, before) => box.revisions().length > before,
    },
  ],
]

describe('a process that is stopped', () => {
  it.each(MOMENTS)('%s goes on with a port that is held once', { timeout: 300_000 }, async (_, moment) => {
    const box = makeSandbox()
    const first = await findFreePorts(2)
    let stops = 0
    for (let turn = 0; turn < TRIES && stops < STOPS; turn++) {
      const tree = box.worktree(`w${turn}`)
      const before = box.revisions().length
      const child = box.start(['get', 'port', 'web', `${first}-${first + 1}`], { cwd: tree })
      const end = ended(child)
      const isStopped =
        (await stopAt(child, () => moment.isMoment(box, before))) && moment.isThere(box, before)
      const seen = await readLedger(box.stateDir)
      const recorded = recordsOf(seen).find(record => record.root === tree)?.ports.web
      if (isStopped) {
        stops++
        // The rival takes what the sleeper has in mind; where that is recorded already, the other one.
        await commitPast(
          box,
          recorded === undefined ? portInMind(seen, tree, first) : 2 * first + 1 - recorded,
        )
      }
      child.kill('SIGCONT')
      const { exit, stdout, stderr } = await end
      expect([exit, stderr]).toEqual([0, ''])
      const ports = portsOf(await readLedger(box.stateDir))
      expect(ports).toContain(Number(stdout))
      if (isStopped) expect(ports.sort()).toEqual([first, first + 1])
      if (recorded !== undefined) expect(Number(stdout)).toBe(recorded)
      await changeLedger(box.stateDir, ledger => ({
        ledger: { ...ledger, environments: {} },
        value: undefined,
      }))
    }
    expect(stops).toBe(STOPS)
  })
})
