import { describe, expect, it } from 'vitest'
import { composeScriptEnv, parseShebang, type ScriptVariables } from '../../src/core/script-env.ts'

const own: ScriptVariables = {
  id: 'login_k3v9xa',
  root: '/trees/login',
  scriptsDir: '/trees/login/.preview',
  branch: '',
  bin: '/state/envs/login_k3v9xa/bin/penv',
  seed: false,
  noMigrate: false,
  main: '',
  gone: false,
  data: '/state/envs/login_k3v9xa/data',
  adapters: '/penv/contract/adapters',
  template: '',
  isTemplateFresh: false,
  run: 'token',
  path: ['/state/envs/login_k3v9xa/bin', '/trees/login/node_modules/.bin'],
}

describe('the environment of a script', () => {
  it('has every variable of the contract, empty where there is nothing to say', () => {
    expect(composeScriptEnv({}, {}, own)).toEqual({
      PATH: '/state/envs/login_k3v9xa/bin:/trees/login/node_modules/.bin:/usr/local/bin:/usr/bin:/bin',
      PENV_ID: 'login_k3v9xa',
      PENV_ROOT: '/trees/login',
      PENV_DIR: '/trees/login/.preview',
      PENV_BRANCH: '',
      PENV_BIN: '/state/envs/login_k3v9xa/bin/penv',
      PENV_SEED: '',
      PENV_NO_MIGRATE: '',
      PENV_MAIN: '',
      PENV_GONE: '',
      PENV_DATA: '/state/envs/login_k3v9xa/data',
      PENV_ADAPTERS: '/penv/contract/adapters',
      PENV_TEMPLATE: '',
      PENV_TEMPLATE_FRESH: '',
      PENV_RUN: 'token',
      PENV_CONTRACT: '1',
    })
  })

  it('says 1 for what is so', () => {
    const told = { ...own, seed: true, noMigrate: true, gone: true, isTemplateFresh: true }
    expect(composeScriptEnv({}, {}, told)).toMatchObject({
      PENV_SEED: '1',
      PENV_NO_MIGRATE: '1',
      PENV_GONE: '1',
      PENV_TEMPLATE_FRESH: '1',
    })
  })

  it("keeps the caller's variables, and the caller's PATH behind penv's", () => {
    const env = composeScriptEnv({ HOME: '/home/u', EMPTY: '', PATH: '/a:/b', UNSET: undefined }, {}, own)
    expect(env).toMatchObject({ HOME: '/home/u', EMPTY: '' })
    expect(env.PATH?.endsWith('/.bin:/a:/b')).toBe(true)
    expect('UNSET' in env).toBe(false)
  })

  it('never puts the current directory on PATH', () => {
    for (const caller of [{}, { PATH: '' }])
      expect(composeScriptEnv(caller, {}, own).PATH?.split(':')).not.toContain('')
  })

  it('drops foreign PENV_ variables, but not the settings that a nested penv must share', () => {
    const caller = {
      PENV_ID: 'other_1',
      PENV_RUN: 'other',
      PENV_SEED: '1',
      PENV_LATER: 'x',
      PENV_HOME: '/state',
      PENV_NAMESPACE: 'ci1',
    }
    const env = composeScriptEnv(caller, {}, own)
    expect(env).toMatchObject({
      PENV_ID: own.id,
      PENV_RUN: own.run,
      PENV_SEED: '',
      PENV_HOME: '/state',
      PENV_NAMESPACE: 'ci1',
    })
    expect('PENV_LATER' in env).toBe(false)
  })

  it("drops what was sourced from another environment's file, and nothing that only has its name", () => {
    const caller = { PORT: '41000', REDIS_URL: 'redis://mine', PATH: '/a', HOME: '/home/u' }
    const foreign = { PORT: '41000', REDIS_URL: 'redis://other', PATH: '/a' }
    const env = composeScriptEnv(caller, foreign, own)
    expect('PORT' in env).toBe(false)
    expect(env).toMatchObject({ REDIS_URL: 'redis://mine', HOME: '/home/u' })
    expect(env.PATH?.endsWith(':/a')).toBe(true)
  })
})

describe('the first line of a script', () => {
  it.each<[string, string, string[]]>([
    ['', '/bin/sh', []],
    ['set -eu\n', '/bin/sh', []],
    ['# comment\n#!/bin/bash\n', '/bin/sh', []],
    ['#!/bin/sh\n', '/bin/sh', []],
    ['#!/bin/sh', '/bin/sh', []],
    ['#! /bin/sh \n', '/bin/sh', []],
    ['#!/usr/bin/env bash\nset -e\n', '/usr/bin/env', ['bash']],
    ['#!/usr/bin/env -S node --no-warnings\n', '/usr/bin/env', ['-S node --no-warnings']],
    ['#!/bin/bash -eu\n', '/bin/bash', ['-eu']],
    ['#!/opt/my\tx y\n', '/opt/my', ['x y']],
    ['#!\n', '/bin/sh', []],
  ])('%j asks for %s %j', (text, command, args) => {
    expect(parseShebang(text)).toEqual({ command, args })
  })
})
