// A host whose IPv6 is switched off: an address family that is absent is free, and no reason to skip a port.

import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { makeSandbox, PROGRAM } from '../support/sandbox.ts'

/** A network of its own, with nothing in it but 127.0.0.1; what follows runs there. */
const ALONE = [
  'unshare',
  '--net',
  'sh',
  '-euc',
  'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; ip link set lo up; exec "$@"',
  'sh',
]

function findObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces need Linux'
  const [command = '', ...args] = ALONE
  return spawnSync(command, [...args, 'true']).status === 0 ? undefined : 'unshare or ip is refused here'
}

const obstacle = findObstacle()

describe.skipIf(obstacle !== undefined)(
  `without IPv6${obstacle === undefined ? '' : ` (not here: ${obstacle})`}`,
  () => {
    const inside = (cwd: string, env: Record<string, string>, ...args: string[]) => {
      const [command = '', ...words] = ALONE
      return execFileSync(command, [...words, process.execPath, ...args], { cwd, env, encoding: 'utf8' })
    }

    it('the only port of a range is free', () => {
      const box = makeSandbox()
      const tree = box.worktree('login')
      expect(inside(tree, box.env, PROGRAM, 'get', 'port', 'web', '21000-21000')).toBe('21000\n')
    })

    it('a port that is listened on is passed over, and verify finds the app on its own', () => {
      const box = makeSandbox()
      box.scripts({
        'provision.sh': '#!/bin/sh\nset -eu\npenv env "PORT=$(penv get port web 21000-21001)"\n',
      })
      const tree = box.worktree('login')
      const story = `
        const { spawnSync } = require('node:child_process')
        const penv = (...args) => spawnSync(process.execPath, [process.argv[1], ...args], { encoding: 'utf8' })
        require('node:net').createServer().listen(21000, '127.0.0.1', function () {
          const up = penv('up')
          const ports = penv('get', 'port', 'web').stdout
          this.close(() =>
            require('node:net').createServer().listen(Number(ports), '127.0.0.1', function () {
              const verify = penv('verify')
              console.log(JSON.stringify({ up: up.status, ports, verify: verify.status }))
              this.close()
            }),
          )
        })`
      expect(JSON.parse(inside(tree, box.env, '-e', story, PROGRAM))).toEqual({
        up: 0,
        ports: '21001\n',
        verify: 0,
      })
    })
  },
)
