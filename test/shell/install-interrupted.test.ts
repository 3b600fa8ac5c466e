import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  barePath,
  type InstallSandbox,
  makeInstallSandbox,
  shapeOf,
  snapshot,
  writeBundle,
  writeFile,
} from '../support/install.ts'

/** Programs through which the scripts change the disk: a process that dies does so before or after one of them. */
const writers = ['cat', 'chmod', 'cp', 'find', 'ln', 'mkdir', 'mv', 'node', 'rm', 'rmdir']

/**
 * Runs a script of install/ and sends its process a signal at the n-th program that it starts; KILL leaves it no
 * chance to clean up. Returns the exit code, 128 for one that died of the signal.
 */
function runAndSignal(box: InstallSandbox, script: string, n: number, signal = 'KILL'): number {
  const shims = join(box.root, 'shims')
  const count = join(box.root, 'count')
  if (!existsSync(shims)) {
    mkdirSync(shims)
    for (const name of writers)
      writeFile(
        join(shims, name),
        `#!/bin/sh
n=$(($(/bin/cat "$COUNT") + 1))
printf '%s\\n' "$n" >"$COUNT"
[ "$n" -ne "$SIGNAL_AT" ] || { kill -"$SIGNAL" "$SCRIPT_PID"; exit 1; }
PATH=$REAL_PATH exec ${name} "$@"
`,
        0o755,
      )
  }
  writeFileSync(count, '0\n')
  const args = ['-c', 'SCRIPT_PID=$$ exec sh "$@"', 'sh', join(box.clone, 'install', script)]
  const env = { PATH: `${shims}:${barePath}`, REAL_PATH: barePath, COUNT: count }
  return box.run('sh', args, { env: { ...env, SIGNAL: signal, SIGNAL_AT: String(n) } }).code
}

function runAndKill(box: InstallSandbox, script: string, n: number): boolean {
  const code = runAndSignal(box, script, n)
  expect([0, 128]).toContain(code)
  return code === 128
}

/** What penv says, or undefined when it is not there. A penv that is there has to work. */
function askPenv(box: InstallSandbox): string | undefined {
  const penv = join(box.prefix, 'bin', 'penv')
  return existsSync(penv) ? box.run(penv, []).stdout : undefined
}

describe('killed before any of its steps', { timeout: 300_000 }, () => {
  it('install.sh leaves no penv or a whole one, an rc with no block or a whole one, and can be run again', () => {
    const box = makeInstallSandbox()
    const rc = join(box.home, '.bashrc')
    writeFile(rc, 'above')
    writeFile(join(box.home, '.profile'), '. ~/.bashrc\n')
    const before = snapshot(box.home)
    box.install()
    const installed = shapeOf(box.home)
    const rcAfter = readFileSync(rc, 'utf8')
    box.uninstall()

    let kills = 0
    while (runAndKill(box, 'install.sh', kills + 1)) {
      kills++
      const at = `killed at step ${kills}`
      expect([undefined, 'one one\n'], at).toContain(askPenv(box))
      expect(['above', rcAfter], at).toContain(readFileSync(rc, 'utf8'))
      if (kills % 2 === 0) {
        expect(box.install(), at).toMatchObject({ code: 0, stderr: '' })
        expect(shapeOf(box.home), at).toEqual(installed)
      }
      expect(box.uninstall(), at).toMatchObject({ code: 0, stderr: '' })
      expect(snapshot(box.home), at).toEqual(before)
    }
    expect(kills).toBeGreaterThan(20)
  })

  it('an upgrade leaves the old penv or the new one, whole, and can be run again', () => {
    const box = makeInstallSandbox()
    box.install()
    const releases = ['one', 'two']
    let kills = 0
    for (;;) {
      const [from, to] = kills % 2 === 0 ? releases : releases.toReversed()
      writeBundle(box.clone, to as string)
      if (!runAndKill(box, 'install.sh', kills + 1)) break
      kills++
      expect([`${from} ${from}\n`, `${to} ${to}\n`], `killed at step ${kills}`).toContain(askPenv(box))
      expect(box.install()).toMatchObject({ code: 0, stderr: '' })
      expect(askPenv(box)).toBe(`${to} ${to}\n`)
      expect(readdirSync(join(box.prefix, 'lib', 'penv', 'versions'))).toHaveLength(2)
    }
    expect(kills).toBeGreaterThan(15)
    box.uninstall()
    expect(snapshot(box.home)).toEqual({})
  })

  it('uninstall.sh can be run again, and then has restored everything', () => {
    const box = makeInstallSandbox()
    writeFile(join(box.home, '.bashrc'), 'above')
    const before = snapshot(box.home)
    let kills = 0
    for (;;) {
      box.install()
      if (!runAndKill(box, 'uninstall.sh', kills + 1)) break
      kills++
      expect(box.uninstall(), `killed at step ${kills}`).toMatchObject({ code: 0, stderr: '' })
      expect(snapshot(box.home), `killed at step ${kills}`).toEqual(before)
    }
    expect(kills).toBeGreaterThan(20)
  })
})

describe('stopped in the middle', { timeout: 300_000 }, () => {
  it('install.sh clears away what is not in its place yet', () => {
    const box = makeInstallSandbox()
    let stops = 0
    for (let n = 1; ; n += 4) {
      const code = runAndSignal(box, 'install.sh', n, 'TERM')
      if (code === 0) break
      stops++
      expect([1, 128, 143]).toContain(code)
      const names = Object.keys(snapshot(box.home))
      expect(
        names.filter(name => /\.(penv|current|previous|manifest)\.\d+$/.test(name)),
        `at ${n}`,
      ).toEqual([])
      if (!names.includes('.local/lib/penv/current')) expect(names, `at ${n}`).toEqual([])
      box.uninstall()
      expect(snapshot(box.home), `at ${n}`).toEqual({})
    }
    expect(stops).toBeGreaterThan(5)
  })

  it.each([
    [
      'the rc file',
      (box: InstallSandbox) => writeFile(join(box.home, '.zshrc'), `#${'x'.repeat(200_000)}\n`),
    ],
    [
      'the bundle',
      (box: InstallSandbox) => writeFile(join(box.clone, 'dist', 'penv.cjs'), `//${'x'.repeat(200_000)}`),
    ],
  ])('install.sh leaves all as it was when there is no room for %s', (_, makeBig) => {
    const box = makeInstallSandbox()
    makeBig(box)
    const before = snapshot(box.home)
    const limited = ['-c', 'ulimit -f 100 && exec sh "$@"', 'sh', join(box.clone, 'install', 'install.sh')]
    const outcome = box.run('sh', [...limited, '--shell', 'zsh'])
    expect(outcome.code).toBeGreaterThan(0)
    expect(outcome.stderr).not.toBe('')
    const rest = Object.entries(snapshot(box.home)).filter(([name]) => !name.startsWith('.local'))
    expect(Object.fromEntries(rest)).toEqual(before)
    expect(box.uninstall().code).toBe(0)
    expect(snapshot(box.home)).toEqual(before)
  })
})
