// Ports that nobody uses, chosen at run time: a fixed number may be taken on the machine that runs the tests.

import { createServer, type ListenOptions, type Server } from 'node:net'
import { onTestFinished } from 'vitest'

// Below the ports of outgoing connections, beside penv's own pool, and without a port that browsers refuse.
const FIRST = 10_200
const LAST = 19_900
const ADDRESSES = ['127.0.0.1', '::1', '0.0.0.0', '::']

/** The first of `size` consecutive free ports. */
export async function findFreePorts(size: number): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const first = FIRST + Math.floor(Math.random() * (LAST - FIRST - size))
    if (await areFree(first, size)) return first
  }
  throw new Error(`no ${size} consecutive free ports between ${FIRST} and ${LAST}`)
}

async function areFree(first: number, size: number): Promise<boolean> {
  for (let port = first; port < first + size; port++)
    for (const host of ADDRESSES) {
      const server = await tryToHold({ port, host })
      if (server === undefined) return false
      if (server !== 'absent') await new Promise(done => server.close(done))
    }
  return true
}

function tryToHold(options: ListenOptions): Promise<Server | 'absent' | undefined> {
  return new Promise(done => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) =>
      done(error.code === 'EADDRINUSE' || error.code === 'EACCES' ? undefined : 'absent'),
    )
    server.listen(options, () => done(server))
  })
}

/** Listens until the test ends. */
export async function hold(options: ListenOptions): Promise<Server> {
  const server = await tryToHold(options)
  if (server === undefined || server === 'absent')
    throw new Error(`cannot listen on ${options.host} port ${options.port}`)
  onTestFinished(() => void server.close())
  return server
}

/** Whether this machine has an IPv6 loopback. */
export async function hasIpv6(): Promise<boolean> {
  const server = await tryToHold({ port: 0, host: '::1' })
  if (server === undefined || server === 'absent') return false
  await new Promise(done => server.close(done))
  return true
}
