import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  copyEnvFile,
  mergeEnvFile,
  readEnvFile,
  removeEnvFileIfOurs,
  startEnvFileAfresh,
} from '../../src/host/env-file.ts'
import { findMountObstacle, withTmpfs } from '../support/mount.ts'

const ID = 'login_k3v9xa'
let directory: string
let worktree: string
let file: string
let lockDir: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'penv-env-file-'))
  worktree = join(directory, 'work tree')
  mkdirSync(worktree)
  file = join(worktree, '.env.preview')
  lockDir = join(directory, 'state', 'locks')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const merge = (set: Record<string, string>, unset: string[] = [], id = ID) =>
  mergeEnvFile({ file, lockDir, id, changes: { set: new Map(Object.entries(set)), unset } })
const read = () => readFileSync(file, 'utf8')
const mode = (path: string) => lstatSync(path).mode & 0o7777

describe('merging into the file', () => {
  it('starts a new file with the stamp, private from the start, and leaves nothing beside it', async () => {
    const before = process.umask(0o022)
    try {
      expect(await merge({ PORT: '41000' })).toEqual({ changed: true, keys: ['PORT'] })
    } finally {
      process.umask(before)
    }
    expect(read()).toBe(`PENV_ID=${ID}\nPORT=41000\n`)
    expect(mode(file)).toBe(0o600)
    expect(mode(lockDir)).toBe(0o700)
    expect(mode(join(directory, 'state'))).toBe(0o700)
    expect(readdirSync(worktree)).toEqual(['.env.preview'])
    expect(readdirSync(lockDir)).toEqual([])
  })

  it('keeps the stamp in its place, and changes nothing the second time', async () => {
    writeFileSync(file, `# mine\nexport PENV_ID='${ID}' # c\r\nA=1`, { mode: 0o600 })
    expect(await merge({ A: '2', B: 'x y' })).toEqual({ changed: true, keys: ['A', 'B'] })
    const after = `# mine\nexport PENV_ID='${ID}' # c\r\nA=2\r\nB='x y'\r\n`
    expect(read()).toBe(after)
    const { ino, mtimeNs } = statSync(file, { bigint: true })
    expect(await merge({ A: '2', B: 'x y' }, ['C'])).toEqual({ changed: false, keys: ['A', 'B', 'C'] })
    expect(statSync(file, { bigint: true })).toMatchObject({ ino, mtimeNs })
  })

  it('stamps a file that has no stamp', async () => {
    writeFileSync(file, 'A=1\n')
    await merge({})
    expect(read()).toBe(`A=1\nPENV_ID=${ID}\n`)
  })

  it('unsets variables', async () => {
    await merge({ A: '1', B: '2' })
    expect(await merge({}, ['A'])).toEqual({ changed: true, keys: ['A'] })
    expect(read()).toBe(`PENV_ID=${ID}\nB=2\n`)
  })

  it.each([0o644, 0o666, 0o640, 0o400, 0o755])(
    'tightens mode %o, also when no variable changes',
    async loose => {
      await merge({ A: '1' })
      chmodSync(file, loose)
      expect(await merge({ A: '1' })).toMatchObject({ changed: false })
      expect(mode(file)).toBe(0o600)
      chmodSync(file, loose)
      await merge({ A: '2' })
      expect(mode(file)).toBe(0o600)
    },
  )

  it.each(['1', '2'])('replaces a symlink and never writes through it (A=%s)', async value => {
    const target = join(directory, 'target')
    writeFileSync(target, `PENV_ID=${ID}\nA=1\n`, { mode: 0o644 })
    symlinkSync(target, file)
    await merge({ A: value })
    expect(lstatSync(file).isFile()).toBe(true)
    expect(read()).toBe(`PENV_ID=${ID}\nA=${value}\n`)
    expect(readFileSync(target, 'utf8')).toBe(`PENV_ID=${ID}\nA=1\n`)
    expect(mode(target)).toBe(0o644)
  })

  it('replaces a dangling symlink and never creates what it points to', async () => {
    symlinkSync(join(directory, 'nowhere'), file)
    await merge({ A: '1' })
    expect(lstatSync(file).isFile()).toBe(true)
    expect(existsSync(join(directory, 'nowhere'))).toBe(false)
  })

  it('never changes another name of the same file', async () => {
    const other = join(directory, 'other')
    writeFileSync(other, 'A=1\n', { mode: 0o644 })
    linkSync(other, file)
    await merge({ A: '2' })
    expect(readFileSync(other, 'utf8')).toBe('A=1\n')
    expect(mode(other)).toBe(0o644)
  })

  it('writes nothing at all when one value or key is refused', async () => {
    await expect(merge({ A: '1', B: `s3c'"x` })).rejects.toMatchObject({ code: 'ENV_VALUE', exit: 9 })
    await expect(merge({ A: '1', 'B C': 'x' })).rejects.toMatchObject({ code: 'USAGE' })
    expect(readdirSync(directory)).toEqual(['work tree'])
    expect(readdirSync(worktree)).toEqual([])
    writeFileSync(file, 'A=0\n', { mode: 0o644 })
    await expect(merge({ A: '1', B: 'x\r' })).rejects.toMatchObject({ code: 'ENV_VALUE' })
    expect(read()).toBe('A=0\n')
    expect(mode(file)).toBe(0o644)
  })

  it('lets nobody change the stamp', async () => {
    await merge({ A: '1' })
    await expect(merge({ PENV_ID: 'other_aaaaaa' })).rejects.toMatchObject({ code: 'USAGE' })
    await expect(merge({}, ['PENV_ID'])).rejects.toMatchObject({ code: 'USAGE' })
    expect(await merge({ PENV_ID: ID })).toMatchObject({ changed: false })
    expect(read()).toBe(`PENV_ID=${ID}\nA=1\n`)
  })

  it('refuses a line that an open quote further up would swallow', async () => {
    const text = `PENV_ID=${ID}\nA="foo\nB='bar\n" x\n`
    writeFileSync(file, text)
    await expect(merge({ K: '#1' })).rejects.toMatchObject({ code: 'ENV_FILE', details: { key: 'K' } })
    expect(read()).toBe(text)
  })

  it('removes what a killed writer has left beside the file', async () => {
    const left = `${file}.4194303.0123456789ab.tmp`
    writeFileSync(left, 'A=1\n')
    await merge({ A: '2' })
    expect(readdirSync(worktree)).toEqual(['.env.preview'])
  })
})

