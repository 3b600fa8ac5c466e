import { describe, expect, it } from 'vitest'
import { makeSandbox } from '../support/sandbox.ts'
import { expectShape } from '../support/schema.ts'

const PROVISION =
  '#!/bin/sh\nset -eu\nport=$(penv get port web)\nindex=$(penv get index redis 1-15)\npenv env "PORT=$port" "INDEX=$index"\nprintf \'{"not":"json of penv"}\\n\'\n'
const SCRIPTS = {
  'provision.sh': PROVISION,
  'down.sh': '#!/bin/sh\n',
  'teardown.sh': '#!/bin/sh\n',
  'bootstrap.sh': '#!/bin/sh\n',
}

describe('the JSON of each command', () => {
  it('has the shape of its schema in a worktree', async () => {
    const box = makeSandbox()
    box.scripts(SCRIPTS)
    const tree = box.worktree('login')
    const calls: [schema: string, args: string[]][] = [
      ['status', ['status']],
      ['session', ['session']],
      ['id', ['id']],
      ['is-worktree', ['is-worktree']],
      ['get-port', ['get', 'port', 'web']],
      ['get-port', ['get', 'port', 'web', 'api']],
      ['get-index', ['get', 'index', 'redis', '1-15']],
      ['get-index', ['get', 'index', 'redis', 'queue', '1-15']],
      ['get-name', ['get', 'name', 'preview']],
      ['get-name', ['get', 'name', 'preview', 'my.app']],
      ['env', ['env', 'A=1']],
      ['env', ['env']],
      ['bootstrap', ['bootstrap']],
      ['up', ['up']],
      ['verify', ['verify']],
      ['down', ['down']],
      ['status', ['status']],
      ['session', ['session']],
      ['list', ['list']],
      ['doctor', ['doctor']],
      ['bootstrap', ['bootstrap', '--drop']],
      ['destroy', ['destroy']],
      ['skipped', ['destroy']],
    ]
    for (const [schema, args] of calls) {
      const result = await box.run([...args, '--json'], { cwd: tree })
      expect(result.exit, `${args.join(' ')}: ${result.stderr}`).toBe(0)
      expect(result.stdout.endsWith('}\n')).toBe(true)
      expectShape(schema, result.json())
      expectShape('ledger', { version: 1, templates: {}, approved: {}, ...box.ledger() })
    }
  })

  it('is one document of the error schema on every failure', async () => {
    const box = makeSandbox()
    box.scripts({ ...SCRIPTS, 'provision.sh': '#!/bin/sh\necho out\nexit 7\n' })
    const tree = box.worktree('login')
    const calls: [code: string, exit: number, args: string[], cwd?: string][] = [
      ['USAGE', 2, ['nonsense']],
      ['USAGE', 2, ['get', 'port']],
      ['USAGE', 2, ['get', 'port', 'web', '41010-41000']],
      ['USAGE', 2, ['up', '--nonsense']],
      ['USAGE', 2, ['list', 'surplus']],
      ['USAGE', 2, ['env', 'NOEQ']],
      ['USAGE', 2, ['destroy', '--id']],
      ['NO_ENVIRONMENT', 5, ['destroy', '../victim/rec']],
      ['NOT_A_WORKTREE', 3, ['get', 'port', 'web'], box.main],
      ['PROVISION_FAILED', 8, ['up']],
      ['ENV_VALUE', 9, ['env', 'A=it\'s "$x"']],
    ]
    for (const [code, exit, args, cwd] of calls) {
      const result = await box.run([...args, '--json'], { cwd: cwd ?? tree })
      expect({
        args,
        exit: result.exit,
        code: (result.json() as { error: { code: string } }).error.code,
      }).toEqual({ args, exit, code })
      expectShape('error', result.json())
    }
    const failed = (await box.run(['up', '--json'], { cwd: tree })).json() as { error: { details: unknown } }
    expect(failed.error.details).toMatchObject({ exitCode: 7, script: 'provision.sh' })
  })

  it('is the skipped shape on the main checkout', async () => {
    const box = makeSandbox()
    for (const command of ['up', 'verify', 'down', 'destroy', 'status', 'session', 'bootstrap']) {
      const result = await box.run([command, '--json'])
      expect(result.exit).toBe(0)
      expectShape('skipped', result.json())
    }
  })
})
