// What adapters share beyond common.sh, without any server: URLs, requests, prefixes, and the encoding of S3's keys.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import { describeServer, findProgram, missingPrograms } from '../support/servers.ts'

const data = mkdtempSync(join(tmpdir(), 'penv-parts-'))
afterAll(() => rmSync(data, { recursive: true, force: true }))

const run = (service: string, script: string, env: Record<string, string> = {}) =>
  runVerbs({ service, script, id: 'login_k3v9xa', data, env })

async function answer(service: string, script: string, env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await run(service, script, env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

describe('a URL with a login', () => {
  it.each([
    ['http://host:9200', 'http://host:9200', '', ''],
    ['http://host:9200/', 'http://host:9200', '', ''],
    ['https://u:p@host/path/', 'https://host/path', 'u', 'p'],
    ['amqp://u:a%40b%2Fc%3A%25d@[::1]:5672/%2F', 'amqp://[::1]:5672/%2F', 'u', 'a@b/c:%d'],
    ['http://token@host', 'http://host', 'token', ''],
    ['http://host/a@b', 'http://host/a@b', '', ''],
    ['http://u:p:q@host', 'http://host', 'u', 'p:q'],
  ])('%s is taken apart', async (url, base, user, password) => {
    const script =
      'penv_url_base "$URL"; printf "%s|%s" "$(penv_url_user "$URL")" "$(penv_url_password "$URL")"'
    expect(await answer('http', script, { URL: url })).toBe(`${base}\n${user}|${password}`)
  })
})

describeServer('requests of adapters', missingPrograms({ curl: findProgram('curl') }), () => {
  async function withEcho<T>(
    status: number,
    body: (url: string, seen: { headers: IncomingHttpHeaders; body: string }) => Promise<T>,
  ): Promise<T> {
    const seen = { headers: {} as IncomingHttpHeaders, body: '' }
    const server = createServer(async (request, response) => {
      seen.headers = request.headers
      seen.body = ''
      for await (const chunk of request) seen.body += chunk
      response.writeHead(status).end(status === 200 ? 'fine' : `{"reason":\n"${'because '.repeat(80)}"}`)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    try {
      return await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen)
    } finally {
      await new Promise(resolve => server.close(resolve))
    }
  }

  it.each(['plain', 'a"b\\c', '$(id) `id` %41 #;', "it's été", '@file', ' '])(
    'carry the login and the body %s as they are',
    async text => {
      await withEcho(200, async (url, seen) => {
        const script = 'penv_login "$TEXT" "$TEXT" | penv_http "try it" PUT "$URL/x" "$TEXT"'
        expect(await answer('http', script, { URL: url, TEXT: text })).toBe('fine\n')
        const login = Buffer.from(`${seen.headers.authorization}`.replace('Basic ', ''), 'base64').toString()
        expect(login).toBe(`${text}:${text}`)
        expect(seen.body).toBe(text)
      })
    },
  )

  it.each([
    [404, 4, /^$/],
    [401, 1, /^penv: cannot try it on 127\.0\.0\.1:\d+: the server refuses the login \(HTTP 401\)/],
    [403, 1, /^penv: cannot try it on .*: access denied \(HTTP 403\)/],
    [500, 1, /^penv: cannot try it on .*: HTTP 500: \{"reason": "because .{280,300} …\n$/],
  ])('end with HTTP %i as status %i', async (status, code, message) => {
    await withEcho(status, async url => {
      const result = await run('http', 'penv_http "try it" GET "$URL" </dev/null', { URL: url })
      expect(result).toMatchObject({ code, stdout: '' })
      expect(result.stderr).toMatch(message)
    })
  })

  it('end with status 7 where nothing listens', async () => {
    const url = await withEcho(200, async closed => closed)
    const result = await run('http', 'penv_http "try it" GET "$URL" </dev/null', { URL: url })
    expect(result.code).toBe(7)
    expect(result.stderr).toContain(new URL(url).host)
  })
})

describe('a prefix', () => {
  it('owns its name and what follows - or ., and no other id that begins like it', async () => {
    const names = [
      'p_login_k3v9xa',
      'p_login_k3v9xa-a',
      'p_login_k3v9xa.a',
      'p_login_k3v9xa2',
      'p_login_k3v9xa_b_q1w2e3',
    ]
    const others = ['p_login', 'xp_login_k3v9xa-a', 'p_login_k3v9xA-a', '']
    const lines = [...names, ...others].join('\n')
    const own = await answer('prefix', 'printf "%s\\n" "$LINES" | penv_prefix_own p_login_k3v9xa', {
      LINES: lines,
    })
    expect(own.trim().split('\n')).toEqual(names.slice(0, 3))
  })

  it('is listed where its marker has the form of one', async () => {
    const lines =
      'p_login_k3v9xa-penv\nshop-penv\np_login_k3v9xa\np_login_ilouil-penv\nx-p_login_k3v9xa-penv\n2_a_k3v9xa-penv'
    expect(await answer('prefix', 'printf "%s\\n" "$LINES" | penv_prefix_slices', { LINES: lines })).toBe(
      'p_login_k3v9xa\n',
    )
  })
})

describe('slices without templates', () => {
  const names: Record<string, string> = { s3: 'preview-login-k3v9xa' }
  it.each(['rabbitmq', 'kafka', 's3', 'nats', 'elasticsearch', 'qdrant'])(
    '%s says that it has none',
    async service => {
      const slice = names[service] ?? 'preview_login_k3v9xa'
      const { code, stdout, stderr } = await run(service, `${service}_create ${slice} penv_tpl_shop`)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^penv: cannot create .*penv_tpl_shop.*templates\n$/)
    },
  )

  it.each(['rabbitmq', 'kafka', 's3', 'nats', 'elasticsearch', 'qdrant'])(
    '%s makes nothing for another environment',
    async service => {
      const slice = service === 's3' ? 'preview-fix-p2m8qd' : 'preview_fix_p2m8qd'
      const { code, stderr } = await run(service, `${service}_create ${slice}`)
      expect(code).toBe(1)
      expect(stderr).toMatch(/^penv: .*does not carry the id login_k3v9xa\n$/)
    },
  )
})

describe('a listing of S3', () => {
  const paths = (xml: string) => answer('s3', 'printf "%s" "$XML" | _s3_paths', { XML: xml })

  it.each([
    ['a b', 'a%20b'],
    ['x/y', 'x/y'],
    ['&amp;amp;', '%26amp%3B'],
    ['&lt;&gt;&quot;&apos;&#39;&#34;', '%3C%3E%22%27%27%22'],
    ['été 🦉', '%C3%A9t%C3%A9%20%F0%9F%A6%89'],
    ['a&#10;b&#xD;&#x9;', 'a%0Ab%0D%09'],
    ['%2F?#+', '%252F%3F%23%2B'],
  ])('gives the key %s as %s', async (key, path) => {
    expect(await paths(`<R><Contents><Key>${key}</Key><Size>1</Size></Contents></R>`)).toBe(`${path}\n`)
  })

  it('gives each version and deletion mark with its id, and no owner or bucket as a key', async () => {
    const xml =
      '<R><Name>b</Name><Version><Key>k</Key><VersionId>a=b</VersionId><Owner><ID>o</ID></Owner></Version>' +
      '<DeleteMarker><VersionId>null</VersionId><Key>k</Key></DeleteMarker><CommonPrefixes><Prefix>p</Prefix></CommonPrefixes></R>'
    expect(await paths(xml)).toBe('k?versionId=a%3Db\nk?versionId=null\n')
  })

  it('of nothing is nothing', async () => {
    expect(await paths('<R><Name>b</Name></R>')).toBe('')
  })
})
