// What the kernel says of real processes: when they started, whose children they are, who listens.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { decideLiveness } from '../../src/core/runs.ts'
import { findListeners, identifySelf, isAncestor, readStartTime } from '../../src/host/processes.ts'
import { findFreePorts, hasIpv6, hold } from '../support/free-ports.ts'
import { waitFor } from '../support/sandbox.ts'

const isLinux = process.platform === 'linux'
const ipv6 = await hasIpv6()

function start(command: string, args: readonly string[], cwd?: string): ChildProcess & { pid: number } {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  if (child.pid === undefined) throw new Error(`${command} did not start`)
  return child as ChildProcess & { pid: number }
}

const sleeper = () => start('sleep', ['600'])
const firstLine = (child: ChildProcess) =>
  new Promise<string>(done => child.stdout?.once('data', bytes => done(String(bytes).trim())))

function makeDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'penv-processes-')))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

describe('the start time of a process', () => {
  it('is the same at each look', () => {
    const child = sleeper()
    const seen = readStartTime(child.pid)
    expect(seen).toMatch(/\d/)
    expect(readStartTime(child.pid)).toBe(seen)
  })

  it.runIf(isLinux)('is told in clock ticks since boot', () => {
    const perSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
    const uptime = () => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * perSecond
    const before = uptime()
    const ticks = Number(readStartTime(sleeper().pid))
    expect(ticks).toBeGreaterThanOrEqual(Math.floor(before) - 2)
    expect(ticks).toBeLessThanOrEqual(uptime() + 2)
  })

  it('is unknown once the process has ended', async () => {
    const child = sleeper()
    child.kill('SIGKILL')
    await waitFor(() => readStartTime(child.pid) === undefined, 'the end of the process')
  })

  it('is unknown for a zombie: only its exit status is left', async () => {
    // The shell becomes a sleep, which never asks for the status of the child that it inherits.
    const parent = start('/bin/sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'])
    const pid = Number(await firstLine(parent))
    expect(readStartTime(pid)).toMatch(/\d/)
    process.kill(pid, 'SIGKILL')
    await waitFor(() => readStartTime(pid) === undefined, 'the zombie to be told as ended')
    // It still is there, and a signal would reach it: kill(pid, 0) takes a zombie for alive.
    expect(process.kill(pid, 0)).toBe(true)
  })

  it.each(['x) R 1 2 (y', 'Z', ') Z 1', 'a\nb'])('is read past the odd name %j', name => {
    const file = join(makeDirectory(), name)
    copyFileSync(execFileSync('/bin/sh', ['-c', 'command -v sleep'], { encoding: 'utf8' }).trim(), file)
    const odd = start(file, ['600'])
    const plain = sleeper()
    const difference = Number(readStartTime(plain.pid)) - Number(readStartTime(odd.pid))
    if (isLinux) expect(difference).toBeLessThan(6000)
    expect(readStartTime(odd.pid)).toMatch(/\d/)
  })

  it.each([0, -1, 2 ** 22 + 1, Number.NaN])('is unknown for the pid %d, which no process has', pid => {
    expect(readStartTime(pid)).toBeUndefined()
  })
})

describe('this process', () => {
  it('is told by pid, start time, boot, pid namespace and host', () => {
    const self = identifySelf()
    expect(self).toMatchObject({ pid: process.pid, startTime: readStartTime(process.pid), host: hostname() })
    expect(self.startTime).not.toBe('')
    expect(self.bootId).not.toBe('')
    if (isLinux) expect(self.pidNamespace).toMatch(/^pid:\[\d+\]$/)
  })

  it('is alive to itself, and dead under a start time that its pid had before', () => {
    const self = identifySelf()
    expect(decideLiveness(self, self, readStartTime)).toBe('alive')
    expect(decideLiveness({ ...self, startTime: '1' }, self, readStartTime)).toBe('dead')
  })

  it('descends from itself and its parent, not from its child or a stranger', () => {
    expect(isAncestor(process.pid)).toBe(true)
    expect(isAncestor(process.ppid)).toBe(true)
    expect(isAncestor(sleeper().pid)).toBe(false)
    expect(isAncestor(2 ** 22 + 1)).toBe(false)
  })
})

describe('the listeners of ports', () => {
  it('are none where nobody listens, or nothing is asked', async () => {
    const port = await findFreePorts(1)
    expect(findListeners([port])).toEqual([])
    expect(findListeners([])).toEqual([])
  })

  it('are told with pid, command and working directory, of the ports that are asked for', async () => {
    const first = await findFreePorts(2)
    await hold({ port: first, host: '127.0.0.1' })
    await hold({ port: first + 1, host: '127.0.0.1' })
    expect(findListeners([first])).toEqual([
      { port: first, pid: process.pid, command: expect.stringMatching(/\w/), directory: realpathSync('.') },
    ])
    expect(
      findListeners([first + 1, first])
        .map(({ port }) => port)
        .sort(),
    ).toEqual([first, first + 1])
  })

  it.runIf(ipv6)('are found on IPv6 too', async () => {
    const port = await findFreePorts(1)
    await hold({ port, host: '::1' })
    expect(findListeners([port])).toMatchObject([{ port, pid: process.pid }])
  })

  it('are told by where they are, not by where they were started from', async () => {
    const port = await findFreePorts(1)
    const directory = join(makeDirectory())
    const script = `process.chdir(${JSON.stringify(directory)}); require('net').createServer().listen(${port}, '127.0.0.1', () => console.log('ready'))`
    const child = start(process.execPath, ['-e', script], tmpdir())
    await firstLine(child)
    expect(findListeners([port])).toMatchObject([{ port, pid: child.pid, directory }])
  })

  it('are not the processes that are only connected', async () => {
    const port = await findFreePorts(1)
    await hold({ port, host: '127.0.0.1' })
    const script = `const s = require('net').connect(${port}, '127.0.0.1', () => console.log('ready')); s.resume()`
    const client = start(process.execPath, ['-e', script])
    await firstLine(client)
    expect(findListeners([port]).map(({ pid }) => pid)).toEqual([process.pid])
  })
})
