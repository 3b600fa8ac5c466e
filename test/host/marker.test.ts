// The marker in a private git directory: planted once, never read as "none" when it is not.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { plantMarker, readMarker, removeMarker, renameMarker } from '../../src/host/marker.ts'

let gitDir: string
let file: string
beforeEach(() => {
  gitDir = mkdtempSync(join(tmpdir(), 'penv-marker-'))
  file = join(gitDir, 'penv')
})
afterEach(() => rmSync(gitDir, { recursive: true, force: true }))

describe('a marker', () => {
  it('is none before it was planted', () => {
    expect(readMarker(gitDir)).toBeUndefined()
    expect(readMarker(join(gitDir, 'gone'))).toBeUndefined()
  })

  it('is read back as it was planted, private, with nothing beside it', () => {
    const marker = plantMarker(gitDir, 'login_k3v9xa')
    expect(marker).toEqual({ id: 'login_k3v9xa', nonce: expect.stringMatching(/^[0-9a-f]{24}$/) })
    expect(readMarker(gitDir)).toEqual(marker)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(gitDir)).toEqual(['penv'])
  })

  it('is planted once: whoever comes second gets the first one', () => {
    const first = plantMarker(gitDir, 'login_k3v9xa')
    expect(plantMarker(gitDir, 'other_aaaaaa')).toEqual(first)
    expect(readdirSync(gitDir)).toEqual(['penv'])
  })

  it('differs each time it is planted anew', () => {
    const first = plantMarker(gitDir, 'login_k3v9xa')
    removeMarker(gitDir, first)
    expect(plantMarker(gitDir, 'login_k3v9xa').nonce).not.toBe(first.nonce)
  })

  it('keeps its nonce under another id', () => {
    const marker = plantMarker(gitDir, 'login_k3v9xa')
    renameMarker(gitDir, marker, 'login_k3v9xab')
    expect(readMarker(gitDir)).toEqual({ ...marker, id: 'login_k3v9xab' })
    expect(readdirSync(gitDir)).toEqual(['penv'])
  })

  it('is removed only as the one that is meant', () => {
    const marker = plantMarker(gitDir, 'login_k3v9xa')
    removeMarker(gitDir, { ...marker, nonce: 'another' })
    expect(existsSync(file)).toBe(true)
    removeMarker(gitDir, marker)
    removeMarker(gitDir, marker)
    expect(readdirSync(gitDir)).toEqual([])
  })

  it.each([
    ['nothing', ''],
    ['half of it', '{"id":"login_k3v9xa","non'],
    ['another document', '[]'],
    ['null', 'null'],
    ['no nonce', '{"id":"login_k3v9xa"}'],
    ['a nonce that is a number', '{"id":"login_k3v9xa","nonce":1}'],
    ['an id that is a path', '{"id":"../victim","nonce":"x"}'],
    ['an id that is none', '{"id":"X","nonce":"x"}'],
    ['an id that is too long', `{"id":"${'x'.repeat(28)}","nonce":"x"}`],
  ])('with %s in its file is an error that names the file, never "none"', (_, text) => {
    writeFileSync(file, text)
    const refusal = expect.objectContaining({
      code: 'STATE_UNWRITABLE',
      exit: 7,
      message: expect.stringContaining(file),
    })
    expect(() => readMarker(gitDir)).toThrow(refusal)
    expect(() => plantMarker(gitDir, 'login_k3v9xa')).toThrow(refusal)
    expect(readFileSync(file, 'utf8')).toBe(text)
    expect(readdirSync(gitDir)).toEqual(['penv'])
  })

  it('that is a directory is an error, never "none"', () => {
    mkdirSync(file)
    expect(() => readMarker(gitDir)).toThrow(expect.objectContaining({ code: 'STATE_UNWRITABLE' }))
  })

  it('cannot be planted where the git directory is gone, and says so', () => {
    chmodSync(gitDir, 0o700)
    expect(() => plantMarker(join(gitDir, 'gone'), 'login_k3v9xa')).toThrow(
      expect.objectContaining({ code: 'STATE_UNWRITABLE', message: expect.stringContaining('ENOENT') }),
    )
  })
})
