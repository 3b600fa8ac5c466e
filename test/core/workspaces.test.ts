import { describe, expect, it } from 'vitest'
import { findWorkspaces, globToRegExp } from '../../src/core/stack/workspaces.ts'
import { factsOf } from '../support/facts-of.ts'

const named = (name: string) => JSON.stringify({ name })

const rows: [title: string, files: Record<string, string>, tools: string[], members: string[]][] = [
  [
    'npm',
    {
      'package.json': '{"workspaces":["packages/*"]}',
      'packages/a/package.json': named('a'),
      'other/package.json': '{}',
    },
    ['workspaces'],
    ['packages/a a'],
  ],
  [
    'yarn’s long form',
    { 'package.json': '{"workspaces":{"packages":["apps/**"]}}', 'apps/x/y/package.json': named('@s/y') },
    ['workspaces'],
    ['apps/x/y @s/y'],
  ],
  [
    'pnpm with an exception, and turbo',
    {
      'pnpm-workspace.yaml': "packages:\n  - 'apps/*'\n  - '!apps/old'\n",
      'turbo.json': '{}',
      'package.json': '{}',
      'apps/web/package.json': named('web'),
      'apps/old/package.json': '{}',
    },
    ['pnpm', 'turbo'],
    ['apps/web web'],
  ],
  [
    'lerna',
    { 'lerna.json': '{"packages":["modules/*"]}', 'modules/m/package.json': '{}' },
    ['lerna'],
    ['modules/m m'],
  ],
  ['nx', { 'nx.json': '{}', 'apps/api/project.json': named('api') }, ['nx'], ['apps/api api']],
  [
    'rush',
    {
      'rush.json': '{\n// why\n"projects":[{"packageName":"a","projectFolder":"libs/a"}]}',
      'libs/a/package.json': named('a'),
    },
    ['rush'],
    ['libs/a a'],
  ],
  [
    'Go',
    {
      'go.work': 'go 1.22\n\nuse (\n\t./svc/a\n\t./svc/b\n)\n',
      'svc/a/go.mod': '',
      'svc/b/go.mod': '',
      'c/go.mod': '',
    },
    ['go.work'],
    ['svc/a a', 'svc/b b'],
  ],
  [
    'Cargo',
    {
      'Cargo.toml': '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/x"]\n',
      'crates/a/Cargo.toml': '[package]\nname = "core-a"\n',
      'crates/x/Cargo.toml': '',
    },
    ['cargo'],
    ['crates/a core-a'],
  ],
  [
    'Maven',
    { 'pom.xml': '<modules><module>api</module></modules>', 'api/pom.xml': '' },
    ['maven'],
    ['api api'],
  ],
  [
    'Gradle',
    {
      'settings.gradle': "include ':app', ':libs:core'\n",
      'app/build.gradle': '',
      'libs/core/build.gradle': '',
    },
    ['gradle'],
    ['app app', 'libs/core core'],
  ],
  [
    'Gradle in Kotlin',
    {
      'settings.gradle.kts': 'include(\n  ":app",\n  ":web"\n)\n',
      'app/build.gradle.kts': '',
      'web/build.gradle.kts': '',
    },
    ['gradle'],
    ['app app', 'web web'],
  ],
  [
    'uv',
    {
      'pyproject.toml': '[tool.uv.workspace]\nmembers = ["pkgs/*"]\n',
      'pkgs/a/pyproject.toml': '[project]\nname = "a"\n',
    },
    ['uv'],
    ['pkgs/a a'],
  ],
  ['a Mix umbrella', { 'mix.exs': 'apps_path: "apps"\n', 'apps/web/mix.exs': '' }, ['mix'], ['apps/web web']],
  ['a .NET solution', { 'Shop.sln': '', 'src/Api/Api.csproj': '<Project/>' }, ['sln'], ['src/Api Api']],
]

describe('findWorkspaces', () => {
  it.each(rows)('finds the members of %s', async (_title, files, tools, members) => {
    const found = findWorkspaces(await factsOf(files))
    expect(found.tools).toEqual(tools)
    expect(found.members.map(one => `${one.folder} ${one.name}`)).toEqual(members)
  })

  it('finds none in a repository of one project', async () => {
    expect(findWorkspaces(await factsOf({ 'package.json': '{}' }))).toEqual({ tools: [], members: [] })
  })
})

describe('globToRegExp', () => {
  it.each([
    ['packages/*', 'packages/a', true],
    ['packages/*', 'packages/a/b', false],
    ['packages/**', 'packages/a/b', true],
    ['./apps/{web,api}/', 'apps/api', true],
    ['a+b', 'a+b', true],
    ['a.b', 'axb', false],
    ['[', '[', true],
  ])('%s against %s is %s', (glob, path, expected) => {
    expect(globToRegExp(glob).test(path)).toBe(expected)
  })
})
