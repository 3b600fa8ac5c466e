import { describe, expect, it } from 'vitest'
import type { RepoFacts } from '../../src/core/stack/facts.ts'
import { describeStack } from '../../src/core/stack.ts'
import { factsOf } from '../support/facts-of.ts'

const codes = (facts: RepoFacts) =>
  describeStack(facts).blockers.map(blocker => `${blocker.code} ${blocker.file}:${blocker.line ?? ''}`)
const service = (lines: string) => `services:\n  db:\n    image: postgres:16\n${lines}`

describe('a blocker of a compose file', () => {
  it.each<[string, string, string[]]>([
    ['a literal host port', '    ports: ["5432:5432"]\n', ['LITERAL_HOST_PORT compose.yml:4']],
    [
      'each of several host ports',
      '    ports:\n      - 1:1\n      - "127.0.0.1:2:2"\n',
      ['LITERAL_HOST_PORT compose.yml:5', 'LITERAL_HOST_PORT compose.yml:6'],
    ],
    [
      'a published number',
      '    ports:\n      - target: 5432\n        published: 5432\n',
      ['LITERAL_HOST_PORT compose.yml:5'],
    ],
    ['no port of a variable', '    ports: ["${P:-5432}:5432", "5432", "127.0.0.1::5432"]\n', []],
    ['a container name', '    container_name: db\n', ['CONTAINER_NAME compose.yml:4']],
    ['no container name of a variable', '    container_name: ${COMPOSE_PROJECT_NAME}-db\n', []],
    [
      'a fixed volume name',
      '    volumes: [d:/v]\nvolumes:\n  d:\n    name: data\n',
      ['FIXED_VOLUME_NAME compose.yml:7'],
    ],
    ['an external volume', 'volumes:\n  d:\n    external: true\n', ['FIXED_VOLUME_NAME compose.yml:5']],
    ['no volume of the project', '    volumes: [d:/v]\nvolumes:\n  d:\n  e: {}\n', []],
    [
      'an external network',
      'networks:\n  default:\n    name: proxy\n    external: true\n',
      ['FIXED_NETWORK_NAME compose.yml:6'],
    ],
    ['a project name', 'name: shop\n', ['FIXED_PROJECT_NAME compose.yml:4']],
    [
      'a host at the proxy',
      '    labels:\n      traefik.http.routers.x.rule: Host(`x.localhost`)\n',
      ['PROXY_HOST compose.yml:5'],
    ],
    ['no host of a variable', '    labels: ["traefik.http.routers.x.rule=Host(`${H:-x.localhost}`)"]\n', []],
    [
      'data in the home directory',
      '    volumes: ["${HOME}/pg:/var/lib/postgresql/data"]\n',
      ['DATA_IN_HOME compose.yml:4'],
    ],
    ['no data in the repository', '    volumes: ["./pg:/var/lib/postgresql/data"]\n', []],
  ])('is %s', async (_, lines, expected) => {
    expect(codes(await factsOf({ 'compose.yml': service(lines) }))).toEqual(expected)
  })

  it.each<[string, string, string[]]>([
    ['one port', '["5432:5432"]', ['${DB_PORT:-5432}:5432']],
    ['the address', '["127.0.0.1:5432:5432"]', ['127.0.0.1:${DB_PORT:-5432}:5432']],
    ['an address of IPv6', '["[::1]:5432:5432"]', ['[::1]:${DB_PORT:-5432}:5432']],
    ['the protocol', '["53:53/udp"]', ['${DB_PORT:-53}:53/udp']],
    ['a range', '["3000-3005:3000-3005"]', ['${DB_PORT:-3000-3005}:3000-3005']],
    ['several ports', '["80:80", "8090:8080"]', ['${DB_PORT_80:-80}:80', '${DB_PORT_8080:-8090}:8080']],
    [
      'both protocols of a port',
      '["53:53", "53:53/udp"]',
      ['${DB_PORT_53:-53}:53', '${DB_PORT_53_UDP:-53}:53/udp'],
    ],
    ['the one that has no variable', '["${P:-80}:80", "81:81"]', ['${DB_PORT:-81}:81']],
  ])('keeps %s in the remedy for a literal host port', async (_, ports, expected) => {
    const facts = await factsOf({ 'compose.yml': service(`    ports: ${ports}\n`) })
    expect(describeStack(facts).blockers.map(({ remedy }) => remedy)).toEqual(
      expected.map(text => `write "${text}"`),
    )
  })

  it('does not advise to rename a network that another project made', async () => {
    const facts = await factsOf({ 'compose.yml': service('networks:\n  web:\n    external: true\n') })
    expect(describeStack(facts).blockers.map(({ message, remedy }) => [message, remedy])).toEqual([
      [expect.stringContaining('web exists outside the project'), expect.stringContaining('only a proxy')],
    ])
  })

  it('is not sought in files that a default run does not start', async () => {
    expect(
      codes(
        await factsOf({
          'compose.yml': service(''),
          'compose.prod.yml': service('    container_name: db\n    ports: ["5432:5432"]\n'),
          'examples/compose.yml': service('    ports: ["5432:5432"]\n'),
        }),
      ),
    ).toEqual([])
  })

  it('is no port of a service behind a profile', async () => {
    expect(
      codes(await factsOf({ 'compose.yml': service('    profiles: [x]\n    ports: ["5432:5432"]\n') })),
    ).toEqual([])
  })
})

