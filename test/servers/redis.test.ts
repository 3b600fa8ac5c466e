// redis against real servers: the common promises, indexes that the server does not have, and clusters.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import { describeServer } from '../support/servers.ts'
import { describeAdapter, type RunningServer } from './conformance.ts'
import { command, missingRedis, startCluster, startRedis } from './redis-server.ts'

const indexes: Record<string, string> = {
  login_k3v9xa: '3',
  fix_p2m8qd: '4',
  shells_b5n2rt: '5',
  alias_h6w3zd: '6',
  quiet_c4y8mf: '15',
  gone_x7t4wc: '9',
}

async function valueIn(server: RunningServer, index: string): Promise<string | undefined> {
  const value = await command(server, index, 'GET', 'kept')
  return value === '' ? undefined : value
}

describeAdapter({
  service: 'redis',
  aliases: ['valkey'],
  missing: missingRedis,
  clients: ['redis-cli', 'valkey-cli'],
  start: startRedis,
  sliceOf: id => indexes[id] as string,
  wrongTargets: [
    '0',
    '00',
    '03',
    '-1',
    '3 4',
    '1.5',
    '16',
    '99999999999999999999',
    'x',
    'all',
    'preview_login_k3v9xa',
    '8',
  ],
  prepareMain: async server => void (await command(server, '8', 'SET', 'sessions', 'of main')),
  write: async (server, index, value) => void (await command(server, index, 'SET', 'kept', value)),
  read: valueIn,
  writeMain: async (server, value) => void (await command(server, '0', 'SET', 'kept', value)),
  readMain: async server => {
    expect(await command(server, '8', 'GET', 'sessions')).toBe('of main')
    return valueIn(server, '0')
  },
  lookalikes: async server => void (await command(server, '10', 'SET', 'penv:owner', 'somebody')),
})

describeServer('redis indexes', missingRedis, () => {
  const id = 'login_k3v9xa'
  let data: string
  let server: RunningServer
  const run = (script: string, env: Record<string, string> = {}, of = id) =>
    runVerbs({ service: 'redis', script, id: of, data, env: { ...server.env, ...env } })
  const succeed = async (script: string, env: Record<string, string> = {}) => {
    const result = await run(script, env)
    expect(result, result.stdout + result.stderr).toMatchObject({ code: 0 })
    return result
  }

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'penv-redis-'))
    server = await startRedis()
    await command(server, '0', 'SET', 'kept', 'of main')
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(data, { recursive: true, force: true })
  })

  it.each(['16', '17', '1000', '', '0'])('leaves database 0 alone when asked for index "%s"', async index => {
    for (const verb of ['redis_create', 'redis_verify', 'redis_drop']) {
      const { code, stderr } = await run(`${verb} "${index}"`)
      expect(code).not.toBe(0)
      expect(stderr).toContain(index)
    }
    expect(await command(server, '0', 'DBSIZE')).toBe('1')
    expect(await command(server, '0', 'GET', 'kept')).toBe('of main')
  })

  it('empties its own index and no other', async () => {
    await command(server, '5', 'SET', 'kept', 'of another')
    await succeed('redis_create 3')
    await command(server, '3', 'SET', 'kept', 'ours')
    await succeed('redis_drop 3')
    expect(await command(server, '3', 'DBSIZE')).toBe('0')
    expect(await command(server, '5', 'GET', 'kept')).toBe('of another')
    expect(await command(server, '0', 'GET', 'kept')).toBe('of main')
  })

  it('neither takes nor empties an index that holds keys of nobody it knows', async () => {
    for (const verb of ['redis_create', 'redis_verify', 'redis_drop']) {
      const { code, stderr } = await run(`${verb} 5`)
      expect(code).not.toBe(0)
      expect(stderr).toContain(server.address)
    }
    expect((await run('redis_create 5')).stderr).toContain('--renew')
    expect(await command(server, '5', 'GET', 'kept')).toBe('of another')
  })

  it('names the environment that owns an index', async () => {
    await succeed('redis_create 6')
    for (const verb of ['redis_create', 'redis_verify', 'redis_drop']) {
      const { code, stderr } = await run(`${verb} 6`, {}, 'fix_p2m8qd')
      expect(code).not.toBe(0)
      expect(stderr).toContain(id)
    }
    await succeed('redis_drop 6')
  })

  it('knows its index again after the application has flushed it', async () => {
    await succeed('redis_create 7')
    await command(server, '7', 'FLUSHDB')
    await command(server, '7', 'SET', 'kept', 'new')
    await succeed('redis_verify 7; redis_create 7')
    await command(server, '7', 'FLUSHDB')
    await command(server, '7', 'SET', 'kept', 'newer')
    await succeed('redis_drop 7')
    expect(await command(server, '7', 'DBSIZE')).toBe('0')
    await command(server, '7', 'SET', 'kept', 'of somebody else')
    expect((await run('redis_drop 7')).code).not.toBe(0)
    await command(server, '7', 'FLUSHDB')
  })

  it('drops an index that was allocated and never created', async () => {
    await succeed('redis_drop 12')
  })

  it('takes host, port, user and password from REDIS_URL, whatever database it names', async () => {
    const env = { REDIS_HOST: '127.0.0.1', REDIS_PORT: '1', REDISCLI_AUTH: '' }
    const base = new URL(`redis://${server.address}/0`)
    base.password = encodeURIComponent(server.password)
    base.username = 'default'
    const url = { ...env, REDIS_URL: `${base.href}?timeout=5` }
    expect((await succeed('redis_create 3; redis_list; redis_url 3', url)).stdout).toBe(
      `3\nredis://default:${encodeURIComponent(server.password).replaceAll("'", '%27')}@${server.address}/3\n`,
    )
    expect((await succeed('redis_verify 3; redis_drop 3; redis_list', url)).stdout).toBe('')
    const { code, stderr } = await run('redis_create 3', { ...env, REDIS_URL: server.address })
    expect(code).not.toBe(0)
    expect(stderr).toContain('REDIS_URL')
  })

  it('takes an empty password for none', async () => {
    const open = await startRedis('')
    try {
      await succeed('export REDISCLI_AUTH; redis_create 3; redis_verify 3; redis_drop 3', open.env)
    } finally {
      await open.stop()
    }
  })

  it('refuses to act for nobody', async () => {
    for (const verb of ['create', 'verify', 'drop'])
      expect((await run(`unset PENV_ID; redis_${verb} 3`)).stderr).toContain('PENV_ID')
  })
})

