import { describe, expect, it } from 'vitest'
import { findEnvKeys } from '../../src/core/stack/env-keys.ts'
import { readEnvName } from '../../src/core/stack/env-names.ts'
import { factsOf, manifest } from '../support/facts-of.ts'

type Files = Record<string, string>
const postgres = 'services:\n  db:\n    image: postgres:16\n    ports: ["5432:5432"]\n'
const redis = 'services:\n  cache:\n    image: redis:7\n'
const both = `${postgres}  cache:\n    image: redis:7\n`

/** `KEY service part how@file:line …`, those of a default run only. */
async function active(files: Files): Promise<string[]> {
  return findEnvKeys(await factsOf(files))
    .filter(key => key.isActive)
    .map(
      key =>
        `${key.key} ${key.service} ${key.part} ${key.places.map(({ how, evidence }) => `${how}@${evidence.file}:${evidence.line}`).join(' ')}`,
    )
}

const rows: [title: string, files: Files, expected: string[]][] = [
  [
    'one URL, where it is written and read',
    {
      'compose.yaml': postgres,
      '.env.example': 'DATABASE_URL=postgresql://a:b@localhost:5432/app\n',
      'src/db.ts': 'new Pool({ connectionString: process.env.DATABASE_URL })\n',
    },
    ['DATABASE_URL postgres url code@src/db.ts:1 env-file@.env.example:1'],
  ],
  [
    'parts',
    {
      'compose.yaml': postgres,
      '.env.example': 'DB_HOST=localhost\nDB_PORT=5432\nDB_USER=a\nDB_PASSWORD=b\nDB_NAME=app\n',
    },
    [
      'DB_HOST postgres host env-file@.env.example:1',
      'DB_NAME postgres database env-file@.env.example:5',
      'DB_PASSWORD postgres password env-file@.env.example:4',
      'DB_PORT postgres port env-file@.env.example:2',
      'DB_USER postgres user env-file@.env.example:3',
    ],
  ],
  [
    'prefixes and mixed case',
    {
      'compose.yaml': both,
      '.env.example':
        "export STOREFRONT__DatabaseUrl='postgresql+asyncpg://shop@localhost/shop'\nCache_Url=redis://\n",
    },
    [
      'STOREFRONT__DatabaseUrl postgres url env-file@.env.example:1',
      'Cache_Url redis url env-file@.env.example:2',
    ],
  ],
  [
    'a real .env, whose values are not known',
    { 'compose.yaml': both, '.env': 'PGHOST=x\nPGDATABASE=y\nREDIS_URL=z\n' },
    [
      'PGDATABASE postgres database env-file@.env:2',
      'PGHOST postgres host env-file@.env:1',
      'REDIS_URL redis url env-file@.env:3',
    ],
  ],
  [
    'what a service of the compose file is given',
    {
      'compose.yaml': `${postgres}  app:\n    build: .\n    environment:\n      APP_DSN: postgres://a:b@db/app\n`,
    },
    ['APP_DSN postgres url compose@compose.yaml:8'],
  ],
  [
    'Prisma’s schema',
    {
      'compose.yaml': postgres,
      'prisma/schema.prisma':
        'datasource db {\n  provider = "postgresql"\n  url = env("POSTGRES_PRISMA_URL")\n}\n',
    },
    ['POSTGRES_PRISMA_URL postgres url code@prisma/schema.prisma:3'],
  ],
  [
    'a here-document of a Taskfile',
    {
      'compose.yaml': postgres,
      'Taskfile.yml':
        'version: 3\ntasks:\n  env:\n    cmds:\n      - |\n        cat <<EOF > .env\n        BACKEND_DATABASE_URL=postgres://a@localhost/app\n        EOF\n',
    },
    ['BACKEND_DATABASE_URL postgres url script@Taskfile.yml:7'],
  ],
  [
    'a number of Redis, and not the database of Postgres',
    {
      'compose.yaml': redis,
      'app.py':
        'import os\nDB = os.getenv("REDIS_DB", "0")\nHOST = os.environ["REDIS_HOST"]\nNAME = os.environ.get("APP_NAME")\n',
    },
    ['REDIS_DB redis index code@app.py:2', 'REDIS_HOST redis host code@app.py:3'],
  ],
  [
    'Go, Ruby, PHP, Elixir and Rust alike',
    {
      'compose.yaml': redis,
      'a.go': 'x := os.Getenv("REDIS_A_URL")\n',
      'b.rb': 'ENV.fetch("REDIS_B_URL")\n',
      'c.php': "env('REDIS_C_URL')\n",
      'd.exs': 'System.get_env("REDIS_D_URL")\n',
      'e.rs': 'env::var("REDIS_E_URL")\n',
    },
    [
      'REDIS_A_URL redis url code@a.go:1',
      'REDIS_B_URL redis url code@b.rb:1',
      'REDIS_C_URL redis url code@c.php:1',
      'REDIS_D_URL redis url code@d.exs:1',
      'REDIS_E_URL redis url code@e.rs:1',
    ],
  ],
  [
    'a validated environment',
    {
      'compose.yaml': postgres,
      'src/env.ts': 'export const env = createEnv({ server: {\n  DATABASE_URL: z.string().url(),\n} })\n',
    },
    ['DATABASE_URL postgres url code@src/env.ts:2'],
  ],
  [
    'Spring’s own keys, where its settings name the address',
    {
      'compose.yaml': postgres,
      'src/main/resources/application.yml':
        'spring:\n  datasource:\n    url: jdbc:postgresql://localhost/app\n    username: a\n',
    },
    [
      'SPRING_DATASOURCE_URL postgres url framework@src/main/resources/application.yml:3',
      'SPRING_DATASOURCE_USERNAME postgres user framework@src/main/resources/application.yml:4',
    ],
  ],
  [
    'the variable that Spring’s settings read',
    {
      'compose.yaml': postgres,
      'src/main/resources/application.properties':
        'spring.datasource.url=${JDBC_DATABASE_URL:jdbc:postgresql://localhost/app}\n',
    },
    ['JDBC_DATABASE_URL postgres url settings@src/main/resources/application.properties:1'],
  ],
  [
    '.NET’s connection strings',
    {
      'compose.yaml': postgres,
      'Api/appsettings.Development.json':
        '{\n  "ConnectionStrings": {\n    "Default": "Host=localhost;Database=app;Username=a;Password=b"\n  }\n}\n',
      'Api/Api.csproj': '<Project><PackageReference Include="Npgsql" Version="8.0.0"/></Project>',
    },
    ['ConnectionStrings__Default postgres connection framework@Api/appsettings.Development.json:3'],
  ],
  [
    'Rails, whose settings name the database',
    {
      'compose.yaml': postgres,
      Gemfile: 'gem "rails"\ngem "pg"\n',
      'config/database.yml':
        'development:\n  adapter: postgresql\n  database: app_dev\ntest:\n  adapter: postgresql\n  database: app_test\n',
    },
    ['DATABASE_URL postgres url framework@config/database.yml:2'],
  ],
]