describe('a file that cannot be used', () => {
  const cases: [what: string, make: () => void, errno: string | undefined][] = [
    ['a directory', () => mkdirSync(file), undefined],
    ['a pipe', () => execFileSync('mkfifo', [file]), undefined],
    ['a device', () => symlinkSync('/dev/null', file), undefined],
    ['a circle of links', () => symlinkSync(file, file), 'ELOOP'],
    ['text that is not UTF-8', () => writeFileSync(file, Buffer.from('A=\xe9\n', 'latin1')), undefined],
    ['UTF-16', () => writeFileSync(file, Buffer.from('\uFEFFA=1\n', 'utf16le')), undefined],
  ]
  it.each(cases)('is never taken for an empty one: %s', async (_, make, errno) => {
    make()
    const before = lstatSync(file)
    const wanted = { code: 'ENV_FILE', exit: 9, message: expect.stringContaining(file), details: { file } }
    const error = { ...wanted, details: errno === undefined ? { file } : { file, errno } }
    expect(() => readEnvFile(file)).toThrow(expect.objectContaining(error))
    await expect(merge({ A: '1' })).rejects.toMatchObject(error)
    await expect(startEnvFileAfresh({ file, lockDir, id: ID })).rejects.toMatchObject(error)
    expect(() => removeEnvFileIfOurs({ file, id: ID })).toThrow(expect.objectContaining(error))
    expect(lstatSync(file).ino).toBe(before.ino)
    expect(readdirSync(worktree)).toEqual(['.env.preview'])
    expect(readdirSync(lockDir)).toEqual([])
  })

  it('is named with the reason when the worktree is gone', async () => {
    rmSync(worktree, { recursive: true })
    expect(readEnvFile(file)).toBeUndefined()
    await expect(merge({ A: '1' })).rejects.toMatchObject({
      code: 'ENV_FILE',
      message: expect.stringMatching(/ENOENT/),
      details: { file, errno: 'ENOENT' },
      cause: expect.objectContaining({ code: 'ENOENT' }),
    })
  })

  it('is not touched when the lock cannot be made', async () => {
    writeFileSync(file, 'A=1\n')
    writeFileSync(join(directory, 'state'), '')
    await expect(merge({ A: '2' })).rejects.toMatchObject({
      code: 'STATE_UNWRITABLE',
      exit: 7,
      message: expect.stringContaining(lockDir),
    })
    expect(read()).toBe('A=1\n')
  })

  const obstacle = findMountObstacle()
  const note = obstacle === undefined ? '' : ` (not run: ${obstacle})`

  it.runIf(obstacle === undefined)(`stays as it is when the disk is full${note}`, () =>
    withTmpfs('64k', async disk => {
      file = join(disk, '.env.preview')
      const text = `PENV_ID=${ID}\n${Array.from({ length: 20 }, (_, i) => `K${i}=${i}\n`).join('')}`
      writeFileSync(file, text, { mode: 0o600 })
      expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(100_000))).toThrow(/ENOSPC/)
      for (const set of [{ NEW: '1' }, { NEW: 'x'.repeat(50_000) }] as Record<string, string>[])
        await expect(merge(set)).rejects.toMatchObject({
          code: 'ENV_FILE',
          message: expect.stringContaining('no space left on device (ENOSPC)'),
          details: { errno: 'ENOSPC' },
        })
      expect(() => copyEnvFile(file, join(disk, 'copy'))).toThrow(
        expect.objectContaining({ code: 'ENV_FILE' }),
      )
      expect(read()).toBe(text)
      expect(readdirSync(disk).sort()).toEqual(['.env.preview', 'filler'])
      unlinkSync(join(disk, 'filler'))
      await merge({ NEW: '1' })
      expect(read()).toBe(`${text}NEW=1\n`)
    }),
  )

  it.runIf(obstacle === undefined)(`stays as it is on a read-only disk${note}`, () =>
    withTmpfs('64k', async (disk, makeReadOnly) => {
      file = join(disk, '.env.preview')
      writeFileSync(file, `PENV_ID=${ID}\nA=1\n`, { mode: 0o600 })
      makeReadOnly()
      expect(await merge({ A: '1' })).toMatchObject({ changed: false })
      await expect(merge({ A: '2' })).rejects.toMatchObject({ code: 'ENV_FILE', details: { errno: 'EROFS' } })
      expect(() => removeEnvFileIfOurs({ file, id: ID })).toThrow(
        expect.objectContaining({ code: 'ENV_FILE' }),
      )
      expect(readEnvFile(file)).toBe(`PENV_ID=${ID}\nA=1\n`)
    }),
  )
})

