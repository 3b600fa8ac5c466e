// Whether a port is free, with real sockets on the addresses that others listen on.

import { createSocket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { connect, createServer, type ListenOptions, Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isPortFree, readEphemeralRange } from '../../src/host/ports.ts'
import { findFreePorts, hasIpv6, hold } from '../support/free-ports.ts'

const ipv6 = await hasIpv6()
const outer = Object.values(networkInterfaces())
  .flat()
  .find(address => address?.family === 'IPv4' && !address.internal)?.address

describe('a port', () => {
  it('that nobody holds is free, and stays so after the look', async () => {
    const port = await findFreePorts(1)
    expect([await isPortFree(port), await isPortFree(port)]).toEqual([true, true])
    await hold({ port, host: '127.0.0.1' })
  })

  const HOLDERS: ListenOptions[] = [
    { host: '127.0.0.1' },
    { host: '0.0.0.0' },
    ...(process.platform === 'linux' ? [{ host: '127.0.0.2' }] : []),
    ...(outer === undefined ? [] : [{ host: outer }]),
    ...(ipv6 ? [{ host: '::1' }, { host: '::' }, { host: '::', ipv6Only: true }] : []),
  ]
  it.each(HOLDERS)('that somebody holds on %o is taken', async holder => {
    const port = await findFreePorts(1)
    await hold({ ...holder, port })
    expect(await isPortFree(port)).toBe(false)
    expect(await isPortFree(port + 1)).toBe(true)
  })

  it('is free again when its holder has gone, with connections still in TIME_WAIT', async () => {
    const port = await findFreePorts(1)
    const server = createServer(socket => socket.end('bye'))
    await new Promise<void>(done => server.listen(port, '127.0.0.1', done))
    const client = connect(port, '127.0.0.1').resume()
    await new Promise(done => client.once('close', done))
    expect(await isPortFree(port)).toBe(false)
    await new Promise(done => server.close(done))
    expect(await isPortFree(port)).toBe(true)
  })

  it('of UDP is another port', async () => {
    const port = await findFreePorts(1)
    const socket = createSocket('udp4')
    onTestFinished(() => void socket.close())
    await new Promise<void>(done => socket.bind(port, '0.0.0.0', done))
    expect(await isPortFree(port)).toBe(true)
  })

  it('that can be bound and answers all the same is taken, as under WSL', async () => {
    const port = await findFreePorts(1)
    await hold({ port, host: '127.0.0.1' })
    // Binding is made to look free, as the other side of WSL's network does; the connection is real.
    const { listen } = Server.prototype
    onTestFinished(() => {
      Server.prototype.listen = listen
    })
    Server.prototype.listen = function (this: Server, ...args: unknown[]) {
      const [options, whenDone] = args as [ListenOptions, () => void]
      return listen.call(this, { ...options, port: 0 } as never, whenDone as never)
    } as typeof listen
    expect(await isPortFree(port)).toBe(false)
    expect(await isPortFree(await findFreePorts(1))).toBe(true)
  })

  it('is looked at while many others are, and none disturbs the other', async () => {
    const first = await findFreePorts(20)
    await hold({ port: first + 7, host: '127.0.0.1' })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => isPortFree(first + at)))
    expect(answers.flatMap((isFree, at) => (isFree ? [] : [at]))).toEqual([7])
  })
})

describe('the ports of outgoing connections', () => {
  it.runIf(process.platform === 'linux')("are the kernel's", () => {
    const [first, last] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').match(/\d+/g) ?? []
    expect(readEphemeralRange()).toEqual({ first: Number(first), last: Number(last) })
  })
})