describe('findEnvKeys', () => {
  it.each(rows)('finds %s', async (_title, files, expected) => {
    expect(await active(files)).toEqual(expected)
  })

  it('keeps passwords out of examples', async () => {
    const keys = findEnvKeys(
      await factsOf({
        'compose.yaml': postgres,
        '.env.example': 'DATABASE_URL=postgres://a:s3cret@localhost/app\nDB_PASSWORD=s3cret\n',
        'Api/appsettings.json':
          '{"ConnectionStrings": {"Main": "Host=localhost;Username=a;Password=s3cret"}}',
      }),
    )
    expect(keys.length).toBeGreaterThan(1)
    expect(JSON.stringify(keys)).not.toContain('s3cret')
  })

  it('says that a URL names no database, and which keys stand in it', async () => {
    const keys = findEnvKeys(
      await factsOf({
        'compose.yaml': both,
        '.env.example':
          'REDIS_URL=redis://localhost:6379\nDATABASE_URL=postgres://${DB_USER}@localhost/${DB_NAME}\nDB_USER=a\nDB_NAME=b\n',
      }),
    )
    expect(keys.find(one => one.key === 'REDIS_URL')).toMatchObject({ isIncomplete: true, refers: [] })
    expect(keys.find(one => one.key === 'DATABASE_URL')).toMatchObject({
      isIncomplete: false,
      refers: ['DB_USER', 'DB_NAME'],
    })
  })

  it('leaves out the stores that another key has not chosen, and names that key', async () => {
    const keys = findEnvKeys(
      await factsOf({
        '.env.example':
          'VECTOR_STORE=qdrant\nQDRANT_URL=http://localhost:6333\nDB_TYPE=postgres\nPOSTGRES_HOST=localhost\nMYSQL_HOST=localhost\nDB_DATABASE=app\n',
        'package.json': manifest({}, ['pg', 'mysql2', '@qdrant/js-client-rest']),
      }),
    )
    const of = (name: string) => keys.find(one => one.key === name)
    expect(of('QDRANT_URL')).toMatchObject({ isActive: true, chosenBy: 'VECTOR_STORE' })
    expect(of('POSTGRES_HOST')).toMatchObject({ isActive: true, chosenBy: 'DB_TYPE' })
    expect(of('DB_DATABASE')).toMatchObject({ service: 'postgres', isActive: true })
    expect(of('MYSQL_HOST')).toMatchObject({ isActive: false })
  })

  it.each([
    ['TEST_DATABASE_URL=postgres://localhost/app_test', 'test', 'url'],
    ['SHADOW_DATABASE_URL=postgres://localhost/shadow', 'shadow', 'url'],
    ['DB_TEST_NAME=app_test', 'test', 'database'],
    ['DATABASE_URL=postgres://localhost/app', 'app', 'url'],
  ])('says what %s is for', async (line, purpose, part) => {
    const [key] = findEnvKeys(await factsOf({ 'compose.yaml': postgres, '.env.example': `${line}\n` }))
    expect(key).toMatchObject({ purpose, part })
  })

  it('counts a commented key as an alternative', async () => {
    expect(
      await active({ 'compose.yaml': redis, '.env.example': '# REDIS_URL=redis://localhost\n' }),
    ).toEqual([])
  })

  it.each([
    [
      'the same value for tests',
      {
        'compose.yaml': postgres,
        '.env.example': 'DATABASE_URL=postgres://localhost/app\n',
        '.env.test.example': 'DATABASE_URL=postgres://localhost/app\n',
      },
      '.env.test.example:1',
    ],
    [
      'a set-up of tests that drops',
      {
        'compose.yaml': postgres,
        'app/db.py': 'os.environ["DATABASE_URL"]\n',
        'conftest.py':
          'import os\nengine = create_engine(os.environ["DATABASE_URL"])\nBase.metadata.drop_all(engine)\n',
      },
      'conftest.py:2',
    ],
    [
      'a section for tests that reads the same key',
      {
        'compose.yaml': postgres,
        'config/config.js':
          'module.exports = {\n  development: { use_env_variable: process.env.DATABASE_URL },\n  test: {\n    url: process.env.DATABASE_URL\n  },\n}\n',
      },
      'config/config.js:2',
    ],
  ] as [string, Files, string][])(
    'flags one key for development and tests: %s',
    async (_title, files, place) => {
      const key = findEnvKeys(await factsOf(files)).find(one => one.key === 'DATABASE_URL')
      expect(`${key?.sharedWithTests?.file}:${key?.sharedWithTests?.line}`).toBe(place)
    },
  )

  it('does not flag tests that have a key of their own', async () => {
    const keys = findEnvKeys(
      await factsOf({
        'compose.yaml': postgres,
        '.env.example': 'DATABASE_URL=postgres://localhost/app\n',
        '.env.test.example': 'DATABASE_URL=postgres://localhost/app_test\n',
      }),
    )
    expect(keys.map(one => one.sharedWithTests)).toEqual([undefined])
  })
})