describeServer('redis cluster', missingRedis, () => {
  const id = 'login_k3v9xa'
  const prefix = `preview_${id}`
  let data: string
  let server: Awaited<ReturnType<typeof startCluster>>
  const run = (script: string, of = id) =>
    runVerbs({ service: 'redis', script, id: of, data, env: server.env })
  const succeed = async (script: string, of = id) => {
    const result = await run(script, of)
    expect(result, result.stdout + result.stderr).toMatchObject({ code: 0 })
    return result
  }
  const keys = async (pattern: string) => {
    const found = []
    for (let number = 0; number < 60; number++) {
      const key = pattern.replace('#', String(number))
      if ((await command(server, '0', 'EXISTS', key)) === '1') found.push(key)
    }
    return found.length
  }

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'penv-cluster-'))
    server = await startCluster()
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(data, { recursive: true, force: true })
  })

  it('refuses an index, with the reason of the server', async () => {
    for (const verb of ['create', 'verify', 'drop']) {
      const { code, stderr } = await run(`redis_${verb} 3`)
      expect(code).not.toBe(0)
      expect(stderr).toMatch(/cluster/)
    }
  })

  it('gives a key prefix instead, and drops it from every node', async () => {
    await succeed(`redis_create ${prefix}; redis_create ${prefix}`)
    await succeed('redis_create preview_fix_p2m8qd', 'fix_p2m8qd')
    for (let number = 0; number < 20; number++) {
      await command(server, '0', 'SET', `${prefix}:${number}`, 'ours')
      await command(server, '0', 'SET', `{${prefix}}:${number}`, 'ours')
      await command(server, '0', 'SET', `shop:${number}`, 'of main')
      await command(server, '0', 'SET', `${prefix}_test:${number}`, 'of another')
    }
    expect((await succeed('redis_list | sort')).stdout).toBe('preview_fix_p2m8qd\npreview_login_k3v9xa\n')
    await succeed(`redis_verify ${prefix}`)
    await succeed(`redis_drop ${prefix}; redis_drop ${prefix}`)
    expect(
      await Promise.all([`${prefix}:#`, `{${prefix}}:#`, 'shop:#', `${prefix}_test:#`].map(keys)),
    ).toEqual([0, 0, 20, 20])
    expect((await succeed('redis_list')).stdout).toBe('preview_fix_p2m8qd\n')
    expect((await run(`redis_verify ${prefix}`)).code).not.toBe(0)
  })

  it('refuses the prefix of another environment', async () => {
    for (const name of ['preview_fix_p2m8qd', 'shop', '*'])
      expect((await run(`redis_drop '${name}'`)).code).not.toBe(0)
    expect((await succeed('redis_list')).stdout).toBe('preview_fix_p2m8qd\n')
  })

  it('gives a URL without a database', async () => {
    expect((await succeed(`redis_url ${prefix}`)).stdout).toBe(`redis://:cluster%20pass@${server.address}\n`)
  })
})
