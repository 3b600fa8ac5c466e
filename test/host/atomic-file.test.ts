import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeTemporaries, replaceFileAtomically } from '../../src/host/atomic-file.ts'

let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'penv-atomic-'))
  file = join(directory, 'f')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const bytes = (text: string) => Buffer.from(text)
const read = () => readFileSync(file, 'utf8')

describe('replacing a file', () => {
  it('writes all bytes with exactly this mode, whatever the umask', () => {
    const big = Buffer.alloc(3_000_000, 'x')
    for (const umask of [0o000, 0o022, 0o277]) {
      const before = process.umask(umask)
      try {
        expect(replaceFileAtomically(file, big, 0o640)).toBe(true)
      } finally {
        process.umask(before)
      }
      expect(readFileSync(file).equals(big)).toBe(true)
      expect(statSync(file).mode & 0o7777).toBe(0o640)
    }
    expect(readdirSync(directory)).toEqual(['f'])
  })

  it('writes a temporary file that only the owner can read, from its first byte to the rename', () => {
    const before = process.umask(0)
    try {
      replaceFileAtomically(file, bytes('secret'), 0o600, temporary => {
        expect(statSync(temporary).mode & 0o7777).toBe(0o600)
        expect(readFileSync(temporary, 'utf8')).toBe('secret')
        return true
      })
    } finally {
      process.umask(before)
    }
  })

  it('replaces a symlink and never writes through it', () => {
    const target = join(directory, 'target')
    writeFileSync(target, 'kept')
    symlinkSync(target, file)
    replaceFileAtomically(file, bytes('new'), 0o600)
    expect(readFileSync(target, 'utf8')).toBe('kept')
    expect(() => readlinkSync(file)).toThrow(/EINVAL/)
    expect(read()).toBe('new')
  })

  it('leaves the file and no temporary one when the check says no or fails', () => {
    writeFileSync(file, 'old')
    expect(replaceFileAtomically(file, bytes('new'), 0o600, () => false)).toBe(false)
    expect(() =>
      replaceFileAtomically(file, bytes('new'), 0o600, () => {
        throw new Error('from the check')
      }),
    ).toThrow('from the check')
    expect(read()).toBe('old')
    expect(readdirSync(directory)).toEqual(['f'])
  })

  it('leaves no temporary file when the rename fails, and says why', () => {
    mkdirSync(file)
    expect(() => replaceFileAtomically(file, bytes('new'), 0o600)).toThrow(
      expect.objectContaining({ code: 'EISDIR' }),
    )
    expect(readdirSync(directory)).toEqual(['f'])
    expect(() => replaceFileAtomically(join(directory, 'no', 'f'), bytes('x'), 0o600)).toThrow(
      expect.objectContaining({ code: 'ENOENT' }),
    )
  })

  it('lets only one of two writers win that saw the same file, wherever the second comes in', () => {
    const write = (
      text: string,
      seen: string,
      meanwhile: { beforeSweep?: () => void; beforeRename?: () => void },
    ) =>
      replaceFileAtomically(file, bytes(text), 0o600, temporary => {
        meanwhile.beforeSweep?.()
        removeTemporaries(file, temporary)
        const isSame = read() === seen
        meanwhile.beforeRename?.()
        return isSame
      })
    for (const moment of ['beforeSweep', 'beforeRename'] as const) {
      writeFileSync(file, 'old')
      let second: boolean | undefined
      const first = write('first', 'old', {
        [moment]: () => {
          second = write('second', 'old', {})
        },
      })
      expect([first, second]).toEqual([false, true])
      expect(read()).toBe('second')
      expect(readdirSync(directory)).toEqual(['f'])
    }
  })

  it('removes what others have begun for this file, and nothing else', () => {
    const others = ['f.12.0123456789ab.tmp', 'f.1.aaaaaaaaaaaa.tmp']
    const kept = [
      'f',
      'f.tmp',
      'f.12.tmp',
      'ff.12.0123456789ab.tmp',
      'f.12.0123456789ab.tmp.bak',
      'f.3.bbbbbbbbbbbb.tmp',
    ]
    for (const name of [...others, ...kept]) writeFileSync(join(directory, name), '')
    removeTemporaries(file, join(directory, 'f.3.bbbbbbbbbbbb.tmp'))
    expect(readdirSync(directory).sort()).toEqual(kept.sort())
  })
})
