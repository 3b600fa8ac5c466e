import { describe, expect, it } from 'vitest'
import { readComposePort } from '../../src/core/stack/compose-ports.ts'
import { interpolate } from '../../src/core/stack/interpolate.ts'

const known = new Map([
  ['SET', '7000'],
  ['EMPTY', ''],
])

describe('a published port', () => {
  it.each<[unknown, object]>([
    ['${P:-6379}:6379', { host: 6379, container: 6379, protocol: 'tcp', variable: 'P' }],
    ['127.0.0.1::22', { host: 'auto', container: 22, hostIp: '127.0.0.1', variable: undefined }],
    ['3000-3005', { host: 'auto', container: { from: 3000, to: 3005 } }],
    [
      '9090-9091:8080-8081/udp',
      { host: { from: 9090, to: 9091 }, container: { from: 8080, to: 8081 }, protocol: 'udp' },
    ],
    ['[::1]:5:5', { host: 5, container: 5, hostIp: '::1' }],
    [8080, { host: 'auto', container: 8080 }],
    ['8080', { host: 'auto', container: 8080 }],
    [
      { target: 80, published: '80-81' },
      { host: { from: 80, to: 81 }, container: 80, protocol: 'tcp' },
    ],
    [
      { target: 80, published: 8080, protocol: 'udp', host_ip: '0.0.0.0' },
      { host: 8080, protocol: 'udp', hostIp: '0.0.0.0' },
    ],
    [{ target: 53 }, { host: 'auto', container: 53 }],
    [
      { target: '${T:-80}', published: '${W:-8081}' },
      { host: 8081, container: 80, variable: 'W' },
    ],
    ['5432:5432', { host: 5432, container: 5432, variable: undefined }],
    ['0.0.0.0:5432:5432/tcp', { host: 5432, hostIp: '0.0.0.0' }],
    ['${SET}:80', { host: 7000, variable: 'SET' }],
    ['${UNSET}:80', { host: 'auto', container: 80, variable: 'UNSET' }],
    ['$SET:80', { host: 7000, variable: 'SET' }],
    ['${EMPTY:-9}:80', { host: 9, variable: 'EMPTY' }],
    ['${EMPTY-9}:80', { host: 'auto', variable: 'EMPTY' }],
    ['${UNSET:?set it}:80', { host: 'auto', variable: 'UNSET' }],
    ['${UNSET:-${SET:-1}}:80', { host: 7000, variable: 'UNSET' }],
    ['${BIND:-127.0.0.1}:8025:8025', { host: 8025, hostIp: '127.0.0.1', variable: undefined }],
    ['${BIND:-127.0.0.1:}8025:8025', { host: 8025, hostIp: '127.0.0.1' }],
    ['${WHOLE:-8025:8025}', { host: 8025, container: 8025, variable: 'WHOLE' }],
    ['0:80', { host: 'auto', container: 80 }],
  ])('is read in the form %j', (value, expected) => {
    expect(readComposePort(value, known, 1)).toMatchObject(expected)
  })

  it.each([
    null,
    undefined,
    true,
    [],
    {},
    '',
    'web',
    'a:b:c:d:e',
    '99999:99999',
    { published: {} },
    '$',
    '${',
    '${}',
  ])('is none, and no error, in the form %j', value => {
    expect(readComposePort(value, known, 1)).toBeUndefined()
  })
})

describe('a variable in a compose file', () => {
  it.each([
    ['postgres:${V:-16}', 'postgres:16'],
    ['postgres:${V-16}', 'postgres:16'],
    ['${EMPTY:-a}${EMPTY-b}', 'a'],
    ['${SET:+yes}${NO:+no}', 'yes'],
    ['${EMPTY+yes}${EMPTY:+no}', 'yes'],
    ['${A:-${B:-${C:-deep}}}', 'deep'],
    ['$$HOME $${X} ${SET}', '$HOME ${X} 7000'],
    ['${NO:?is needed}', ''],
    ['${unclosed', '${unclosed'],
    ['${1bad} $1 $', '$1 $'.padStart(5)],
  ])('is resolved as Compose does: %s', (raw, text) => {
    expect(interpolate(raw, known).text.trim()).toBe(text.trim())
  })

  it('ends, however deep it is nested', () => {
    const deep = `${'${A:-'.repeat(500)}x${'}'.repeat(500)}`
    expect(() => interpolate(deep, known)).not.toThrow()
  })
})
