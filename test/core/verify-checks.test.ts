import { describe, expect, it } from 'vitest'
import {
  type Check,
  checkAgainstLedger,
  checkEnvFile,
  checkPorts,
  checkSharedResources,
} from '../../src/core/verify-checks.ts'
import { makeLedger, makeRecord } from '../support/records.ts'

const verdicts = (checks: readonly Check[]) => checks.map(({ name, verdict }) => `${name} ${verdict}`)

describe('the check of the file', () => {
  it.each<[string, string | undefined, string | undefined, boolean, string[]]>([
    ['fails where there is none', undefined, undefined, false, ['env-file fail']],
    ['fails without a stamp', 'A=1\n', undefined, false, ['env-file fail']],
    ["fails on another environment's copy", 'A=1\n', 'other_1', false, ['env-file fail']],
    ['is ok with our stamp', 'A=1\n', 'a_1', false, ['env-file ok']],
    ['warns of one that git tracks', 'A=1\n', 'a_1', true, ['env-file ok', 'env-file-tracked warn']],
  ])('%s', (_, text, stamp, isTracked, expected) => {
    expect(verdicts(checkEnvFile('a_1', text, stamp, isTracked))).toEqual(expected)
  })

  it('names whose copy it is', () => {
    expect(checkEnvFile('a_1', '', 'other_1', false)[0]?.message).toContain('other_1')
  })
})

describe('the values against the ledger', () => {
  const record = makeRecord('login_k3v9xa', { ports: { web: 41000 } })
  const stranger = makeRecord('cart_abcdef', { ports: { web: 41001 } })
  const ledger = makeLedger([record, stranger], { released: [{ port: 41002, id: 'gone_1' }] })
  const check = (variables: Record<string, string>) =>
    verdicts(checkAgainstLedger(ledger, record, new Map(Object.entries(variables))))
  const OK = ['ledger ok']
  const FAIL = ['ledger fail']
  const UNUSED = ['ledger ok', 'ledger warn']

  it.each<[string, Record<string, string>, string[]]>([
    ['agree', { PORT: '41000' }, OK],
    ['agree in a URL', { URL: 'http://localhost:41000/x' }, OK],
    ['warn of a port that is in no variable', { A: '1' }, UNUSED],
    ['warn where the port only occurs within a longer number', { A: '141000' }, UNUSED],
    ["fail on another environment's port", { PORT: '41000', API_PORT: '41001' }, FAIL],
    ["fail on another environment's port in a URL", { PORT: '41000', URL: 'redis://localhost:41001' }, FAIL],
    [
      "fail on another environment's port behind an IPv6 host",
      { PORT: '41000', U: 'http://[::1]:41001' },
      FAIL,
    ],
    ['fail on a port that was given back', { PORT: '41000', API_PORT: '41002' }, FAIL],
    ['pass over numbers that are no ports', { PORT: '41000', TIMEOUT: '41001' }, OK],
    ["fail on another environment's name", { PORT: '41000', DB: 'preview_cart_abcdef' }, FAIL],
    ["fail on another environment's name with a tail", { PORT: '41000', DB: 'x_cart_abcdef_test' }, FAIL],
    ["fail on another environment's name in kebab", { PORT: '41000', H: 'web-cart-abcdef.localhost' }, FAIL],
    ['pass over a longer id that begins alike', { PORT: '41000', DB: 'preview_cart_abcdefg' }, OK],
    ["pass over penv's own keys", { PORT: '41000', PENV_X: 'cart_abcdef' }, OK],
  ])('%s', (_, variables, expected) => {
    expect(check(variables)).toEqual(expected)
  })

  it('never tell a value', () => {
    const variables = new Map([['DB', 'postgres://u:s3cret@h/preview_cart_abcdef']])
    expect(JSON.stringify(checkAgainstLedger(ledger, record, variables))).not.toContain('s3cret')
  })
})

describe('the comparison with the main checkout', () => {
  it('is unchecked in a bare layout', () => {
    expect(verdicts(checkSharedResources([], [], false))).toEqual(['main-checkout unchecked'])
  })

  it('is ok where main has no file, and where nothing is shared', () => {
    expect(verdicts(checkSharedResources([], [], true))).toEqual(['main-checkout ok'])
    expect(verdicts(checkSharedResources([], ['.env'], true))).toEqual(['main-checkout ok'])
  })

  it('fails for each key that is equal or falls back to main, naming key and file', () => {
    const checks = checkSharedResources(
      [
        { key: 'PORT', how: 'equal', file: '.env' },
        { key: 'DB_URL', how: 'unset', file: '.env.local' },
      ],
      ['.env', '.env.local'],
      true,
    )
    expect(verdicts(checks)).toEqual(['main-checkout fail', 'main-checkout fail'])
    expect(checks.map(({ message }) => message)).toEqual([
      expect.stringMatching(/PORT.*\.env/),
      expect.stringMatching(/DB_URL.*\.env\.local.*\.preview\/shared/),
    ])
  })
})

describe('the holder of a port', () => {
  const own = ['/trees/login', '/state/envs/a_1/data']
  const listener = (parts: object) => ({ pid: 7, command: 'node', directory: '/trees/login', ...parts })

  it.each<[string, object[], string]>([
    ['may be nobody', [], 'ok'],
    ['may lie in the worktree', [listener({})], 'ok'],
    ['may lie below the worktree', [listener({ directory: '/trees/login/web' })], 'ok'],
    ['may lie in the data', [listener({ directory: '/state/envs/a_1/data/pg' })], 'ok'],
    ['must not lie beside the worktree', [listener({ directory: '/trees/login2' })], 'fail'],
    ['must not lie above the worktree', [listener({ directory: '/trees' })], 'fail'],
    ['is unchecked when its directory cannot be read', [listener({ directory: undefined })], 'unchecked'],
    ['is unchecked when it is of another user', [listener({ pid: undefined, command: '' })], 'unchecked'],
    [
      'is unchecked as the proxy of a container',
      [listener({ command: 'docker-proxy', directory: '/' })],
      'unchecked',
    ],
    ['is unchecked as a tunnel', [listener({ command: 'rootlessport', directory: '/' })], 'unchecked'],
  ])('%s', (_, listeners, verdict) => {
    const holder = { name: 'web', port: 41000, listeners: listeners as never }
    expect(verdicts(checkPorts([holder], own))).toEqual([`port-web ${verdict}`])
  })

  it('is told with pid, command and directory when it is a stranger', () => {
    const listeners = [listener({ pid: 4711, command: 'ruby', directory: '/elsewhere' })]
    expect(checkPorts([{ name: 'web', port: 41000, listeners }], own)[0]?.message).toMatch(
      /41000.*4711.*ruby.*\/elsewhere/,
    )
  })
})
