import { describe, expect, it } from 'vitest'
import {
  findListenAddress,
  isListenAddressKey,
  readListenAddress,
} from '../../src/core/stack/listen-addresses.ts'

describe('a key says where a program listens', () => {
  it.each([
    'ADDR',
    'LISTEN',
    'LISTEN_ADDR',
    'LISTEN_ADDRESS',
    'HTTP_ADDR',
    'ServerAddr',
    'GRPC_LISTEN',
    'BIND',
    'APP_BIND_ADDRESS',
    'SHOP_LISTEN_ADDR',
  ])('%s', key => {
    expect(isListenAddressKey(key)).toBe(true)
  })

  it.each([
    'REDIS_ADDR',
    'USERS_SERVICE_ADDR',
    'EMAIL_ADDRESS',
    'HOST',
    'PORT',
    'LDAP_BIND_DN',
    'REMOTE_ADDR',
    'ADDRESS_BOOK',
  ])('but not %s', key => {
    expect(isListenAddressKey(key)).toBe(false)
  })
})

describe('an address', () => {
  it.each([
    [':8080', { before: ':', port: 8080 }],
    ['127.0.0.1:9000', { before: '127.0.0.1:', port: 9000 }],
    ['[::1]:9000', { before: '[::1]:', port: 9000 }],
    ['users:8080', undefined],
    ['8080', undefined],
    ['http://localhost:8080', undefined],
  ])('of %s is %o', (value, expected) => {
    expect(readListenAddress(value)).toEqual(expected)
  })

  it('is found as the default of a read', () => {
    expect(findListenAddress(', "0.0.0.0:3000")')).toEqual({ before: '0.0.0.0:', port: 3000 })
  })
})
