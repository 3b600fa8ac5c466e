import { describe, expect, it } from 'vitest'
import { type Ecosystem, makePackageManagerLookup } from '../../src/core/stack/package-manager.ts'
import { factsOf, manifest } from '../support/facts-of.ts'

const rows: [
  title: string,
  files: Record<string, string>,
  ecosystem: Ecosystem,
  folder: string,
  name: string,
  exec: string,
  lock: string | undefined,
][] = [
  [
    'npm by its lock file',
    { 'package.json': '{}', 'package-lock.json': '{}' },
    'node',
    '',
    'npm',
    'npx ',
    'package-lock.json',
  ],
  ['npm by nothing', { 'package.json': '{}' }, 'node', '', 'npm', 'npx ', undefined],
  [
    'pnpm',
    { 'package.json': '{}', 'pnpm-lock.yaml': '' },
    'node',
    '',
    'pnpm',
    'pnpm exec ',
    'pnpm-lock.yaml',
  ],
  ['yarn', { 'package.json': '{}', 'yarn.lock': '' }, 'node', '', 'yarn', 'yarn ', 'yarn.lock'],
  ['bun', { 'package.json': '{}', 'bun.lockb': '' }, 'node', '', 'bun', 'bunx ', 'bun.lockb'],
  [
    'what packageManager says over a stale lock file',
    { 'package.json': '{"packageManager":"pnpm@9.1.0"}', 'package-lock.json': '{}' },
    'node',
    '',
    'pnpm',
    'pnpm exec ',
    undefined,
  ],
  [
    'what only-allow says',
    { 'package.json': manifest({ preinstall: 'npx only-allow yarn' }) },
    'node',
    '',
    'yarn',
    'yarn ',
    undefined,
  ],
  [
    'the lock file above a member',
    { 'package.json': '{}', 'pnpm-lock.yaml': '', 'apps/api/package.json': '{}' },
    'node',
    'apps/api',
    'pnpm',
    'pnpm exec ',
    'pnpm-lock.yaml',
  ],
  [
    'packageManager above a member',
    { 'package.json': '{"packageManager":"yarn@4.0.0"}', 'apps/api/package.json': '{}' },
    'node',
    'apps/api',
    'yarn',
    'yarn ',
    undefined,
  ],
  [
    'a folder’s own lock file',
    { 'package.json': '{}', 'package-lock.json': '{}', 'web/package.json': '{}', 'web/yarn.lock': '' },
    'node',
    'web',
    'yarn',
    'yarn ',
    'web/yarn.lock',
  ],
  [
    'uv',
    { 'pyproject.toml': '[project]\nname="a"\n', 'uv.lock': '' },
    'python',
    '',
    'uv',
    'uv run ',
    'uv.lock',
  ],
  [
    'poetry by its section',
    { 'pyproject.toml': '[tool.poetry]\nname="a"\n' },
    'python',
    '',
    'poetry',
    'poetry run ',
    undefined,
  ],
  ['pipenv', { Pipfile: '' }, 'python', '', 'pipenv', 'pipenv run ', undefined],
  ['pip', { 'requirements.txt': 'flask\n' }, 'python', '', 'pip', '', 'requirements.txt'],
  ['bundler', { Gemfile: '' }, 'ruby', '', 'bundler', 'bundle exec ', undefined],
  ['maven with its wrapper', { 'pom.xml': '<project/>', mvnw: '' }, 'jvm', '', 'maven', './mvnw ', undefined],
]

describe('findPackageManager', () => {
  it.each(rows)('finds %s', async (_title, files, ecosystem, folder, name, exec, lockFile) => {
    expect(makePackageManagerLookup(await factsOf(files))(ecosystem, folder)).toMatchObject({
      name,
      exec,
      lockFile,
    })
  })

  it('answers nothing for an ecosystem that is not there', async () => {
    expect(makePackageManagerLookup(await factsOf({ 'package.json': '{}' }))('python', '')).toBeUndefined()
  })
})
