// Where the state directory lies, for every way in which a home can be missing.

import { chmodSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  dataDirectory,
  environmentDirectory,
  findRealPath,
  findStateDirectory,
  isDirectory,
  isFile,
  logDirectory,
  makePrivateDirectory,
  snapshotRoot,
} from '../../src/host/paths.ts'

const ofPasswordDatabase = join(userInfo().homedir, '.local/state/penv')

describe('the state directory', () => {
  it.each<[string, Record<string, string>, string]>([
    ['PENV_HOME', { PENV_HOME: '/p', XDG_STATE_HOME: '/x', HOME: '/h' }, '/p'],
    ['PENV_HOME with a space', { PENV_HOME: '/my state', HOME: '/h' }, '/my state'],
    ['below an absolute XDG_STATE_HOME', { XDG_STATE_HOME: '/x', HOME: '/h' }, '/x/penv'],
    ['below HOME, where PENV_HOME is empty', { PENV_HOME: '', HOME: '/h' }, '/h/.local/state/penv'],
    ['below HOME, where XDG_STATE_HOME is empty', { XDG_STATE_HOME: '', HOME: '/h' }, '/h/.local/state/penv'],
    [
      'below HOME, where XDG_STATE_HOME is relative',
      { XDG_STATE_HOME: 'x', HOME: '/h' },
      '/h/.local/state/penv',
    ],
    ['below the home of the password database without HOME', {}, ofPasswordDatabase],
    ['below the home of the password database with an empty HOME', { HOME: '' }, ofPasswordDatabase],
    ['below the home of the password database with a relative HOME', { HOME: 'rel' }, ofPasswordDatabase],
    ['below the home of the password database with HOME=~', { HOME: '~' }, ofPasswordDatabase],
    ['below the home of the password database with HOME=.', { HOME: '.' }, ofPasswordDatabase],
  ])('is %s', (_, env, expected) => {
    expect(findStateDirectory(env)).toBe(expected)
  })

  it.each(['state', './x', '~/x', '../x', ' /x'])(
    'is never relative: PENV_HOME=%j is a usage error',
    chosen => {
      expect(() => findStateDirectory({ PENV_HOME: chosen, HOME: '/h' })).toThrow(
        expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(`"${chosen}"`) }),
      )
    },
  )

  it('has one directory for each environment, and fixed places in it', () => {
    expect(environmentDirectory('/s', 'a_1')).toBe('/s/envs/a_1')
    expect([snapshotRoot, dataDirectory, logDirectory].map(place => place('/s', 'a_1'))).toEqual([
      '/s/envs/a_1/root',
      '/s/envs/a_1/data',
      '/s/envs/a_1/logs',
    ])
  })
})

describe('paths on the disk', () => {
  function makeDirectory(): string {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'penv-paths-')))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    return directory
  }

  it('are made private, and left as they are where they exist', () => {
    const directory = makeDirectory()
    makePrivateDirectory(join(directory, 'a/b'))
    expect(statSync(join(directory, 'a/b')).mode & 0o777).toBe(0o700)
    chmodSync(join(directory, 'a'), 0o755)
    makePrivateDirectory(join(directory, 'a'))
    expect(statSync(join(directory, 'a')).mode & 0o777).toBe(0o755)
  })

  it('have one spelling through links, and none when they do not exist', () => {
    const directory = makeDirectory()
    symlinkSync(directory, join(directory, 'link'))
    symlinkSync('/nowhere/at/all', join(directory, 'dangling'))
    expect(findRealPath(join(directory, 'link', 'link'))).toBe(directory)
    expect([findRealPath(join(directory, 'none')), findRealPath(join(directory, 'dangling'))]).toEqual([
      undefined,
      undefined,
    ])
    expect([isDirectory(directory), isDirectory(join(directory, 'dangling')), isFile(directory)]).toEqual([
      true,
      false,
      false,
    ])
  })
})
