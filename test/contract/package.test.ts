import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeSandbox } from '../support/sandbox.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

it('packs all that an installed penv needs, and the bundle runs without node_modules', async () => {
  const box = makeSandbox()
  const target = join(box.root, "it's here")
  mkdirSync(target)
  // The scripts would build dist again under the tests that are running.
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', target], {
    cwd: ROOT,
    stdio: 'pipe',
  })
  execFileSync('tar', ['-xzf', join(target, `git-penv-${manifest.version}.tgz`), '-C', target])
  const installed = join(target, 'package')
  for (const path of [
    'dist/penv.cjs',
    'contract/CONTRACT.md',
    'contract/schema/ledger.schema.json',
    'contract/adapters/postgres.sh',
    'samples/preview/files/provision.sh',
    'install/install.sh',
    'skills/preview-isolation/SKILL.md',
    'README.md',
    'LICENSE',
  ])
    expect(existsSync(join(installed, path)), path).toBe(true)
  expect(existsSync(join(installed, 'src'))).toBe(false)
  const program = join(installed, manifest.bin.penv)
  expect(statSync(program).mode & 0o111).not.toBe(0)
  expect(manifest.bin['git-penv']).toBe(manifest.bin.penv)

  box.scripts({
    'provision.sh':
      '#!/bin/sh\nset -eu\n. "$PENV_ADAPTERS/common.sh"\nport=$($PENV_BIN get port web)\npenv env "PORT=$port"\n',
    'teardown.sh': '#!/bin/sh\n',
  })
  const tree = box.worktree('login')
  const call = (...args: string[]) =>
    execFileSync(program, args, {
      cwd: tree,
      env: box.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  expect(call('--version').trim()).toBe(manifest.version)
  expect(call('up')).toMatch(/is ready/)
  expect(call('verify')).toMatch(/is isolated/)
  expect(call('destroy')).toMatch(/is destroyed/)
})

it('records no download addresses in its lock file, nor in those of the end-to-end fixtures', () => {
  const fixtures = join(ROOT, 'test', 'fixtures', 'e2e')
  const locks = readdirSync(fixtures)
    .flatMap(name => ['package-lock.json', 'pnpm-lock.yaml'].map(lock => join(fixtures, name, lock)))
    .filter(path => existsSync(path))
  expect(locks.length).toBeGreaterThan(0)
  for (const path of [join(ROOT, 'package-lock.json'), ...locks])
    expect(readFileSync(path, 'utf8'), path).not.toMatch(/"resolved": "http|tarball:/)
})
