// What the kernel knows of processes: start times, ancestry, and who listens on a port. Only asks; signals
// are sent in host/scripts.ts.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { ProcessIdentity } from '../core/runs.ts'
import { errnoOf } from './errno.ts'

const isLinux = process.platform === 'linux'

export function identifySelf(): ProcessIdentity {
  return {
    pid: process.pid,
    startTime: readStartTime(process.pid) ?? '',
    bootId: readBootId(),
    pidNamespace: readLink('/proc/self/ns/pid'),
    host: hostname(),
  }
}

/** When a live process started; undefined when there is none, or when only its exit status is left. */
export function readStartTime(pid: number): string | undefined {
  if (isLinux) {
    const stat = readStat(pid)
    return stat === undefined || stat.state === 'Z' || stat.state === 'X' ? undefined : stat.startTime
  }
  const line = askPs(pid, 'stat=,lstart=')
  return line === undefined || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '')
}

/** Whether `pid` is this process or one that it descends from. */
export function isAncestor(pid: number): boolean {
  let current: number | undefined = process.pid
  for (let depth = 0; current !== undefined && current > 1 && depth < 100; depth++) {
    if (current === pid) return true
    current = isLinux ? readStat(current)?.parent : Number(askPs(current, 'ppid=')) || undefined
  }
  return false
}

/** Whether anything of a process group still runs. */
export function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') return false
  }
  // Exit statuses that nobody collects, as in a container without an init, still answer to a signal.
  return (
    !isLinux ||
    readdirSync('/proc').some(entry => {
      const stat = /^\d+$/.test(entry) ? readStat(Number(entry)) : undefined
      return stat?.group === group && stat.state !== 'Z' && stat.state !== 'X'
    })
  )
}

// proc(5): the second field is the command in parentheses and may hold anything, so fields count from the last one.
function readStat(
  pid: number,
): { state: string; parent: number; group: number; startTime: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return {
      state: fields[0] ?? '',
      parent: Number(fields[1]),
      group: Number(fields[2]),
      startTime: fields[19] ?? '',
    }
  } catch {
    return undefined
  }
}

function askPs(pid: number, columns: string): string | undefined {
  // TZ: lstart is printed in local time, which jumps.
  const answer = spawnSync('ps', ['-o', columns, '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' },
  })
  return answer.status === 0 && answer.stdout.trim() !== '' ? answer.stdout.trim() : undefined
}

function readBootId(): string {
  if (isLinux) {
    try {
      return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    } catch {
      return ''
    }
  }
  return spawnSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).stdout?.trim() ?? ''
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

export interface Listener {
  port: number
  /** Undefined when the process cannot be read. */
  pid: number | undefined
  command: string
  directory: string | undefined
}

/** Who listens on these ports. A port without an entry has no listener. */
export function findListeners(ports: readonly number[]): Listener[] {
  if (ports.length === 0) return []
  return isLinux ? findListenersInProc(ports) : findListenersByLsof(ports)
}

const TCP_LISTEN = '0A'

function findListenersInProc(ports: readonly number[]): Listener[] {
  const wanted = new Set(ports)
  const portOfSocket = new Map<string, number>()
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readText(table).split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      const port = Number.parseInt(fields[1]?.split(':')[1] ?? '', 16)
      if (fields[3] === TCP_LISTEN && wanted.has(port) && fields[9] !== undefined)
        portOfSocket.set(fields[9], port)
    }
  }
  if (portOfSocket.size === 0) return []
  const found: Listener[] = []
  const seen = new Set<number>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    for (const socket of socketsOf(entry)) {
      const port = portOfSocket.get(socket)
      if (port === undefined || found.some(other => other.port === port && other.pid === Number(entry)))
        continue
      seen.add(port)
      found.push({
        port,
        pid: Number(entry),
        command: readText(`/proc/${entry}/comm`).trim(),
        directory: readLink(`/proc/${entry}/cwd`) || undefined,
      })
    }
  }
  for (const port of new Set(portOfSocket.values()))
    if (!seen.has(port)) found.push({ port, pid: undefined, command: '', directory: undefined })
  return found
}

function socketsOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap(
      name => /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${name}`))?.[1] ?? [],
    )
  } catch {
    return []
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function findListenersByLsof(ports: readonly number[]): Listener[] {
  const selectors = ports.flatMap(port => [`-iTCP:${port}`])
  const answer = spawnSync('lsof', ['-nP', '-sTCP:LISTEN', '-Fpcn', ...selectors], { encoding: 'utf8' })
  const found: Listener[] = []
  let pid: number | undefined
  let command = ''
  for (const line of answer.stdout?.split('\n') ?? []) {
    if (line.startsWith('p')) pid = Number(line.slice(1))
    if (line.startsWith('c')) command = line.slice(1)
    const port = line.startsWith('n') ? Number(line.slice(line.lastIndexOf(':') + 1)) : Number.NaN
    if (ports.includes(port) && !found.some(other => other.port === port && other.pid === pid))
      found.push({ port, pid, command, directory: pid === undefined ? undefined : findDirectoryByLsof(pid) })
  }
  return found
}

function findDirectoryByLsof(pid: number): string | undefined {
  const answer = spawnSync('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-Fn'], { encoding: 'utf8' })
  return answer.stdout
    ?.split('\n')
    .find(line => line.startsWith('n'))
    ?.slice(1)
}
