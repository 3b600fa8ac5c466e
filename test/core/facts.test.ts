import { describe, expect, it } from 'vitest'
import { readEnvLines } from '../../src/core/stack/env-lines.ts'
import {
  findLine,
  isSecretKey,
  lineAt,
  maskSecrets,
  resolveFrom,
  valueAt,
} from '../../src/core/stack/facts.ts'
import { parseLooseJson } from '../../src/core/stack/loose-json.ts'
import { isEnvExample, isEnvPath, readingOf } from '../../src/core/stack/relevant.ts'
import { scopeOf } from '../../src/core/stack/scope.ts'
import { findStoreUrls, storeByKey } from '../../src/core/stack/store-names.ts'

describe('masking', () => {
  it.each([
    ['postgres://app:hunter2@db:5432/x', 'postgres://app:***@db:5432/x'],
    ['url = "redis://:hunter2@cache"', 'url = "redis://:***@cache"'],
    ['  POSTGRES_PASSWORD: hunter2', '  POSTGRES_PASSWORD: ***'],
    ['- MYSQL_PWD=hunter2', '- MYSQL_PWD=***'],
    ['"Main": "Host=db;Password=hunter2"', '"Main": "Host=db;Password=***'],
    ['redis-server --requirepass hunter2', 'redis-server --requirepass ***'],
    ['mysql --password hunter2 -u root', 'mysql --password *** -u root'],
    ['api_key = hunter2', 'api_key = ***'],
    ['image: postgres:16', 'image: postgres:16'],
    ['port: 5432', 'port: 5432'],
  ])('hides what is secret in %s', (text, masked) => {
    expect(maskSecrets(text)).toBe(masked)
  })

  it.each(['DB_PASSWORD', 'JWT_SECRET', 'API_TOKEN', 'STRIPE_KEY', 'DB_PASS', 'SECRET_KEY_BASE'])(
    'knows a secret key: %s',
    key => {
      expect(isSecretKey(key)).toBe(true)
    },
  )

  it.each(['DATABASE_URL', 'PORT', 'REDIS_HOST', 'MONKEY', 'KEYCLOAK_URL', 'COMPASS'])(
    'takes no other for one: %s',
    key => {
      expect(isSecretKey(key)).toBe(false)
    },
  )
})

describe('the lines of an env file', () => {
  const keys = (text: string) =>
    readEnvLines(text, true).map(
      entry => `${entry.line}${entry.commented ? '#' : ''}${entry.key}=${entry.value ?? ''}`,
    )
  it.each([
    ['A=1\n\n# note\nB=2', ['1A=1', '4B=2']],
    ['export A="x y" # c\n  B = z # c', ['1A=x y', '2B=z']],
    ['# A=1\n#B=2\n# see A=1 for more\n## C=3', ['1#A=1', '2#B=2', '4#C=3']],
    ['K="one\nPORT=9\ntwo"\nB=2', ['1K=one', '4B=2']],
    ['K="never closed\nB=2', ['1K=never closed', '2B=2']],
    ["A='it''s'\nA.B-c=1", ['1A=it', '2A.B-c=1']],
    ['A=\nB=""\nC', ['1A=', '2B=']],
    ['U=postgres://u:p@h/d?x=1#f', ['1U=postgres://u:***@h/d?x=1#f']],
  ])('are read with their lines: %j', (text, expected) => {
    expect(keys(text)).toEqual(expected)
  })
})