describe('a blocker that costs data', () => {
  it.each<[string, string, string[]]>([
    ['FLUSHALL', 'redis-cli FLUSHALL\n', ['FLUSHALL .preview/teardown.sh:1']],
    ['flushall in a client', 'node -e "client.flushAll()"\n', ['FLUSHALL .preview/teardown.sh:1']],
    ['no FLUSHALL in a comment', '# never FLUSHALL\nredis-cli -n 3 FLUSHDB\n', []],
    [
      'a drop without a name',
      'mongosh --eval "db.dropDatabase()"\n',
      ['DROP_DATABASE_UNNAMED .preview/teardown.sh:1'],
    ],
    ['no drop with a name', 'mongosh --eval "db.getSiblingDB(\'x\').dropDatabase()"\n', []],
    [
      'a hidden failure of dropdb',
      'dropdb "$n" 2>/dev/null || true\n',
      ['DROP_ERROR_HIDDEN .preview/teardown.sh:1'],
    ],
    [
      'a hidden failure of SQL',
      "psql -c 'DROP DATABASE x' || :\n",
      ['DROP_ERROR_HIDDEN .preview/teardown.sh:1'],
    ],
    [
      'a hidden failure of a flush',
      'redis-cli -n "$i" FLUSHDB || true;\n',
      ['DROP_ERROR_HIDDEN .preview/teardown.sh:1'],
    ],
    ['no other hidden failure', 'rm -f x || true\ndropdb "$n" || exit 1\n', []],
  ])('is %s', async (_, text, expected) => {
    expect(codes(await factsOf({ '.preview/teardown.sh': text }))).toEqual(expected)
  })

  it.each<[string, Record<string, string>, string[]]>([
    [
      'a script that sets up',
      { 'package.json': '{\n"scripts": {\n"setup": "prisma migrate reset --force"\n}\n}' },
      ['SETUP_DROPS_FIRST package.json:3'],
    ],
    [
      'no script that says it resets',
      { 'package.json': '{\n"scripts": {\n"db:reset": "prisma migrate reset"\n}\n}' },
      [],
    ],
    [
      'a Makefile target',
      { Makefile: 'setup:\n\tdropdb --if-exists x\n\tcreatedb x\nclean:\n\tdropdb x\n' },
      ['SETUP_DROPS_FIRST Makefile:2'],
    ],
    [
      'bin/setup',
      { 'bin/setup': '#!/usr/bin/env ruby\nsystem! "bin/rails db:drop db:create"\n' },
      ['SETUP_DROPS_FIRST bin/setup:2'],
    ],
    [
      'a schema that is dropped at the start',
      { 'src/db.js': 'x\nsequelize.sync({ force: true })\n' },
      ['SETUP_DROPS_FIRST src/db.js:2'],
    ],
    [
      'Hibernate',
      { 'src/main/resources/application.properties': 'spring.jpa.hibernate.ddl-auto=create-drop\n' },
      ['SETUP_DROPS_FIRST src/main/resources/application.properties:1'],
    ],
    [
      'no update',
      { 'src/main/resources/application.properties': 'spring.jpa.hibernate.ddl-auto=update\n' },
      [],
    ],
    ['no drop in tests', { 'test/db.js': 'sequelize.sync({ force: true })\n' }, []],
  ])('is %s that drops first', async (_, files, expected) => {
    expect(codes(await factsOf(files))).toEqual(expected)
  })
})

describe('.worktreeinclude', () => {
  it.each<[string, string[]]>([
    ['.env*', ['WORKTREE_INCLUDE .worktreeinclude:1']],
    ['.env.*', ['WORKTREE_INCLUDE .worktreeinclude:1']],
    ['/.env.preview', ['WORKTREE_INCLUDE .worktreeinclude:1']],
    ['**/.env*', ['WORKTREE_INCLUDE .worktreeinclude:1']],
    ['*', ['WORKTREE_INCLUDE .worktreeinclude:1']],
    ['.env.[a-z]*', ['WORKTREE_INCLUDE .worktreeinclude:1']],
    ['.env', []],
    ['.env.local', []],
    ['*.env', []],
    ['config/.env*', []],
    ['# .env*', []],
    ['.env*/', []],
    ['.env*\n!.env.preview', []],
    ['!.env.preview\n.env*', ['WORKTREE_INCLUDE .worktreeinclude:2']],
    ['[', []],
  ])('blocks where it copies .env.preview: %j', async (text, expected) => {
    expect(codes(await factsOf({ '.worktreeinclude': `${text}\n` }))).toEqual(expected)
  })
})