describe("another environment's file", () => {
  const foreign = 'PENV_ID=other_aaaaaa\nPORT=41000\nDATABASE_URL=postgres://u:s3c@h/d\n'

  it('is refused with both names and the way out, and stays as it is', async () => {
    writeFileSync(file, foreign)
    const error = await merge({ PORT: '1' }).catch(error => error)
    expect(error).toMatchObject({
      code: 'ENV_FOREIGN',
      exit: 9,
      details: { file, owner: 'other_aaaaaa', id: ID },
    })
    expect(error.hint).toBe(`To start it afresh, run: rm '${file}'`)
    expect(`${error.message}${JSON.stringify(error)}`).not.toContain('s3c')
    expect(read()).toBe(foreign)
    expect(removeEnvFileIfOurs({ file, id: ID })).toBe(false)
    expect(read()).toBe(foreign)
  })

  it('is started afresh with our stamp and none of its values', async () => {
    writeFileSync(file, foreign)
    expect(await startEnvFileAfresh({ file, lockDir, id: ID })).toBe(true)
    expect(read()).toBe(`PENV_ID=${ID}\n`)
    expect(mode(file)).toBe(0o600)
    expect(await startEnvFileAfresh({ file, lockDir, id: ID })).toBe(false)
  })

  it('is replaced, not written into, where a symlink leads to it', async () => {
    const theirs = join(directory, 'theirs')
    writeFileSync(theirs, foreign)
    symlinkSync(theirs, file)
    await expect(merge({ PORT: '1' })).rejects.toMatchObject({ code: 'ENV_FOREIGN' })
    expect(await startEnvFileAfresh({ file, lockDir, id: ID })).toBe(true)
    expect(readFileSync(theirs, 'utf8')).toBe(foreign)
    expect(read()).toBe(`PENV_ID=${ID}\n`)
  })

  it.each(['A=1\n', `A=1\nPENV_ID=${ID}\n`, undefined])('is not what %j is, which stays', async text => {
    if (text !== undefined) writeFileSync(file, text)
    expect(await startEnvFileAfresh({ file, lockDir, id: ID })).toBe(false)
    expect(readEnvFile(file)).toBe(text)
  })
})

