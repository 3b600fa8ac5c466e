import { describe, expect, it } from 'vitest'
import { readComposeFile } from '../../src/core/stack/compose.ts'
import { findComposeProjects } from '../../src/core/stack/compose-standing.ts'
import { factsOf } from '../support/facts-of.ts'

const read = async (files: Record<string, string>, path = 'compose.yaml') =>
  readComposeFile(await factsOf(files), path, new Map())

describe('a compose file', () => {
  it('resolves anchors, merge keys and the three forms of environment', async () => {
    const services = await read({
      'compose.yaml': `
x-common: &common
  restart: always
  environment: &env
    A: one
services:
  map:
    <<: *common
    image: a
  list:
    image: b
    environment: [B=two, "C=has=equals", D]
  nulls:
    image: c
    environment: { E: , F: 5, G: true, <<: *env }
  none:
    image: d
    environment:
`,
    })
    const env = (name: string) =>
      Object.fromEntries(services.get(name)?.environment.map(entry => [entry.key, entry.value]) ?? [])
    expect(env('map')).toEqual({ A: 'one' })
    expect(env('list')).toEqual({ B: 'two', C: 'has=equals', D: undefined })
    expect(env('nulls')).toEqual({ E: undefined, F: '5', G: 'true', A: 'one' })
    expect(env('none')).toEqual({})
  })

  it('takes an image through a chain of extends over files, with the line where it is written', async () => {
    const services = await read({
      'compose.yaml':
        'services:\n  db:\n    extends: { file: deploy/a.yml, service: mid }\n    ports: ["1:2"]\n',
      'deploy/a.yml':
        'services:\n  mid:\n    extends: { file: ../b.yml, service: base }\n    ports: ["3:4"]\n',
      'b.yml': 'services:\n  base:\n    command: x\n    image: mariadb:11\n',
    })
    const db = services.get('db')
    expect(db).toMatchObject({ image: 'mariadb:11', file: 'b.yml', imageLine: 4 })
    expect(db?.identity?.product).toBe('mariadb')
    expect(db?.ports.map(port => [port.file, port.host])).toEqual([
      ['deploy/a.yml', 3],
      ['compose.yaml', 1],
    ])
  })

  it.each([
    ['itself', 'services:\n  a:\n    image: redis\n    extends: a\n'],
    ['a circle', 'services:\n  a: { image: redis, extends: b }\n  b: { extends: a }\n'],
    [
      'a circle of files',
      'include: [compose.yaml]\nservices:\n  a: { image: redis, extends: { file: compose.yaml, service: a } }\n',
    ],
    ['nothing', 'services:\n  a: { image: redis, extends: { file: gone.yml, service: x } }\n'],
    [
      'outside',
      'include: [../../etc/x.yml, "https://example.net/x.git"]\nservices:\n  a: { image: redis, extends: { file: ../../x.yml, service: a } }\n',
    ],
  ])('ends where it extends or includes %s', async (_, text) => {
    expect((await read({ 'compose.yaml': text })).get('a')?.identity?.kind).toBe('redis')
  })

  it('lays the own service over an included one of the same name', async () => {
    const services = await read({
      'compose.yaml':
        'include:\n  - path: [infra/base.yml, infra/more.yml]\nservices:\n  db: { image: "postgres:17" }\n',
      'infra/base.yml': 'services:\n  db: { image: "postgres:12", profiles: [x] }\n',
      'infra/more.yml': 'services:\n  kv: { image: redis }\n',
    })
    expect([...services.keys()].sort()).toEqual(['db', 'kv'])
    expect(services.get('db')?.image).toBe('postgres:17')
  })

  it.each([
    'services:',
    'services: text',
    'services: [a, b]',
    'services:\n  a:',
    'services:\n  a: 5',
    'services:\n  a: { image: 5, ports: text, environment: 3, volumes: {}, profiles: 7, depends_on: x, labels: [1], build: [], env_file: {} }',
    'services:\n  __proto__: { image: redis }\n  constructor: { image: redis }',
    '- a\n- b',
    '',
    '---\n---\n',
    'services: &a\n  x: *a\n',
  ])('is no crash when it says %j', async text => {
    const facts = await factsOf({ 'compose.yaml': text })
    expect(() => findComposeProjects(facts)).not.toThrow()
  })
})

describe('the compose file of a default run', () => {
  const pg = 'services:\n  db: { image: "postgres:16" }\n'
  const runs = async (files: Record<string, string>) =>
    findComposeProjects(await factsOf(files))
      .filter(project => project.standing === 'run')
      .map(project => project.file)

  it.each<[string, string[], string[]]>([
    ['the root file', ['compose.yml'], ['compose.yml']],
    [
      'the file for development',
      ['docker-compose.prod.yml', 'docker-compose.dev.yml'],
      ['docker-compose.dev.yml'],
    ],
    ['the file for local use', ['compose.production.yaml', 'compose.local.yaml'], ['compose.local.yaml']],
    [
      'the plainest of several',
      ['docker-compose.dev.yml', 'docker-compose.dev-azure.yml'],
      ['docker-compose.dev.yml'],
    ],
    [
      'not one that says non-dev',
      ['docker-compose.yml', 'docker-compose-non-dev.yml'],
      ['docker-compose.yml'],
    ],
    ['a file of a folder', ['docker/docker-compose.yml'], ['docker/docker-compose.yml']],
    [
      'the folder for development',
      ['docker/development/compose.yml', 'docker/production/compose.yml'],
      ['docker/development/compose.yml'],
    ],
    ['an example that is to be copied', ['compose.yml.example'], ['compose.yml.example']],
    [
      'the dev container, where there is no other',
      ['.devcontainer/docker-compose.yml'],
      ['.devcontainer/docker-compose.yml'],
    ],
    [
      'not the dev container, where there is another',
      ['.devcontainer/docker-compose.yml', 'compose.yml'],
      ['compose.yml'],
    ],
    [
      'none of examples and tests',
      ['examples/a/compose.yml', 'test/compose.yml', 'docker-compose.ci.yml', 'docs/compose.yml'],
      [],
    ],
    [
      'each part of a monorepo',
      ['api/docker-compose.yml', 'search/docker-compose.yml'],
      ['api/docker-compose.yml', 'search/docker-compose.yml'],
    ],
  ])('is %s', async (_, paths, expected) => {
    expect(await runs(Object.fromEntries(paths.map(path => [path, pg])))).toEqual(expected)
  })

  it('is the one that a task file of the root names', async () => {
    expect(
      await runs({
        'compose.yml': 'services:\n  cache: { image: redis }\n',
        'infra/stores.yml': pg,
        Makefile:
          'up:\n\tdocker compose -f infra/stores.yml up -d\ndeploy:\n\tdocker compose -f infra/other.yml up\n',
        'infra/other.yml': 'services:\n  db: { image: mongo }\n',
      }),
    ).toEqual(['compose.yml', 'infra/stores.yml'])
  })
})
