// elasticsearch against a real OpenSearch and a real Elasticsearch: the common promises, and what a prefix has to hold.
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import { describeServer, serverDirectory } from '../support/servers.ts'
import { describeAdapter, type RunningServer } from './conformance.ts'
import { ask, missingNode, startNode, type Vendor } from './search-node.ts'

async function keep(server: RunningServer, index: string, value: string): Promise<void> {
  await ask(server, 'PUT', `${index}/_doc/1?refresh=true`, { value })
}

async function valueIn(server: RunningServer, index: string): Promise<string | undefined> {
  const found = (await ask(server, 'GET', `${index}/_doc/1`)) as { _source?: { value: string } } | undefined
  return found?._source?.value
}

for (const vendor of ['opensearch', 'elasticsearch'] as const)
  describeAdapter({
    service: 'elasticsearch',
    variant: vendor,
    aliases: ['opensearch'],
    missing: missingNode(vendor),
    clients: ['curl'],
    start: () => startNode(vendor),
    wrongTargets: ['shop', '*', '_all', 'preview', 'preview_login_k3v9xa2', 'preview_login_k3v9xa*', 'login'],
    write: (server, slice, value) => keep(server, `${slice}-items`, value),
    read: (server, slice) => valueIn(server, `${slice}-items`),
    writeMain: (server, value) => keep(server, 'items', value),
    readMain: server => valueIn(server, 'items'),
    lookalikes: async server => {
      for (const index of [
        'shop-penv',
        'app_user_a2b3c4',
        'app_user_a2b3c4-items',
        'x-preview_login_k3v9xa-penv',
      ])
        await keep(server, index, 'not of penv')
    },
    // A scroll is what a client keeps open on an index.
    hold: async (server, slice) => {
      await ask(server, 'POST', `${slice}-items/_search?scroll=5m`, { size: 1 })
      return async () => {}
    },
  })

describeServer('elasticsearch prefixes', missingNode('opensearch'), () => {
  const id = 'login_k3v9xa'
  const slice = `preview_${id}`
  const vendor: Vendor = 'opensearch'
  let server: RunningServer
  let data: string

  const run = (script: string) => runVerbs({ service: 'elasticsearch', script, id, data, env: server.env })
  const succeed = async (script: string) => {
    const result = await run(script)
    expect(result, result.stderr).toMatchObject({ code: 0 })
    return result
  }
  const indices = async () => {
    const rows = (await ask(server, 'GET', '_cat/indices?h=index&format=json&expand_wildcards=all')) as {
      index: string
    }[]
    return rows.map(row => row.index).sort()
  }

  beforeAll(async () => {
    data = serverDirectory()
    server = await startNode(vendor)
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(data, { recursive: true, force: true })
  })

  it('drops all that bears the prefix, and nothing whose name only starts alike', async () => {
    await succeed(`elasticsearch_create ${slice}`)
    const foreign = [`${slice}2-items`, `${slice}_b_z9y8x7-items`, `x-${slice}`, 'items']
    for (const index of [slice, `${slice}-a%&+é`, `${slice}.b`, ...foreign])
      await keep(server, encodeURIComponent(index), 'kept')
    await ask(server, 'POST', `${slice}.b/_close`)
    await ask(server, 'PUT', `_index_template/${slice}-logs`, {
      index_patterns: [`${slice}-logs*`],
      data_stream: {},
    })
    await ask(server, 'PUT', `_data_stream/${slice}-logs`)
    await ask(server, 'PUT', `_template/${slice}-old`, { index_patterns: [`${slice}-old*`] })
    await ask(server, 'POST', '_aliases', {
      actions: [{ add: { index: `${slice}.b`, alias: `${slice}-all` } }],
    })

    const { stderr } = await succeed(`elasticsearch_drop ${slice}`)
    expect(await indices()).toEqual(foreign.sort())
    expect(await ask(server, 'GET', '_cat/templates?h=name&format=json')).toEqual([])
    expect(stderr).toContain(`${slice}_b_z9y8x7-items`)
    expect(stderr).not.toContain(`${slice}2`)
  })

  it.each([
    ['of ours that main searches through', `${slice}-items`, 'products'],
    ['of main that we search through', 'items', `${slice}-products`],
  ])('notices an alias to an index %s', async (_title, index, alias) => {
    await succeed(`elasticsearch_create ${slice}`)
    await keep(server, `${slice}-items`, 'ours')
    await keep(server, 'items', 'of main')
    await succeed(`elasticsearch_verify ${slice}`)
    await ask(server, 'POST', '_aliases', { actions: [{ add: { index, alias } }] })
    const { code, stderr } = await run(`elasticsearch_verify ${slice}`)
    expect(code).not.toBe(0)
    expect(stderr).toContain(`${alias} -> ${index}`)
    await ask(server, 'POST', '_aliases', { actions: [{ remove: { index, alias } }] })
    await succeed(`elasticsearch_verify ${slice}`)
  })

  it('keeps no document of a verification', async () => {
    await succeed(
      `elasticsearch_create ${slice}\nelasticsearch_verify ${slice}\nelasticsearch_verify ${slice}`,
    )
    expect(await ask(server, 'GET', `${slice}-penv/_count`)).toMatchObject({ count: 0 })
  })

  it('refuses a template, since an index has none of ours', async () => {
    const { code, stderr } = await run(`elasticsearch_create ${slice} penv_tpl_shop`)
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/^penv: .*template/)
  })

  it('takes the login from the URL, and a key in place of a login', async () => {
    const login = `elastic:${encodeURIComponent(server.password)}`
    const url = `http://${login}@${server.address}`
    const env = { ELASTICSEARCH_PASSWORD: '', ELASTICSEARCH_URL: url }
    const options = { service: 'elasticsearch', id, data, env }
    expect(await runVerbs({ ...options, script: `elasticsearch_create ${slice}` })).toMatchObject({ code: 0 })
    expect(await runVerbs({ ...options, script: `elasticsearch_url ${slice}` })).toMatchObject({
      stdout: `${url}\n`,
    })
    const keyed = { ELASTICSEARCH_URL: `http://${server.address}`, ELASTICSEARCH_API_KEY: 's3cret' }
    const refused = await runVerbs({ ...options, env: { ...env, ...keyed }, script: 'elasticsearch_list' })
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('HTTP 401')
    expect(refused.stderr).not.toContain('s3cret')
  })
})