describe('removing and copying', () => {
  it('removes our file, and begun writes with it', async () => {
    await merge({ A: '1' })
    writeFileSync(`${file}.4194303.0123456789ab.tmp`, '')
    expect(removeEnvFileIfOurs({ file, id: ID })).toBe(true)
    expect(readdirSync(worktree)).toEqual([])
    expect(removeEnvFileIfOurs({ file, id: ID })).toBe(false)
  })

  it('keeps a file without a stamp', () => {
    writeFileSync(file, 'A=1\n')
    expect(removeEnvFileIfOurs({ file, id: ID })).toBe(false)
    expect(read()).toBe('A=1\n')
  })

  it('copies byte for byte, private, and says when there is nothing to copy', () => {
    const to = join(directory, 'copy')
    expect(copyEnvFile(file, to)).toBe(false)
    expect(existsSync(to)).toBe(false)
    writeFileSync(file, Buffer.from([0xff, 0x0d, 0x0a, 0x41]), { mode: 0o644 })
    expect(copyEnvFile(file, to)).toBe(true)
    expect([...readFileSync(to)]).toEqual([0xff, 0x0d, 0x0a, 0x41])
    expect(mode(to)).toBe(0o600)
    expect(() => copyEnvFile(file, join(directory, 'none', 'copy'))).toThrow(
      expect.objectContaining({
        code: 'ENV_FILE',
        details: { file: join(directory, 'none', 'copy'), errno: 'ENOENT' },
      }),
    )
  })
})

