import { describe, expect, it } from 'vitest'
import { findRepoCommands } from '../../src/core/stack/repo-commands.ts'
import { factsOf, manifest } from '../support/facts-of.ts'

async function commandsOf(files: Record<string, string>) {
  return findRepoCommands(await factsOf(files))
}

describe('findRepoCommands', () => {
  it.each([
    [
      'package.json',
      { 'package.json': manifest({ 'db:migrate': 'x' }) },
      'db:migrate',
      'npm run db:migrate',
      4,
    ],
    [
      'package.json of a pnpm repository',
      { 'package.json': manifest({ a: 'x' }), 'pnpm-lock.yaml': '' },
      'a',
      'pnpm run a',
      4,
    ],
    ['deno.json', { 'deno.json': '{\n "tasks": {\n  "dev": "deno run x"}}' }, 'dev', 'deno task dev', 3],
    [
      'composer.json',
      { 'composer.json': '{"scripts": {\n"test": ["@php a", "b"]}}' },
      'test',
      'composer run-script test',
      2,
    ],
    ['Makefile', { Makefile: 'A=1\n\nrun: build\n\tgo run .\n' }, 'run', 'make run', 3],
    ['Taskfile.yml', { 'Taskfile.yml': 'version: 3\ntasks:\n  up:\n    cmds: [x]\n' }, 'up', 'task up', 3],
    [
      'justfile',
      { justfile: 'set shell := ["sh"]\n\nserve port="3":\n  go run .\n' },
      'serve',
      'just serve',
      3,
    ],
    ['mise.toml', { 'mise.toml': '[tasks.dev]\nrun = "x"\n' }, 'dev', 'mise run dev', 1],
    ['Pipfile', { Pipfile: '[scripts]\ndev = "flask run"\n' }, 'dev', 'pipenv run dev', 2],
    [
      'Poe under poetry',
      {
        'poetry.lock': '',
        'pyproject.toml': '[tool.poetry]\nname = "a"\n[tool.poe.tasks]\nserve = "flask run"\n',
      },
      'serve',
      'poetry run poe serve',
      4,
    ],
    ['mix.exs', { 'mix.exs': 'a\n  setup: ["deps.get", "ecto.setup"],\n' }, 'setup', 'mix setup', 2],
    ['Procfile', { Procfile: 'web: node server.js\n' }, 'web', 'node server.js', 1],
    ['bin', { 'bin/dev': '#!/usr/bin/env bash\nforeman start\n' }, 'dev', 'bash bin/dev', 1],
    ['bin in another language', { 'bin/dev': '#!/usr/bin/env ruby\nexec "x"\n' }, 'dev', 'bin/dev', 1],
    [
      'Nx project.json',
      {
        'nx.json': '{}',
        'apps/api/project.json':
          '{"name": "api",\n"targets": {\n"serve": {"options": {"command": "node x"}}}}',
      },
      'serve',
      'npx nx run api:serve',
      3,
    ],
  ] as [string, Record<string, string>, string, string, number][])(
    'reads %s',
    async (_title, files, name, run, line) => {
      const found = (await commandsOf(files)).find(one => one.name === name)
      expect(found).toMatchObject({ name, run, evidence: { line } })
    },
  )

  it.each([
    [
      'a script of the same manifest',
      { 'package.json': manifest({ setup: 'npm run a && npm run b', a: 'ONE', b: 'TWO' }) },
      'setup',
      ['ONE', 'TWO'],
    ],
    [
      'run-s',
      { 'package.json': manifest({ setup: 'run-s a b', a: 'ONE', b: 'TWO' }) },
      'setup',
      ['ONE', 'TWO'],
    ],
    [
      'a member through a filter',
      {
        'package.json': manifest({ m: 'pnpm --filter db run go' }),
        'packages/db/package.json': manifest({ go: 'ONE' }),
      },
      'm',
      ['ONE'],
    ],
    [
      'turbo',
      {
        'package.json': manifest({ m: 'turbo run go' }),
        'packages/db/package.json': manifest({ go: 'ONE' }),
      },
      'm',
      ['ONE'],
    ],
    [
      'make prerequisites and variables',
      { Makefile: 'X = ONE\nsetup: a\n\t$(MAKE) b\na:\n\techo $(X)\nb:\n\tTWO\n' },
      'setup',
      ['echo ONE', 'TWO'],
    ],
    ['a continued recipe line', { Makefile: 'setup:\n\ta \\\n\t  ONE\n' }, 'setup', ['a ONE']],
    ['a script file', { 'package.json': manifest({ m: 'tsx src/m.ts' }), 'src/m.ts': 'ONE()' }, 'm', ['ONE']],
    [
      'tasks of a Taskfile',
      {
        'Taskfile.yml':
          'tasks:\n  setup:\n    deps: [a]\n    cmds:\n      - task: b\n  a: echo ONE\n  b:\n    cmds:\n      - |\n        cat <<EOF\n        TWO\n        EOF\n',
      },
      'setup',
      ['ONE', 'TWO'],
    ],
  ] as [string, Record<string, string>, string, string[]][])(
    'follows %s',
    async (_title, files, name, words) => {
      const found = (await commandsOf(files)).find(one => one.name === name)
      for (const word of words) expect(found?.body).toContain(word)
    },
  )

  it('ends on commands that call each other', async () => {
    const found = await commandsOf({ 'package.json': manifest({ a: 'npm run b', b: 'npm run a' }) })
    expect(found.map(one => one.name)).toEqual(['a', 'b'])
  })

  it('keeps the command of a member out of a member that has the same name', async () => {
    const found = await commandsOf({
      'a/package.json': manifest({ m: 'npm run go', go: 'ONE' }),
      'b/package.json': manifest({ go: 'TWO' }),
    })
    expect(found.find(one => one.name === 'm')?.body).not.toContain('TWO')
  })

  it('says which variables a Makefile sets itself, and leaves defaults to the environment', async () => {
    const found = await commandsOf({ Makefile: 'A = 1\nB ?= 2\nC := $(A)\nx:\n\tgo $(B) $(C) $(D)\n' })
    expect(found[0]?.fixed).toEqual(['C', 'A'])
  })

  it('counts what an included .env may set as set by the Makefile', async () => {
    const found = await commandsOf({ Makefile: '-include .env\nexport\nx:\n\tmigrate $(DB_URL)\n' })
    expect(found[0]?.fixed).toEqual(['DB_URL'])
  })
})
