// The ledger on a real disk: what it is made of, what damages it, and that nothing of that is ever replaced.

import { fork } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Ledger, withRecord } from '../../src/core/ledger.ts'
import { KEPT_REVISIONS } from '../../src/core/revisions.ts'
import { createFileExclusively } from '../../src/host/exclusive-file.ts'
import { changeLedger, readLedger } from '../../src/host/ledger-files.ts'
import { revisionFile } from '../../src/host/ledger-revisions.ts'
import { findMountObstacle, mountAt, withTmpfs } from '../support/mount.ts'
import { makeRecord } from '../support/records.ts'

let root: string
let stateDir: string
let directory: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'penv-ledger-'))
  stateDir = join(root, 'my state')
  directory = join(stateDir, 'ledger')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const add = (id: string) =>
  changeLedger(stateDir, ledger => ({ ledger: withRecord(ledger, makeRecord(id)), value: id }))
const ids = (ledger: Ledger) => Object.keys(ledger.environments)
const revisions = () => readdirSync(directory).filter(name => /^\d{12}\.json$/.test(name))
const modeOf = (path: string) => statSync(path).mode & 0o777

/** Every file below a directory with its bytes, to show that nothing was touched. */
function bytesOf(path: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(path, { recursive: true, encoding: 'utf8' })
      .map(name => join(path, name))
      .filter(file => statSync(file, { throwIfNoEntry: false })?.isFile())
      .map(file => [file, readFileSync(file, 'latin1')]),
  )
}

