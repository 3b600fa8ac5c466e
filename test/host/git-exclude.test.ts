import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildSync } from 'esbuild'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { excludeEnvFile } from '../../src/host/git-exclude.ts'
import { findMountObstacle, withTmpfs } from '../support/mount.ts'

let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'penv-exclude-'))
  mkdirSync(join(directory, 'info'))
  file = join(directory, 'info', 'exclude')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const obstacle = findMountObstacle()

describe('keeping .env.preview out of git', () => {
  it.each([
    ['', '/.env.preview\n'],
    ['# c\n', '# c\n/.env.preview\n'],
    ['# c\nx', '# c\nx\n/.env.preview\n'],
    ['# c\r\nx', '# c\r\nx\r\n/.env.preview\r\n'],
    [
      '.env.preview.bak\n!.env.preview\n#/.env.preview\n',
      '.env.preview.bak\n!.env.preview\n#/.env.preview\n/.env.preview\n',
    ],
  ])('adds one line to %j, once', (before, after) => {
    writeFileSync(file, before)
    expect(excludeEnvFile(directory)).toBe('added')
    expect(readFileSync(file, 'utf8')).toBe(after)
    expect(excludeEnvFile(directory)).toBe('present')
    expect(readFileSync(file, 'utf8')).toBe(after)
    expect(readdirSync(join(directory, 'info'))).toEqual(['exclude'])
  })

  it.each(['.env.preview\n', '/.env.preview', 'a\r\n.env.preview\r\nb\r\n', '.env.preview  \n'])(
    'takes the line that is there: %j',
    before => {
      writeFileSync(file, before)
      expect(excludeEnvFile(directory)).toBe('present')
      expect(readFileSync(file, 'utf8')).toBe(before)
    },
  )

  it('makes info/ and the file where there is none', () => {
    rmSync(join(directory, 'info'), { recursive: true })
    expect(excludeEnvFile(directory)).toBe('added')
    expect(readFileSync(file, 'utf8')).toBe('/.env.preview\n')
  })

  it('keeps every byte, the mode, and a link to the file', () => {
    const own = join(directory, 'own')
    writeFileSync(own, Buffer.from([0x23, 0xe9, 0xff, 0x0a]))
    chmodSync(own, 0o664)
    symlinkSync(own, file)
    expect(excludeEnvFile(directory)).toBe('added')
    expect(lstatSync(file).isSymbolicLink()).toBe(true)
    expect(readFileSync(own, 'latin1')).toBe('#\u00e9\u00ff\n/.env.preview\n')
    expect(statSync(own).mode & 0o777).toBe(0o664)
  })

  it('leaves alone what it cannot read or write', () => {
    mkdirSync(file)
    expect(excludeEnvFile(directory)).toBe('unwritable')
    rmSync(join(directory, 'info'), { recursive: true })
    writeFileSync(join(directory, 'info'), '')
    expect(excludeEnvFile(directory)).toBe('unwritable')
    expect(excludeEnvFile(join(directory, 'info'))).toBe('unwritable')
  })

  it.runIf(obstacle === undefined)(
    `answers unwritable on a read-only disk and leaves the file as it is${obstacle ? ` (not run: ${obstacle})` : ''}`,
    () =>
      withTmpfs('64k', (disk, makeReadOnly) => {
        mkdirSync(join(disk, 'info'))
        writeFileSync(join(disk, 'info', 'exclude'), '# c\n')
        makeReadOnly()
        expect(excludeEnvFile(disk)).toBe('unwritable')
        expect(readFileSync(join(disk, 'info', 'exclude'), 'utf8')).toBe('# c\n')
      }),
  )

  it('adds one line when many processes add it at once', async () => {
    const program = join(directory, 'exclude.cjs')
    const entry = join(import.meta.dirname, '..', 'fixtures', 'exclude.ts')
    buildSync({ entryPoints: [entry], bundle: true, platform: 'node', outfile: program })
    writeFileSync(file, '# c\n')
    const run = promisify(execFile)
    const answers = await Promise.all(
      Array.from({ length: 16 }, () =>
        run(process.execPath, [program, directory]).then(({ stdout }) => stdout),
      ),
    )
    expect(answers.filter(answer => answer !== 'present')).toEqual(['added'])
    expect(readFileSync(file, 'utf8')).toBe('# c\n/.env.preview\n')
    expect(readdirSync(join(directory, 'info'))).toEqual(['exclude'])
  })

  it('makes git ignore the file in every worktree, and only at its root', () => {
    const repo = join(directory, 'repo')
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], {
        cwd: repo,
        env: { PATH: process.env.PATH, HOME: directory, GIT_CONFIG_NOSYSTEM: '1' },
        encoding: 'utf8',
      })
    mkdirSync(join(repo, 'app'), { recursive: true })
    git('init', '-q')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    git('worktree', 'add', '-q', '../linked')
    expect(excludeEnvFile(join(repo, '.git'))).toBe('added')
    for (const path of ['.env.preview', 'app/.env.preview', '../linked/.env.preview'])
      writeFileSync(join(repo, path), 'A=1\n')
    expect(git('status', '--porcelain', '-uall')).toBe('?? app/.env.preview\n')
    expect(git('-C', '../linked', 'status', '--porcelain')).toBe('')
    git('worktree', 'remove', '../linked')
    expect(existsSync(join(directory, 'linked'))).toBe(false)
  })
})