describe('readEnvName', () => {
  it.each([
    ['DB_HOST', undefined, 'host', 'db'],
    ['DB_NAME', undefined, 'database', 'db'],
    ['DB_DATABASE', undefined, 'database', 'db'],
    ['DATABASE_URL', undefined, 'url', 'database'],
    ['POSTGRES_DB', 'postgres', 'database', 'postgres'],
    ['PGDATABASE', 'postgres', 'database', 'pg'],
    ['PGHOST', 'postgres', 'host', 'pg'],
    ['MONGODB_URI', 'mongodb', 'url', 'mongodb'],
    ['REDIS_DB', 'redis', 'index', 'redis'],
    ['REDIS_PREFIX', 'redis', 'prefix', 'redis'],
    ['RABBITMQ_VHOST', 'rabbitmq', 'vhost', 'rabbitmq'],
    ['KAFKA_BROKERS', 'kafka', 'hosts', 'kafka'],
    ['KAFKA_TOPIC_PREFIX', 'kafka', 'prefix', 'kafka'],
    ['AWS_S3_BUCKET', 's3', 'bucket', 'aws_s3'],
    ['S3_BUCKET_NAME', 's3', 'bucket', 's3'],
    ['QDRANT_COLLECTION', 'qdrant', 'prefix', 'qdrant'],
  ])('%s is %s %s of %s', (key, kind, part, group) => {
    expect(readEnvName(key)).toEqual({ kind, part, group })
  })
  it.each([
    'APP_NAME',
    'DB_POOL_SIZE',
    'LOG_DB_QUERIES',
    'REDIS_NAME',
    'HOST',
    'PORT',
    'NEXT_PUBLIC_API_URL',
    'S3_REGION',
    'DATABASE_MIGRATIONS_DIR',
    'NODE_ENV',
    'USERNAME',
  ])('%s names no resource', key => {
    expect(readEnvName(key)).toBeUndefined()
  })
})