describe('a ledger', () => {
  it('is empty where there is none, and looking does not make one', async () => {
    expect(ids(await readLedger(stateDir))).toEqual([])
    expect(existsSync(stateDir)).toBe(false)
  })

  it('is empty where its directory is', async () => {
    mkdirSync(directory, { recursive: true })
    expect(ids(await readLedger(stateDir))).toEqual([])
  })

  it('is one more revision at each change, and none at a change that changes nothing', async () => {
    await add('a_1')
    await add('b_2')
    expect(await changeLedger(stateDir, ledger => ({ ledger, value: ids(ledger) }))).toEqual(['a_1', 'b_2'])
    expect(revisions()).toEqual(['000000000001.json', '000000000002.json'])
    expect(ids(await readLedger(stateDir))).toEqual(['a_1', 'b_2'])
  })

  it.each([0o000, 0o022, 0o077])('is private whatever the umask: %o', async mask => {
    const before = process.umask(mask)
    try {
      await add('a_1')
    } finally {
      process.umask(before)
    }
    expect([stateDir, directory, join(directory, 'tmp')].map(modeOf)).toEqual([0o700, 0o700, 0o700])
    expect(modeOf(revisionFile(stateDir, 1))).toBe(0o600)
  })

  it('leaves no temporary file, and is one file, not two names of one', async () => {
    await add('a_1')
    expect(readdirSync(join(directory, 'tmp'))).toEqual([])
    expect(statSync(revisionFile(stateDir, 1)).nlink).toBe(1)
  })

  it('keeps the highest revisions and removes the others', async () => {
    for (let turn = 0; turn < KEPT_REVISIONS + 8; turn++) await add(`a_${turn}`)
    const numbers = revisions().map(name => Number.parseInt(name, 10))
    expect(Math.max(...numbers)).toBe(KEPT_REVISIONS + 8)
    expect(numbers).toHaveLength(KEPT_REVISIONS)
    expect(Math.min(...numbers)).toBe(9)
  })

  it('goes on from the highest revision, however large a gap was left', async () => {
    await add('a_1')
    const text = readFileSync(revisionFile(stateDir, 1), 'utf8')
    writeFileSync(revisionFile(stateDir, 700), text)
    await add('b_2')
    expect(revisions()).toContain('000000000701.json')
    expect(ids(await readLedger(stateDir))).toEqual(['a_1', 'b_2'])
  })

  it('keeps fields of a later version through a change', async () => {
    mkdirSync(directory, { recursive: true })
    writeFileSync(
      revisionFile(stateDir, 1),
      JSON.stringify({ version: 1, environments: {}, templates: {}, approved: {}, later: [1] }),
    )
    await add('a_1')
    expect(JSON.parse(readFileSync(revisionFile(stateDir, 2), 'utf8'))).toMatchObject({ later: [1] })
  })

  it('is not changed by a transition that throws', async () => {
    await add('a_1')
    const before = bytesOf(directory)
    await expect(
      changeLedger(stateDir, () => {
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect(bytesOf(directory)).toEqual(before)
  })
})

describe('stray files in its folder', () => {
  it('are passed over, and stay', async () => {
    await add('a_1')
    const strays = [
      'x.json',
      'notes.txt',
      '5.json',
      '0000000000099.json',
      '000000000099.json.damaged',
      '.DS_Store',
    ]
    for (const name of strays) writeFileSync(join(directory, name), 'stray')
    mkdirSync(join(directory, 'an empty folder'))
    symlinkSync('/nowhere', join(directory, 'a link'))
    await add('b_2')
    expect(ids(await readLedger(stateDir))).toEqual(['a_1', 'b_2'])
    for (const name of strays) expect(readFileSync(join(directory, name), 'utf8')).toBe('stray')
  })

  it('of killed processes go after ten minutes, and those of running ones stay', async () => {
    await add('a_1')
    const [old, fresh] = ['1-old', '1-fresh'].map(name => join(directory, 'tmp', name)) as [string, string]
    for (const file of [old, fresh]) writeFileSync(file, '{')
    const long = Date.now() / 1000 - 700
    utimesSync(old, long, long)
    await add('b_2')
    expect([existsSync(old), existsSync(fresh)]).toEqual([false, true])
  })

  it('do not stop a process whose own temporary file was taken for one: it starts over', async () => {
    // Another process removes temporary files as soon as they appear, as for one that was stopped for long.
    mkdirSync(join(directory, 'tmp'), { recursive: true })
    const thief = fork(join(import.meta.dirname, '..', 'fixtures', 'remove-all.mjs'), [
      join(directory, 'tmp'),
    ])
    try {
      await new Promise(ready => thief.once('message', ready))
      let tries = 0
      let wanted = 0
      const deadline = Date.now() + 20_000
      while (tries === wanted) {
        if (Date.now() > deadline) throw new Error('no temporary file was caught in time')
        const id = `a_${wanted++}`
        await changeLedger(stateDir, ledger => {
          tries++
          return { ledger: withRecord(ledger, makeRecord(id)), value: id }
        })
      }
      expect(ids(await readLedger(stateDir))).toHaveLength(wanted)
    } finally {
      thief.kill('SIGKILL')
    }
  })
})

describe('a damaged ledger', () => {
  const DAMAGE: [string, (file: string, text: string) => void][] = [
    ['is half of what was written', (file, text) => truncateSync(file, Math.floor(text.length / 2))],
    ['is empty', file => truncateSync(file, 0)],
    ['is zero bytes', (file, text) => writeFileSync(file, Buffer.alloc(text.length))],
    ['is a list', file => writeFileSync(file, '[]')],
    ['is null', file => writeFileSync(file, 'null')],
    ['is an empty object', file => writeFileSync(file, '{}')],
    [
      'has a record of another shape',
      (file, text) => writeFileSync(file, text.replace('"ports":{}', '"ports":7')),
    ],
    ['is no text', file => writeFileSync(file, Buffer.from([0xff, 0xfe, 0x00, 0x7b]))],
  ]

  it.each(DAMAGE)('that %s stops reading and changing, and is not touched', async (_, damage) => {
    await add('a_1')
    await add('b_2')
    const newest = revisionFile(stateDir, 2)
    damage(newest, readFileSync(newest, 'utf8'))
    const before = bytesOf(directory)
    const refusal = {
      code: 'LEDGER_DAMAGED',
      exit: 7,
      message: expect.stringContaining(newest),
      hint: expect.stringContaining('To restore the previous revision, run: ln '),
      details: { path: newest, damage: expect.any(String), previous: revisionFile(stateDir, 1) },
    }
    await expect(add('c_3')).rejects.toMatchObject(refusal)
    await expect(readLedger(stateDir)).rejects.toMatchObject(refusal)
    expect(bytesOf(directory)).toEqual(before)
  })

  it('is restored by the command that is named, and goes on from there', async () => {
    await add('a_1')
    await add('b_2')
    truncateSync(revisionFile(stateDir, 2), 10)
    const { hint } = await readLedger(stateDir).catch(error => error)
    const { execFileSync } = await import('node:child_process')
    execFileSync('/bin/sh', ['-c', (hint as string).replace(/^.*run: /, '')])
    expect(ids(await readLedger(stateDir))).toEqual(['a_1'])
    await add('c_3')
    expect(ids(await readLedger(stateDir))).toEqual(['a_1', 'c_3'])
    expect(existsSync(revisionFile(stateDir, 2))).toBe(true)
  })

  it('is restored from the newest revision that is whole', async () => {
    for (const id of ['a_1', 'b_2', 'c_3']) await add(id)
    for (const revision of [2, 3]) truncateSync(revisionFile(stateDir, revision), 10)
    const { hint } = await readLedger(stateDir).catch(error => error)
    const { execFileSync } = await import('node:child_process')
    execFileSync('/bin/sh', ['-c', (hint as string).replace(/^.*run: /, '')])
    expect(ids(await readLedger(stateDir))).toEqual(['a_1'])
  })

  it('is not promised a previous revision where there is none', async () => {
    await add('a_1')
    truncateSync(revisionFile(stateDir, 1), 10)
    await expect(add('b_2')).rejects.toMatchObject({
      code: 'LEDGER_DAMAGED',
      facts: [expect.stringContaining('no earlier revision that is whole')],
      hint: expect.not.stringContaining('restore'),
      details: { previous: null },
    })
  })

  it('of a newer version stops reading and changing, and is not touched', async () => {
    mkdirSync(directory, { recursive: true })
    writeFileSync(revisionFile(stateDir, 1), '{"version":2}')
    const refusal = {
      code: 'LEDGER_NEWER',
      exit: 7,
      details: { path: revisionFile(stateDir, 1), version: 2 },
    }
    await expect(add('a_1')).rejects.toMatchObject(refusal)
    await expect(readLedger(stateDir)).rejects.toMatchObject(refusal)
    expect(bytesOf(directory)).toEqual({ [revisionFile(stateDir, 1)]: '{"version":2}' })
  })
})

describe('a ledger that cannot be read is never taken for an empty one', () => {
  it.each<[string, (file: string) => void, string]>([
    ['a directory in place of the highest revision', file => mkdirSync(file), 'EISDIR'],
    ['a link to nowhere in its place', file => symlinkSync('/nowhere/at/all', file), 'ENOENT'],
    ['a link to itself in its place', file => symlinkSync(file, file), 'ELOOP'],
  ])('%s', async (_, put, errno) => {
    await add('a_1')
    const file = revisionFile(stateDir, 2)
    put(file)
    const refusal = { code: 'LEDGER_UNREADABLE', exit: 7, details: { path: file, errno } }
    await expect(readLedger(stateDir)).rejects.toMatchObject(refusal)
    await expect(add('b_2')).rejects.toMatchObject(refusal)
    expect(revisions()).toEqual(['000000000001.json', '000000000002.json'])
  })

  it.each<[string, () => string]>([
    ['its directory', () => directory],
    ['the state directory', () => stateDir],
  ])('a file in place of %s', async (_, choose) => {
    const path = choose()
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, 'mine')
    await expect(readLedger(stateDir)).rejects.toMatchObject({ code: 'LEDGER_UNREADABLE', exit: 7 })
    await expect(add('a_1')).rejects.toMatchObject({ code: 'LEDGER_UNREADABLE' })
    expect(readFileSync(path, 'utf8')).toBe('mine')
  })
})

describe('a ledger that cannot be written', () => {
  it('says so, naming the path, where a file lies in place of its temporary directory', async () => {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'tmp'), 'mine')
    await expect(add('a_1')).rejects.toMatchObject({
      code: 'LEDGER_UNWRITABLE',
      exit: 7,
      details: { path: join(directory, 'tmp'), errno: 'EEXIST' },
    })
    expect(revisions()).toEqual([])
    expect(ids(await readLedger(stateDir))).toEqual([])
  })

  const obstacle = findMountObstacle()
  const note = obstacle === undefined ? '' : ` (not run: ${obstacle})`

  it.runIf(obstacle === undefined)(`stays byte for byte as it is when the disk is full${note}`, () =>
    withTmpfs('256k', async disk => {
      stateDir = join(disk, 'state')
      directory = join(stateDir, 'ledger')
      await add('a_1')
      expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(500_000))).toThrow(/ENOSPC/)
      const before = bytesOf(directory)
      await expect(
        changeLedger(stateDir, ledger => ({
          ledger: withRecord(ledger, makeRecord('b_2', { branch: 'x'.repeat(50_000) })),
          value: undefined,
        })),
      ).rejects.toMatchObject({ code: 'LEDGER_UNWRITABLE', exit: 7, details: { errno: 'ENOSPC' } })
      expect(bytesOf(directory)).toEqual(before)
      expect(ids(await readLedger(stateDir))).toEqual(['a_1'])
      unlinkSync(join(disk, 'filler'))
      await add('c_3')
      expect(ids(await readLedger(stateDir))).toEqual(['a_1', 'c_3'])
    }),
  )

  it.runIf(obstacle === undefined)(`says so on a read-only disk, and can be read there${note}`, () =>
    withTmpfs('256k', async (disk, makeReadOnly) => {
      stateDir = join(disk, 'state')
      directory = join(stateDir, 'ledger')
      await add('a_1')
      makeReadOnly()
      await expect(add('b_2')).rejects.toMatchObject({
        code: 'LEDGER_UNWRITABLE',
        details: { errno: 'EROFS' },
      })
      expect(ids(await readLedger(stateDir))).toEqual(['a_1'])
    }),
  )

  it.runIf(obstacle === undefined)(
    `says that hard links are missing where link is refused${note}`,
    async () => {
      await add('a_1')
      // link(2) fails as it does on a disk without hard links: the temporary directory is another disk.
      await mountAt(join(directory, 'tmp'), async () => {
        await expect(add('b_2')).rejects.toMatchObject({
          code: 'LEDGER_UNSUPPORTED',
          exit: 7,
          message: expect.stringContaining(directory),
          details: { path: directory, errno: 'EXDEV' },
        })
        expect(readdirSync(join(directory, 'tmp'))).toEqual([])
      })
      expect(revisions()).toEqual(['000000000001.json'])
    },
  )
})

describe('a file that is made exclusively', () => {
  it('is made once, whole, and not again', () => {
    const file = join(root, 'file')
    expect(createFileExclusively(join(root, 'tmp'), file, 'first')).toBe(true)
    expect(createFileExclusively(join(root, 'tmp'), file, 'second')).toBe(false)
    expect(readFileSync(file, 'utf8')).toBe('first')
    expect(readdirSync(join(root, 'tmp'))).toEqual([])
  })

  it('holds any text, at any length', () => {
    const text = 'ä🦊\0\n'.repeat(200_000)
    createFileExclusively(join(root, 'tmp'), join(root, 'file'), text)
    expect(readFileSync(join(root, 'file'), 'utf8')).toBe(text)
  })

  it('fails where its directory is missing or cannot hold it', () => {
    chmodSync(root, 0o755)
    writeFileSync(join(root, 'plain'), '')
    expect(() => createFileExclusively(join(root, 'tmp'), join(root, 'plain', 'file'), 'x')).toThrow(
      'ENOTDIR',
    )
    expect(readdirSync(join(root, 'tmp'))).toEqual([])
  })
})
