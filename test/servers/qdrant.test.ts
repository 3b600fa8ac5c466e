// qdrant: the common promises, against a STAND-IN. No registry has Qdrant's server, so this answers the few requests
// as its API reference says; it proves the adapter's own logic, not that a real Qdrant agrees.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, it } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import { describeServer, findProgram, missingPrograms, serverDirectory } from '../support/servers.ts'
import { describeAdapter, type RunningServer } from './conformance.ts'

const KEY = 'k"e\\y:é %41'
const missing = missingPrograms({ curl: findProgram('curl') })

interface Point {
  id: number
  payload?: Record<string, unknown>
}

interface StandIn extends RunningServer {
  collections: Map<string, Map<number, Point>>
  aliases: Map<string, string>
}

type Answer = [status: number, result: unknown]

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

/** The part of the reference that the adapter uses: collections, points, aliases. */
function answer({ collections, aliases }: StandIn, method: string, path: string, text: string): Answer {
  const [kind, name = '', sub, leaf] = path.slice(1).split('/').map(decodeURIComponent)
  const body = text === '' ? {} : JSON.parse(text)
  if (path === '/aliases')
    return [
      200,
      { aliases: [...aliases].map(([alias_name, collection_name]) => ({ alias_name, collection_name })) },
    ]
  if (path === '/collections/aliases' && method === 'POST') {
    for (const { delete_alias: gone } of body.actions) aliases.delete(gone.alias_name)
    return [200, true]
  }
  if (kind !== 'collections') return [404, undefined]
  if (name === '') return [200, { collections: [...collections.keys()].map(found => ({ name: found })) }]
  const collection = collections.get(name)
  if (sub === undefined && method === 'PUT') {
    if (collection !== undefined) return [409, undefined]
    collections.set(name, new Map())
    return [200, true]
  }
  if (sub === undefined && method === 'DELETE') {
    for (const [alias, target] of aliases) if (target === name) aliases.delete(alias)
    return [200, collections.delete(name)]
  }
  if (collection === undefined) return [404, undefined]
  if (sub === 'points' && method === 'PUT') for (const point of body.points) collection.set(point.id, point)
  if (leaf === 'delete') for (const id of body.points) collection.delete(id)
  if (method === 'GET') {
    const point = collection.get(Number(leaf))
    return point === undefined ? [404, undefined] : [200, point]
  }
  return [200, { operation_id: 1, status: 'completed' }]
}

async function startStandIn(): Promise<StandIn> {
  const sockets = new Set<Socket>()
  const server: Server = createServer(async (request, response) => {
    const text = await bodyOf(request)
    const key = Buffer.from(`${request.headers['api-key'] ?? ''}`, 'latin1').toString()
    if (key !== KEY) {
      response.writeHead(401).end('Must provide an API key or an Authorization bearer token')
      return
    }
    const [status, result] = answer(
      standIn,
      request.method ?? '',
      new URL(request.url ?? '', 'http://x').pathname,
      text,
    )
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ result, status: status === 200 ? 'ok' : { error: 'refused' }, time: 0.001 }),
    )
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const standIn: StandIn = {
    version: '',
    address,
    env: { QDRANT_URL: `http://${address}/`, QDRANT_API_KEY: KEY },
    password: KEY,
    wrongEnv: { QDRANT_API_KEY: 'not-the-one' },
    collections: new Map(),
    aliases: new Map(),
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>(resolve => server.close(() => resolve()))
    },
  }
  return standIn
}

function keep(server: RunningServer, collection: string, value: string): void {
  const { collections } = server as StandIn
  if (!collections.has(collection)) collections.set(collection, new Map())
  collections.get(collection)?.set(1, { id: 1, payload: { value } })
}

function valueIn(server: RunningServer, collection: string): string | undefined {
  const value = (server as StandIn).collections.get(collection)?.get(1)?.payload?.value
  return value === undefined ? undefined : String(value)
}

describeAdapter({
  service: 'qdrant',
  variant: 'a stand-in',
  missing,
  hasPasswordInUrl: false,
  clients: ['curl'],
  start: startStandIn,
  wrongTargets: ['shop', 'preview', 'preview_login_k3v9xa2', 'login', '../preview_login_k3v9xa'],
  write: async (server, slice, value) => keep(server, `${slice}-items`, value),
  read: async (server, slice) => valueIn(server, `${slice}-items`),
  writeMain: async (server, value) => keep(server, 'items', value),
  readMain: async server => valueIn(server, 'items'),
  lookalikes: async server => {
    for (const name of ['shop-penv', 'app_user_a2b3c4', 'app_user_a2b3c4-items'])
      keep(server, name, 'not of penv')
  },
})

describeServer('qdrant prefixes on a stand-in', missing, () => {
  const id = 'login_k3v9xa'
  const slice = `preview_${id}`

  it('drops all that bears the prefix, and nothing whose name only starts alike', async () => {
    const server = await startStandIn()
    const run = (script: string) =>
      runVerbs({ service: 'qdrant', script, id, data: serverDirectory(), env: server.env })
    const foreign = [`${slice}2-items`, `${slice}_b_z9y8x7-items`, `x-${slice}`, 'items']
    for (const name of [slice, `${slice}-a%&+é x`, `${slice}.b`, ...foreign]) keep(server, name, 'kept')
    server.aliases.set(`${slice}-all`, 'items').set('all', 'items')
    const { code, stderr } = await run(`qdrant_create ${slice}\nqdrant_drop ${slice}`)
    expect(code, stderr).toBe(0)
    expect([...server.collections.keys()]).toEqual(foreign)
    expect([...server.aliases.keys()]).toEqual(['all'])
    expect(stderr).toContain(`${slice}_b_z9y8x7-items`)
    await server.stop()
  })

  it('notices an alias that crosses the border', async () => {
    const server = await startStandIn()
    const run = (script: string) =>
      runVerbs({ service: 'qdrant', script, id, data: serverDirectory(), env: server.env })
    keep(server, `${slice}-items`, 'ours')
    expect(await run(`qdrant_create ${slice}\nqdrant_verify ${slice}`)).toMatchObject({ code: 0 })
    server.aliases.set('products', `${slice}-items`)
    const { code, stderr } = await run(`qdrant_verify ${slice}`)
    expect(code).not.toBe(0)
    expect(stderr).toContain(`products -> ${slice}-items`)
    expect(server.collections.get(`${slice}-penv`)?.size).toBe(0)
    await server.stop()
  })
})