describe('paths', () => {
  it.each([
    '.env',
    '.env.local',
    '.env.example',
    'env.example',
    'example.env',
    'dev.env',
    '.envs/.local/.postgres',
    '.dev.vars',
    'api/.env.sample',
    '.env-dist',
    'env.sample',
  ])('are env files: %s', path => {
    expect(isEnvPath(path)).toBe(true)
  })

  it.each([
    'env.ts',
    '.env.d.ts',
    '.env.preview',
    'src/env.py',
    'environment.yml',
    '.env.json',
    'env/main.go',
    '.envrc',
  ])('are none: %s', path => {
    expect(isEnvPath(path)).toBe(false)
  })

  it.each(['.env.example', 'env.sample', '.env.dist', 'example.env', '.env.local.template', '.env.defaults'])(
    'are made to be shared: %s',
    path => {
      expect(isEnvExample(path)).toBe(true)
    },
  )

  it.each(['.env', '.env.local', '.env.development', 'dev.env'])("are a person's own: %s", path => {
    expect(isEnvExample(path)).toBe(false)
  })

  it.each([
    ['docker-compose.dev.yml', 'development'],
    ['.devcontainer/docker-compose.yml', 'development'],
    ['docker-compose.yml', 'neutral'],
    ['deploy/docker-compose.yml', 'neutral'],
    ['deploy/docker-compose.dev.yml', 'development'],
    ['docker/production/compose.yml', 'production'],
    ['compose.prod.yaml', 'production'],
    ['docker-compose-non-dev.yml', 'neutral'],
    ['compose.ci.yml', 'test'],
    ['src/test/resources/application.yml', 'test'],
    ['src/Api.Tests/appsettings.json', 'test'],
    ['examples/dev/compose.yml', 'aside'],
    ['docs/compose.yml', 'aside'],
    ['src/latest/settings.py', 'neutral'],
    ['contest/settings.py', 'neutral'],
  ])('say whose file it is: %s is %s', (path, scope) => {
    expect(scopeOf(path)).toBe(scope)
  })

  it.each([
    'logo.png',
    'dist.tar.gz',
    'package-lock.json',
    'yarn.lock',
    'a.min.js',
    'src/a.test.ts',
    'LICENSE',
  ])('are not opened: %s', path => {
    expect(readingOf(path)).toBeUndefined()
  })

  it.each([
    ['docker/compose.yml', '../x.yml', 'x.yml'],
    ['compose.yml', './a/../b.yml', 'b.yml'],
    ['compose.yml', '../b.yml', undefined],
    ['a/b.yml', '/etc/passwd', undefined],
    ['a/b.yml', '..', '.'],
  ])('are resolved inside the repository: %s and %s', (from, target, expected) => {
    expect(resolveFrom(from, target)).toBe(expected)
  })
})

describe('what names a server', () => {
  it.each([
    ['postgresql+asyncpg://u@h/d', ['postgres']],
    ['jdbc:mysql://h/d', ['mysql']],
    ['r2dbc:postgresql://h/d', ['postgres']],
    ['mongodb+srv://h', ['mongodb']],
    ['rediss://h:6379/1', ['redis']],
    ['amqp://', ['rabbitmq']],
    ['ecto://u@h/d', []],
    ['sqlite:///app.db', ['sqlite']],
    ['sqlite:data/app.db', ['sqlite']],
    ['sqlite://:memory:', []],
    ['https://redis.io/docs', []],
    ['xpostgres://h', []],
    ['redis and postgres', []],
    ['a=mysql://x b=redis://y', ['mysql', 'redis']],
  ])('is a URL: %s', (text, kinds) => {
    expect(
      findStoreUrls(text)
        .map(url => url.kind)
        .sort(),
    ).toEqual([...kinds].sort())
  })

  it.each([
    ['REDIS_HOST', 'redis'],
    ['APP__MongoUri', 'mongodb'],
    ['PGHOST', 'postgres'],
    ['spring.rabbitmq.host', 'rabbitmq'],
    ['KAFKA_BROKERS', 'kafka'],
    ['MEMCACHED_SERVERS', 'memcached'],
    ['REDIS_TTL', undefined],
    ['DATABASE_URL', undefined],
    ['EXPRESS_PORT', undefined],
    ['PREDISPOSED_HOST', undefined],
  ])('is a key: %s', (key, kind) => {
    expect(storeByKey(key)?.kind).toBe(kind)
  })
})

describe('small look-ups', () => {
  it('find lines, first and last', () => {
    const file = { path: 'x', text: 'a\nb\nc', truncated: false }
    expect(['a', 'b', 'c', 'z'].map(needle => findLine(file, needle))).toEqual([1, 2, 3, undefined])
    expect([0, 1, 2, 4].map(offset => lineAt(file.text, offset))).toEqual([1, 1, 2, 3])
    expect(findLine(file, /^c$/gm)).toBe(3)
    expect(findLine(file, /^c$/gm)).toBe(3)
  })

  it('read only what a value has itself', () => {
    expect(valueAt({ a: { b: [1, 2] } }, 'a', 'b', 1)).toBe(2)
    expect(valueAt({ a: 1 }, 'constructor')).toBeUndefined()
    expect(valueAt('text', 'length')).toBeUndefined()
    expect(valueAt(null, 'a')).toBeUndefined()
  })

  it.each([
    ['{"a": 1} // c', { a: 1 }],
    ['/* c */ {"a": "x // no", "b": [1, 2,], }', { a: 'x // no', b: [1, 2] }],
    ['{"u": "http://x/*y*/"}', { u: 'http://x/*y*/' }],
    ['{"a": "q\\"//", // c\n}', { a: 'q"//' }],
    ['', undefined],
  ])('parse JSON as people keep it: %s', (text, value) => {
    expect(parseLooseJson(text)).toEqual(value)
  })
})