describe('many processes at once', () => {
  let tools: string
  let program: string
  beforeAll(() => {
    tools = mkdtempSync(join(tmpdir(), 'penv-merge-'))
    program = join(tools, 'merge-env.cjs')
    const entry = join(import.meta.dirname, '..', 'fixtures', 'merge-env.ts')
    buildSync({ entryPoints: [entry], bundle: true, platform: 'node', outfile: program })
  })
  afterAll(() => rmSync(tools, { recursive: true, force: true }))

  const startWith = (locks: string, ...pairs: string[]) =>
    spawn(process.execPath, [program, file, locks, ID, ...pairs], { stdio: 'inherit' })
  const start = (...pairs: string[]) => startWith(lockDir, ...pairs)
  const exitOf = async (child: ChildProcess) =>
    child.exitCode ??
    child.signalCode ??
    ((await once(child, 'exit')) as [number | null, string | null]).find(x => x !== null)
  const keysSeen = () => new Set((readEnvFile(file) ?? '').match(/^\w+(?==)/gm) ?? [])

  it('keeps the keys of all of 48, and leaves nothing beside the file', async () => {
    writeFileSync(file, '# first\nA=1\n')
    const children = Array.from({ length: 48 }, (_, i) => start(`K${i}=${i}`))
    expect(new Set(await Promise.all(children.map(exitOf)))).toEqual(new Set([0]))
    const lines = read().trimEnd().split('\n')
    expect(lines.slice(0, 2)).toEqual(['# first', 'A=1'])
    expect(lines.slice(2).sort()).toEqual([`PENV_ID=${ID}`, ...children.map((_, i) => `K${i}=${i}`)].sort())
    expect(readdirSync(worktree)).toEqual(['.env.preview'])
    expect(readdirSync(lockDir)).toEqual([])
  })

  it('goes on after a writer that was killed while it held the lock', async () => {
    await merge({ A: '1' })
    const deadline = Date.now() + 30_000
    while (readdirSync(lockDir).length === 0 && Date.now() < deadline) {
      const child = start(...Array.from({ length: 200 }, (_, i) => `K${i}=${i}`))
      await until(() => readdirSync(lockDir).length > 0)
      child.kill('SIGKILL')
      expect(await exitOf(child)).toBe('SIGKILL')
    }
    expect(readdirSync(lockDir)).toHaveLength(1)
    const before = read()
    expect(await merge({ LAST: '1' })).toMatchObject({ changed: true })
    expect(read()).toBe(`${before}LAST=1\n`)
    expect(readdirSync(lockDir)).toEqual([])
    expect(readdirSync(worktree)).toEqual(['.env.preview'])
  })

  it('loses no key even when no lock keeps them apart', async () => {
    const children = Array.from({ length: 6 }, (_, who) =>
      startWith(
        join(directory, `locks-${who}`),
        ...Array.from({ length: 40 }, (_, i) => `P${who}_${i}=${i}`),
      ),
    )
    expect(new Set(await Promise.all(children.map(exitOf)))).toEqual(new Set([0]))
    expect(keysSeen().size).toBe(1 + 6 * 40)
    expect(readdirSync(worktree)).toEqual(['.env.preview'])
  })

  it('loses no key when holders are stopped past the lock, killed, or resumed at any moment', async () => {
    const keysOf = (who: number) => Array.from({ length: 120 }, (_, i) => `P${who}_${i}=${i}`)
    const children = [0, 1, 2, 3].map(who => start(...keysOf(who)))
    const finished = children.map(exitOf)
    const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null
    let stops = 0
    for (let turn = 0; turn < 12 && children.filter(isRunning).length > 1; turn++) {
      const victim = children[turn % 3] as ChildProcess
      if (!isRunning(victim)) continue
      const before = keysSeen().size
      victim.kill('SIGSTOP')
      stops++
      // Whoever holds the lock is stopped with it: the others go on once it is stale.
      await until(() => keysSeen().size > before + 2 || children.filter(isRunning).length < 2)
      victim.kill('SIGCONT')
      await until(() => keysSeen().size > before + 3 || children.filter(isRunning).length < 2)
    }
    const killed = children[2] as ChildProcess
    killed.kill('SIGKILL')
    const exits = await Promise.all(finished)
    expect([exits[0], exits[1], exits[3]]).toEqual([0, 0, 0])
    expect(stops).toBeGreaterThan(2)
    const seen = keysSeen()
    const lost = [0, 1, 3].flatMap(keysOf).filter(pair => !seen.has(pair.split('=')[0] as string))
    expect(lost).toEqual([])
    // The one that was killed has all keys up to where it came, without a gap.
    const ofKilled = keysOf(2).map(pair => seen.has(pair.split('=')[0] as string))
    expect(ofKilled.lastIndexOf(true)).toBe(ofKilled.filter(Boolean).length - 1)
    await merge({ LAST: '1' })
    expect(readdirSync(worktree)).toEqual(['.env.preview'])
  })
})

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition did not come true in 30 s')
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}
