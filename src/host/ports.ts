// Whether anyone listens on a port. The answer comes from binding and connecting alone, never from a list of
// processes, so that it needs no rights and no tool.

import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Range } from '../core/ranges.ts'
import { errnoOf } from './errno.ts'

// A holder of any of these is seen by at least one: a wildcard holder may leave 127.0.0.1 bindable on macOS,
// and a holder of ::1 alone is invisible to both IPv4 binds.
const PROBED_ADDRESSES = ['127.0.0.1', '::1', '0.0.0.0', '::']
// No such address family; or a sandbox that lets nobody listen, where only the ledger can tell.
const SAYS_NOTHING = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL', 'EPERM'])
// WSL: a Windows program's port binds without an error, but answers.
const CONNECTED_ADDRESSES = ['127.0.0.1', '::1']
const CONNECT_TIMEOUT_MS = 100

export async function isPortFree(port: number): Promise<boolean> {
  for (const host of PROBED_ADDRESSES) if (!(await canBind(port, host))) return false
  const answers = await Promise.all(CONNECTED_ADDRESSES.map(host => acceptsConnection(port, host)))
  return !answers.includes(true)
}

function canBind(port: number, host: string): Promise<boolean> {
  return new Promise(done => {
    const server = createServer()
    server.once('error', error => done(SAYS_NOTHING.has(errnoOf(error))))
    server.listen({ port, host, exclusive: true }, () => server.close(() => done(true)))
  })
}

function acceptsConnection(port: number, host: string): Promise<boolean> {
  return new Promise(done => {
    const socket = connect({ port, host })
    const finish = (accepted: boolean) => {
      socket.destroy()
      done(accepted)
    }
    // A connection to a port of the ephemeral range can meet itself (simultaneous open): no listener there.
    socket.once('connect', () => finish(socket.localPort !== port))
    socket.once('error', () => finish(false))
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => finish(false))
  })
}

/** Ports that the kernel hands to outgoing connections; undefined where it does not say. */
export function readEphemeralRange(): Range | undefined {
  // macOS: sysctl net.inet.ip.portrange.first and .last, which ship as these.
  if (process.platform === 'darwin') return { first: 49152, last: 65535 }
  try {
    const [first, last] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8')
      .trim()
      .split(/\s+/)
      .map(Number)
    return first !== undefined && last !== undefined ? { first, last } : undefined
  } catch {
    return undefined
  }
}
