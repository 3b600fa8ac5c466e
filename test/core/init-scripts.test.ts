import { describe, expect, it } from 'vitest'
import { readInitSources } from '../../src/core/init/init-sources.ts'
import { composeInitScripts, type InitOptions, type InitScripts } from '../../src/core/init-scripts.ts'
import { describeStack } from '../../src/core/stack.ts'
import { factsOf, manifest } from '../support/facts-of.ts'
import { makeStubBox } from '../support/stub-scripts.ts'

type Files = Record<string, string>

async function init(files: Files, options?: InitOptions): Promise<InitScripts> {
  const facts = await factsOf(files)
  return composeInitScripts(describeStack(facts), readInitSources(facts), options)
}

/** What provision.sh gives to penv env, and what it calls, with stand-ins for everything but the shell. */
function provision(scripts: InitScripts, env?: Record<string, string>, main: Files = {}) {
  const box = makeStubBox(scripts.files, undefined, main)
  try {
    return box.run('provision.sh', [], env)
  } finally {
    box.remove()
  }
}

/** Sources servers.sh as a script does, and runs a line after it. */
function sourceServers(
  scripts: InitScripts,
  line: string,
  main: Files,
  env: Record<string, string> = {},
): string {
  const files = new Map([...scripts.files, ['show.sh', `set -eu\n. "$PENV_DIR/servers.sh"\n${line}`]])
  const box = makeStubBox(files, undefined, main)
  try {
    return box.run('show.sh', [], env).stdout
  } finally {
    box.remove()
  }
}

const service = (name: string, image: string, rest = '') => `  ${name}:\n    image: ${image}\n${rest}`
const compose = (...services: string[]) => `services:\n${services.join('')}`
const db = service(
  'db',
  'postgres:16',
  '    environment: { POSTGRES_USER: app, POSTGRES_PASSWORD: app }\n    ports: ["5433:5432"]\n',
)
const web = { 'package.json': manifest({ dev: 'next dev' }) }
const prisma = {
  'prisma/schema.prisma': 'datasource db {\n  provider = "postgresql"\n  url = env("DATABASE_URL")\n}\n',
  'prisma/migrations/1_a/migration.sql': '',
}

const values: [title: string, files: Files, expected: Record<string, string>][] = [
  [
    'a URL',
    {
      ...web,
      'compose.yaml': compose(db),
      '.env.example': 'DATABASE_URL=postgres://app:app@localhost:5433/app\n',
    },
    { DATABASE_URL: 'postgres://u:p@localhost/preview_wt_abc123' },
  ],
  [
    'a URL of another dialect, with its query',
    {
      ...web,
      'compose.yaml': compose(db),
      '.env.example': 'DB_URL=postgresql+asyncpg://app:app@localhost/app?ssl=disable\n',
    },
    { DB_URL: 'postgresql+asyncpg://u:p@localhost/preview_wt_abc123?ssl=disable' },
  ],
  [
    'parts, with the account of the compose file',
    {
      ...web,
      'compose.yaml': compose(db),
      '.env.example': 'DB_HOST=\nDB_PORT=\nDB_USER=\nDB_PASSWORD=\nDB_NAME=\n',
    },
    {
      DB_HOST: 'localhost',
      DB_PORT: '5433',
      DB_USER: 'app',
      DB_PASSWORD: 'app',
      DB_NAME: 'preview_wt_abc123',
    },
  ],
  [
    'a JDBC URL',
    {
      'compose.yaml': compose(db),
      'pom.xml': '<artifactId>spring-boot-maven-plugin</artifactId><artifactId>postgresql</artifactId>',
      'src/main/resources/application.properties':
        'spring.datasource.url=jdbc:postgresql://localhost:5433/app\nspring.datasource.username=app\n',
    },
    {
      SPRING_DATASOURCE_URL: 'jdbc:postgresql://localhost:5433/preview_wt_abc123',
      SPRING_DATASOURCE_USERNAME: 'app',
      SERVER_PORT: '2',
    },
  ],
  [
    'a connection string of .NET',
    {
      'compose.yaml': compose(db),
      'Api/Api.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><PackageReference Include="Npgsql" Version="8"/></Project>',
      'Api/appsettings.Development.json':
        '{"ConnectionStrings": {"Main": "Host=localhost;Database=app;Username=app;Password=app"}}',
    },
    {
      ConnectionStrings__Main:
        'Host=localhost;Port=5433;Database=preview_wt_abc123;Username=app;Password=app',
    },
  ],
  [
    'an index of Redis, in a URL and as a number',
    {
      ...web,
      'compose.yaml': compose(service('cache', 'redis:7')),
      '.env.example': 'REDIS_URL=redis://localhost:6379\nCACHE_REDIS_DB=0\n',
    },
    { REDIS_URL: 'redis://u:p@localhost/3', CACHE_REDIS_DB: '3' },
  ],
  [
    'a database for tests beside the app’s',
    {
      ...web,
      'compose.yaml': compose(db),
      '.env.example':
        'DATABASE_URL=postgres://localhost/app\nTEST_DATABASE_URL=postgres://localhost/app_test\n',
    },
    {
      DATABASE_URL: 'postgres://u:p@localhost/preview_wt_abc123',
      TEST_DATABASE_URL: 'postgres://u:p@localhost/test_wt_abc123',
    },
  ],
  [
    'two databases of one server',
    {
      ...web,
      'compose.yaml': compose(db),
      '.env.example':
        'DATABASE_URL=postgres://localhost/app\nORDERS_DATABASE_URL=postgres://localhost/orders\n',
    },
    {
      DATABASE_URL: 'postgres://u:p@localhost/preview_wt_abc123',
      ORDERS_DATABASE_URL: 'postgres://u:p@localhost/orders_wt_abc123',
    },
  ],
  [
    'a bucket in kebab case, and its server',
    {
      ...web,
      'compose.yaml': compose(service('files', 'minio/minio', '    ports: ["9100:9000"]\n')),
      '.env.example': 'S3_BUCKET=uploads\nS3_ENDPOINT=http://localhost:9100\n',
    },
    { S3_BUCKET: 'preview-wt-abc123', S3_ENDPOINT: 'http://localhost:9100' },
  ],
  [
    'a virtual host',
    {
      ...web,
      'compose.yaml': compose(service('mq', 'rabbitmq:3')),
      '.env.example': 'RABBITMQ_HOST=localhost\nRABBITMQ_VHOST=/\n',
    },
    { RABBITMQ_HOST: 'localhost', RABBITMQ_VHOST: 'preview_wt_abc123' },
  ],
  [
    'a prefix for topics, and a topic that keeps its name',
    {
      ...web,
      'compose.yaml': compose(service('broker', 'apache/kafka:3.8', '    ports: ["9092:9092"]\n')),
      '.env.example': 'KAFKA_BROKERS=localhost:9092\nKAFKA_TOPIC_PREFIX=\nKAFKA_ORDERS_TOPIC=orders\n',
    },
    {
      KAFKA_BROKERS: 'kafka://u:p@localhost/preview_wt_abc123',
      KAFKA_TOPIC_PREFIX: 'preview_wt_abc123-',
      KAFKA_ORDERS_TOPIC: 'preview_wt_abc123-orders',
    },
  ],
  ['the port that Next reads', web, { PORT: '2' }],
  [
    'addresses of the app’s own ports',
    {
      ...web,
      '.env.example':
        'NEXTAUTH_URL=http://localhost:3000/api/auth\nAPP_URL=http://localhost\nDOCS_URL=https://example.org:3000\n',
    },
    { PORT: '2', NEXTAUTH_URL: 'http://localhost:2/api/auth', APP_URL: 'http://localhost:2' },
  ],
  [
    'a port for each member of a workspace',
    {
      'package.json': '{"workspaces":["apps/*"]}',
      'apps/web/package.json': manifest({ dev: 'next dev' }),
      'apps/api/package.json': manifest({ dev: 'tsx src/index.ts' }),
      'apps/api/src/index.ts': 'app.listen(process.env.API_PORT ?? 4000)\n',
      '.env.example': 'API_URL=http://localhost:4000\n',
    },
    { PORT: '2', API_PORT: '2', API_URL: 'http://localhost:2' },
  ],
  [
    'the address that a program listens on, as the program writes it, and what points at it',
    {
      'go.mod': 'module shop\n',
      'main.go':
        'package main\nfunc main() {\n\thttp.ListenAndServe(getenv("LISTEN_ADDR", ":8080"), nil)\n\tserve(os.Getenv("METRICS_ADDR"))\n}\n',
      '.env.example':
        'LISTEN_ADDR=:8080\nMETRICS_ADDR=127.0.0.1:9100\nPAYMENTS_ADDR=:7000\nBASE_URL=http://localhost:8080\n',
    },
    {
      LISTEN_ADDR: ':2',
      METRICS_ADDR: '127.0.0.1:2',
      BASE_URL: 'http://localhost:2',
    },
  ],
  [
    'the port that a program reads without a default by the number of an example',
    {
      ...web,
      'server.js': 'app.listen(process.env.PORT)\n',
      'package.json': manifest({ dev: 'node server.js' }),
      '.env.example': 'PORT=3000\nPUBLIC_URL=http://localhost:3000\n',
    },
    { PORT: '2', PUBLIC_URL: 'http://localhost:2' },
  ],
  [
    'a file in PENV_DATA, as each library writes it',
    {
      ...web,
      '.env.example': 'DATABASE_URL=sqlite:///./app.db\n',
      'requirements.txt': 'sqlalchemy\n',
      'app.py': 'import os\nos.environ["DATABASE_URL"]\n',
    },
    { DATABASE_URL: 'sqlite:///DATA/app.db' },
  ],
]

describe('composeInitScripts', () => {
  it.each(values)('sets %s', async (_title, files, expected) => {
    const { env } = provision(await init(files))
    // Ports are what the stand-in prints; here only their place counts.
    const plain = Object.fromEntries(
      [...env].map(([key, value]) => [
        key,
        value.replace(/\b2\d{4}\b/g, '2').replace(/\/(?:[\w.-]+\/)+data\/app\.db/, 'DATA/app.db'),
      ]),
    )
    expect(plain).toMatchObject(expected)
  })

  it.each([
    ['file:./dev.db', 'file:DATA/app.db'],
    ['sqlite:data.db?mode=rwc', 'sqlite:DATA/app.db?mode=rwc'],
    ['sqlite://data.db', 'sqlite://DATA/app.db'],
    ['sqlite+aiosqlite:///./x.db', 'sqlite+aiosqlite:///DATA/app.db'],
    ['jdbc:sqlite:x.db', 'jdbc:sqlite:DATA/app.db'],
    ['./data/x.sqlite3', 'DATA/app.db'],
  ])('writes %s for a file of its own', async (example, expected) => {
    const scripts = await init({ ...web, '.env.example': `DATABASE_URL=${example}\n` })
    const value = provision(scripts).env.get('DATABASE_URL')
    expect(value?.replace(/\/(?:[\w.-]+\/)+data\/app\.db/, 'DATA/app.db')).toBe(expected)
  })

  it('allocates different ports for different programs', async () => {
    const scripts = await init({
      'package.json': '{"workspaces":["apps/*"]}',
      'apps/web/package.json': manifest({ dev: 'next dev' }),
      'apps/api/package.json': manifest({ dev: 'tsx src/index.ts' }),
      'apps/api/src/index.ts': 'app.listen(process.env.API_PORT ?? 4000)\n',
    })
    const { env, log } = provision(scripts)
    expect(log.filter(line => line.startsWith('penv get port')).sort()).toEqual([
      'penv get port api',
      'penv get port web',
    ])
    expect(env.get('PORT')).not.toBe(env.get('API_PORT'))
  })

  it('migrates by the repository’s own command, and not with PENV_NO_MIGRATE', async () => {
    const scripts = await init({
      'package.json': manifest({ 'db:migrate': 'prisma migrate deploy' }),
      'package-lock.json': '{}',
      ...prisma,
      'compose.yaml': compose(db),
    })
    expect(provision(scripts).log).toEqual(expect.arrayContaining(['exec npm ci', 'exec npm run db:migrate']))
    expect(provision(scripts, { PENV_NO_MIGRATE: '1' }).log.join()).not.toContain('migrate')
  })

  it('gives a variable of a make target what the app’s key gets, with its query', async () => {
    const makefile =
      '-include .env\nmigrate-up:\n\tmigrate -path db/migrations -database "$(DATABASE_DSN)" up\n'
    const scripts = await init({
      'go.mod': 'module x\n\nrequire github.com/lib/pq v1.10.9\n',
      Makefile: makefile,
      'db/migrations/1_a.up.sql': '',
      'compose.yaml': compose(db),
      '.env.example': 'DATABASE_DSN=postgres://app@localhost/app?sslmode=disable\n',
    })
    expect(scripts.files.get('provision.sh')).toContain(
      'penv exec -- make migrate-up DATABASE_DSN="$url?sslmode=disable"',
    )
    expect(provision(scripts).log.at(-1)).toBe(
      'exec make migrate-up DATABASE_DSN=postgres://u:p@localhost/preview_wt_abc123?sslmode=disable',
    )
  })

  it('asks for a database of their own where tests take the app’s key', async () => {
    const scripts = await init({
      'compose.yaml': compose(db),
      Gemfile: 'gem "rails"\ngem "pg"\n',
      'bin/rails': '#!/usr/bin/env ruby\n',
      'config/database.yml':
        'development:\n  adapter: postgresql\n  database: a\ntest:\n  adapter: postgresql\n  database: a_test\n',
    })
    expect(scripts.questions).toContainEqual(
      expect.stringMatching(/^tests take DATABASE_URL, too \(config\/database\.yml:2\)/),
    )
  })

  it('does not migrate what nothing points at the slice: that would be the main checkout’s database', async () => {
    const settings =
      'DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "shop", "HOST": "localhost"}}\n'
    const scripts = await init({
      'manage.py': 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")\n',
      'shop/settings.py': settings,
      'requirements.txt': 'django\npsycopg\n',
      'compose.yaml': compose(db),
    })
    expect(provision(scripts).log.join('\n')).not.toMatch(/migrate/)
    expect(scripts.files.has('bootstrap.sh')).toBe(false)
    expect(scripts.questions.filter(text => /database|key/.test(text))).toEqual([
      expect.stringMatching(/^shop\/settings\.py:1 names the database itself/),
    ])
  })

  it('does not migrate where no key is known, and asks once for the one that is meant', async () => {
    const scripts = await init({
      ...web,
      'go.mod': 'module x\n',
      'compose.yaml': compose(db),
      artisan: '',
      'database/migrations/1_a.php': '',
    })
    expect(provision(scripts).log.join('\n')).not.toMatch(/migrate/)
    expect(scripts.questions.filter(text => /database/.test(text))).toEqual([
      expect.stringMatching(/`php artisan migrate --no-interaction`/),
    ])
  })

  it('makes no template of one of two databases', async () => {
    const schema = (key: string) => `datasource db {\n  provider = "postgresql"\n  url = env("${key}")\n}\n`
    const scripts = await init({
      ...web,
      'compose.yaml': compose(db),
      'a/package.json': '{}',
      'a/prisma/schema.prisma': schema('A_DATABASE_URL'),
      'a/prisma/migrations/1/m.sql': '',
      'b/package.json': '{}',
      'b/prisma/schema.prisma': schema('B_DATABASE_URL'),
      'b/prisma/migrations/1/m.sql': '',
      '.env.example': 'A_DATABASE_URL=postgres://localhost/a\nB_DATABASE_URL=postgres://localhost/b\n',
    })
    expect(scripts.files.has('bootstrap.sh')).toBe(false)
    const folders = { 'a/package.json': '{}', 'b/package.json': '{}' }
    const { log } = provision(scripts, {}, folders)
    expect(log.filter(line => /^exec .*migrate/.test(line))).toHaveLength(2)
  })

  it('never calls a command that drops first', async () => {
    const scripts = await init({
      'package.json': manifest({
        'db:migrate': 'prisma migrate reset --force',
        'db:seed': 'prisma migrate reset && tsx seed.ts',
      }),
      ...prisma,
      'compose.yaml': compose(db),
    })
    for (const text of scripts.files.values()) expect(text).not.toMatch(/reset|run db:/)
    expect(scripts.files.get('provision.sh')).toContain('npx prisma migrate deploy')
  })

  it('builds a template with all that an environment’s app is given, since settings are read as a whole', async () => {
    const scripts = await init({
      ...web,
      ...prisma,
      'package-lock.json': '{}',
      'compose.yaml': compose(db, service('cache', 'redis:7', '    ports: ["6379:6379"]\n')),
      '.env.example':
        'DATABASE_URL=postgres://app:app@localhost:5433/app\nREDIS_URL=redis://localhost:6379/0\nSESSION_SECRET=\nSHOP_URL=http://localhost:3000\n',
    })
    const lines = (file: string) =>
      scripts.files
        .get(file)
        ?.split('\n')
        .map(line => line.trim()) ?? []
    const set = lines('provision.sh').flatMap(line => /^([A-Z_]+)=/.exec(line)?.[1] ?? [])
    const exported = lines('bootstrap.sh').flatMap(line => /^export (\w+)=/.exec(line)?.[1] ?? [])
    expect(set).toEqual(['PORT', 'DATABASE_URL', 'REDIS_URL', 'SHOP_URL'])
    expect(exported).toEqual(set)
    expect(lines('bootstrap.sh')).toContain('main_export SESSION_SECRET')
  })

  it('builds a template by the same command, pointed at the template, and says what shapes it', async () => {
    const scripts = await init({ ...web, ...prisma, 'package-lock.json': '{}', 'compose.yaml': compose(db) })
    expect(scripts.files.get('template.inputs')?.split('\n').slice(1)).toEqual([
      'prisma/migrations',
      'prisma/schema.prisma',
      'package-lock.json',
      '',
    ])
    const box = makeStubBox(scripts.files)
    const { log } = box.run('bootstrap.sh', ['build'], { PENV_TEMPLATE: 'penv_tpl_1' })
    box.remove()
    expect(log).toEqual([
      'postgres_create penv_tpl_1',
      'penv get port web',
      'npm ci @template',
      'npx prisma migrate deploy @template',
      'postgres_freeze penv_tpl_1',
    ])
    expect(scripts.files.get('bootstrap.sh')).toContain('export DATABASE_URL="$url"')
  })

  it('clones where there is a template, and leaves the migrations of a fresh clone', async () => {
    const scripts = await init({ ...web, ...prisma, 'compose.yaml': compose(db) })
    expect(provision(scripts, { PENV_TEMPLATE: 'penv_tpl_1' }).log).toContain(
      'postgres_create preview_wt_abc123 penv_tpl_1',
    )
    expect(provision(scripts, { PENV_TEMPLATE_FRESH: '1', postgres_cloned: '1' }).log.join()).not.toContain(
      'migrate deploy',
    )
    expect(provision(scripts, { PENV_TEMPLATE_FRESH: '1' }).log.join()).toContain('migrate deploy')
  })

  it('writes bootstrap.sh and seed.sh only where there is something to do', async () => {
    expect([...(await init({ ...web, 'compose.yaml': compose(db) })).files.keys()].sort()).toEqual([
      'provision.sh',
      'servers.sh',
      'teardown.sh',
      'verify.sh',
    ])
    const seeded = await init({
      'package.json': '{"prisma":{"seed":"tsx seed.ts"}}',
      ...prisma,
      'compose.yaml': compose(db),
    })
    expect(seeded.files.get('seed.sh')).toContain('penv exec -- npx prisma db seed')
  })

  it('makes the schema of a file each time, since no library finds the template of another', async () => {
    const scripts = await init({
      ...web,
      '.env.example': 'DATABASE_URL=file:./dev.db\n',
      'prisma/schema.prisma': 'datasource db {\n  provider = "sqlite"\n  url = env("DATABASE_URL")\n}\n',
      'prisma/migrations/1_a/migration.sql': '',
    })
    expect(scripts.files.has('bootstrap.sh')).toBe(false)
    expect(provision(scripts, { PENV_TEMPLATE_FRESH: '1', sqlite_cloned: '1' }).log).toContain(
      'exec npx prisma migrate deploy',
    )
  })

  it('reads a password that only the main checkout has when it is needed, and keeps it out of the scripts', async () => {
    const secret = service('db', 'postgres:16', '    environment: { POSTGRES_PASSWORD: "${DB_PASSWORD}" }\n')
    const scripts = await init({
      ...web,
      'compose.yaml': compose(secret),
      '.env': 'DB_PASSWORD=s3cret\n',
      '.env.example': 'DB_PASSWORD=\n',
    })
    for (const text of scripts.files.values()) expect(text).not.toContain('s3cret')
    expect(provision(scripts, {}, { '.env': 'DB_PASSWORD="s3cret"\r\n' }).env.get('DB_PASSWORD')).toBe(
      's3cret',
    )
  })

  it.each([
    [
      'a URL',
      'DATABASE_URL=postgres://app:app@localhost:5433/app\n',
      'DATABASE_URL=postgres://me:s%20cret@127.0.0.1:7000/x\n',
    ],
    [
      'parts',
      'DB_HOST=localhost\nDB_PORT=5433\nDB_USER=app\nDB_PASSWORD=\nDB_NAME=app\n',
      'DB_HOST=127.0.0.1\nDB_PORT=7000\nDB_USER=me\nDB_PASSWORD="s cret"\nDB_NAME=x\n',
    ],
  ])(
    'finds the server where %s of the main checkout says, before the compose file',
    async (_title, example, own) => {
      const scripts = await init({ ...web, 'compose.yaml': compose(db), '.env.example': example })
      const show = 'printf "%s|%s|%s|%s" "$PGHOST" "$PGPORT" "$PGUSER" "$PGPASSWORD"\n'
      const shown = (main: Files, env = {}) => sourceServers(scripts, show, main, env)
      expect(shown({ '.env': own })).toBe('127.0.0.1|7000|me|s cret')
      expect(shown({})).toBe('localhost|5433|app|app')
      expect(shown({ '.env': own }, { PGPORT: '9' })).toMatch(/\|9\|/)
    },
  )

  it('finds a port of the compose file that the main checkout has changed by its variable', async () => {
    const moved = service('db', 'postgres:16', '    ports: ["${DB_PORT:-5432}:5432"]\n')
    const scripts = await init({ ...web, 'compose.yaml': compose(moved) })
    expect(sourceServers(scripts, 'printf %s "$PGPORT"\n', { '.env': 'DB_PORT=7000\n' })).toBe('7000')
    expect(sourceServers(scripts, 'printf %s "$PGPORT"\n', {})).toBe('5432')
  })

  it('asks nobody for a password that an example or the main checkout has', async () => {
    const scripts = await init({
      'package.json': JSON.stringify({ scripts: { dev: 'next dev' }, dependencies: { pg: '8' } }),
      '.env.example': 'DATABASE_URL=postgres://app:ex4mple@localhost:5433/app\n',
    })
    expect(scripts.questions.filter(text => /password/.test(text))).toEqual([])
    expect(
      sourceServers(scripts, 'printf %s "$PGPASSWORD"\n', {
        '.env.example': 'DATABASE_URL=postgres://app:ex4mple@localhost/app\n',
      }),
    ).toBe('ex4mple')
  })

  it('gives the app the settings of the main checkout, and no resource of it', async () => {
    const scripts = await init({
      ...web,
      'compose.yaml': compose(db),
      '.env.example':
        'DATABASE_URL=postgres://app:app@localhost:5433/app\nSESSION_SECRET=\nLOG_LEVEL=debug\nAPI_URL=https://api.example.com/v1\n' +
        'SEARCH_HOST=localhost\nSEARCH_INDEX=shop\nUPLOADS_BUCKET=shop\nCOMPOSE_PROJECT_NAME=shop\n',
      '.env': 'STRIPE_KEY=sk\n',
    })
    const { env } = provision(
      scripts,
      {},
      { '.env': 'SESSION_SECRET=" a b"\nSTRIPE_KEY=sk # mine\nSEARCH_HOST=localhost\n' },
    )
    const text = scripts.files.get('provision.sh') ?? ''
    expect(text).toContain('$(main_pairs API_URL LOG_LEVEL SESSION_SECRET STRIPE_KEY)')
    expect(env.get('SESSION_SECRET')).toBe("' a b'")
    expect(env.get('STRIPE_KEY')).toBe("'sk'")
    for (const key of ['SEARCH_HOST', 'SEARCH_INDEX', 'UPLOADS_BUCKET', 'COMPOSE_PROJECT_NAME'])
      expect(env.has(key), key).toBe(false)
  })

  it.each(['shared', 'own'] as const)(
    'asks about a resource that verify would stop at, with compose %s',
    async mode => {
      const files = {
        ...web,
        'compose.yaml': compose(db),
        '.env.example':
          'PORT=3000\nDATABASE_URL=postgres://localhost/a\nPAYMENTS_URL=http://localhost:9999\nORDERS_BUCKET=shop\n',
      }
      const { questions } = await init(files, { compose: mode })
      expect(questions.filter(text => /ORDERS_BUCKET, PAYMENTS_URL|PAYMENTS_URL/.test(text))).toHaveLength(1)
    },
  )

  it('builds a template with all that the commands have in provision.sh', async () => {
    const scripts = await init({
      ...prisma,
      'package.json': manifest({ dev: 'next dev' }),
      'compose.yaml': compose(db, service('cache', 'redis:7')),
      '.env.example':
        'DATABASE_URL=postgres://app:app@localhost:5433/app\nREDIS_URL=redis://localhost:6379\nSESSION_SECRET=\nNONE=\nPORT=3000\n',
    })
    const text = scripts.files
      .get('bootstrap.sh')
      ?.replace('npx prisma migrate deploy', 'env >"$PENV_DATA/seen"')
    const files = new Map([...scripts.files, ['bootstrap.sh', `${text}\ncat "$PENV_DATA/seen"\n`]])
    const box = makeStubBox(files, undefined, { '.env': "SESSION_SECRET='of main'\n" })
    const { stdout } = box.run('bootstrap.sh', ['build'], { PENV_TEMPLATE: 'penv_tpl_1' })
    box.remove()
    const seen = stdout.split('\n')
    expect(seen).toContain('DATABASE_URL=postgres://u:p@localhost/penv_tpl_1')
    expect(seen).toContain('REDIS_URL=redis://u:p@localhost/3')
    expect(seen).toContain('SESSION_SECRET=of main')
    expect(seen.some(line => line.startsWith('PORT='))).toBe(true)
    expect(seen.some(line => line.startsWith('NONE='))).toBe(false)
  })

  it('leaves to git the settings of a file that git has', async () => {
    const files = { ...web, '.env.development': 'LOG_LEVEL=debug\nPORT=3000\n' }
    const facts = await factsOf(files, Object.keys(files))
    const scripts = composeInitScripts(describeStack(facts), readInitSources(facts))
    expect(scripts.files.get('provision.sh')).not.toContain('main_pairs')
  })

  it.each([
    ['npm', 'package-lock.json', 'npm ci', 'node_modules/.package-lock.json'],
    ['pnpm', 'pnpm-lock.yaml', 'pnpm install --frozen-lockfile', 'node_modules/.modules.yaml'],
  ])(
    'installs the packages of %s that a worktree lacks, whether or not it has to migrate',
    async (_name, lock, install, whole) => {
      const scripts = await init({ ...web, ...prisma, 'compose.yaml': compose(db), [lock]: '{}' })
      const cloned = { PENV_TEMPLATE_FRESH: '1', postgres_cloned: '1' }
      expect(provision(scripts, cloned).log).toContain(`exec ${install}`)
      expect(provision(scripts, cloned, { 'node_modules/half/of.js': '' }).log).toContain(`exec ${install}`)
      expect(provision(scripts, cloned, { [whole]: '' }).log).not.toContain(`exec ${install}`)
      const plain = await init({ ...web, [lock]: '{}' })
      expect(provision(plain).log).toContain(`exec ${install}`)
    },
  )

  it('lists what stays the main checkout’s, and nothing that it sets apart', async () => {
    const scripts = await init({
      ...web,
      'compose.yaml': compose(db, service('mail', 'axllent/mailpit')),
      '.env.example':
        'DB_HOST=localhost\nDB_PORT=5433\nDB_NAME=app\nSMTP_HOST=localhost\nSMTP_PORT=1025\nPORT=3000\n',
    })
    expect(scripts.files.get('shared')?.split('\n').slice(1, -1)).toEqual([
      'DB_HOST',
      'DB_PORT',
      'SMTP_HOST',
      'SMTP_PORT',
    ])
  })

  it.each([
    [
      'a literal port',
      { 'package.json': manifest({ dev: 'node server.js' }), 'server.js': 'app.listen(3000)\n' },
      /server\.js:1.*which variable/,
    ],
    [
      'a tool that takes its port as an argument',
      { 'package.json': manifest({ dev: 'vite' }) },
      /--port "\$PORT"/,
    ],
    [
      'a server without a key for the slice',
      { ...web, 'compose.yaml': compose(service('cache', 'redis:7')) },
      /Redis index/,
    ],
    [
      'migrations without a known command',
      {
        'package.json': manifest({ dev: 'next dev' }, ['kysely', 'pg']),
        'src/db.ts': "import { Migrator, PostgresDialect } from 'kysely'\nnew Migrator({})\n",
        'migrations/1_a.ts': '',
        'compose.yaml': compose(db),
      },
      /kysely migrations/,
    ],
    ['a repository of which nothing is known', { 'README.md': '# hello\n' }, /how is the app started/],
  ] as [string, Files, RegExp][])(
    'asks once about %s, in a script that still runs',
    async (_title, files, asked) => {
      const scripts = await init(files)
      expect(scripts.questions.filter(text => asked.test(text))).toHaveLength(1)
      expect(provision(scripts).log.length).toBeGreaterThan(0)
    },
  )

  it.each([
    [
      'shared',
      'every server has an adapter',
      { ...web, 'compose.yaml': compose(db, service('mail', 'axllent/mailpit')) },
    ],
    ['shared', 'there is no compose file', web],
    [
      'own',
      'a server has no adapter',
      {
        ...web,
        'compose.yaml': compose(db, service('search', 'getmeili/meilisearch', '    ports: ["7700:7700"]\n')),
      },
    ],
    [
      'own',
      'a server has one space for all',
      { ...web, 'compose.yaml': compose(service('cache', 'memcached:1.6')) },
    ],
    [
      'own',
      'the app runs in the compose project',
      { 'compose.yaml': compose(db, '  app:\n    build: .\n    ports: ["8080:80"]\n') },
    ],
  ] as [string, string, Files][])('takes servers that are %s where %s', async (mode, _why, files) => {
    const scripts = await init(files)
    expect(scripts.mode).toBe(mode)
    expect(scripts.reason).not.toBe('')
  })

  it('does what it is told about compose, and refuses a project that has no file', async () => {
    expect((await init({ ...web, 'compose.yaml': compose(db) }, { compose: 'own' })).mode).toBe('own')
    await expect(init(web, { compose: 'own' })).rejects.toMatchObject({ code: 'USAGE' })
  })

  it('gives the servers of an own project ports of their own, and keeps two projects from meeting', async () => {
    const files = {
      ...web,
      'compose.yaml': `${compose(service('db', 'postgres:16', '    container_name: shop-db\n    environment: { POSTGRES_USER: app, POSTGRES_PASSWORD: app, POSTGRES_DB: shop }\n    ports: ["127.0.0.1:5433:5432"]\n    volumes: ["data:/var/lib/postgresql/data"]\n'), service('search', 'getmeili/meilisearch', '    ports: ["${MEILI_PORT:-7700}:7700"]\n'))}volumes:\n  data:\n    name: shop-data\n`,
      '.env.example':
        'DATABASE_URL=postgres://app:app@localhost:5433/shop\nMEILI_URL=http://localhost:7700\n',
    }
    const scripts = await init(files)
    expect(scripts.files.get('compose.yaml')).toContain('container_name: !reset null')
    expect(scripts.files.get('compose.yaml')).toContain(
      'ports: !override\n      - "127.0.0.1:${DB_PORT}:5432"',
    )
    expect(scripts.files.get('compose.yaml')).toContain('name: "${COMPOSE_PROJECT_NAME}_data"')
    expect(scripts.files.get('compose.yaml')).not.toContain('search')
    const { env, log } = provision(scripts)
    expect(env.get('COMPOSE_PROJECT_NAME')).toBe('preview-wt_abc123')
    expect(env.get('DATABASE_URL')).toBe('postgres://u:p@localhost/shop')
    expect(env.get('MEILI_URL')).toBe(`http://localhost:${env.get('MEILI_PORT')}`)
    expect(log.find(line => line.startsWith('docker '))).toMatch(
      /^docker compose .*-p preview-wt_abc123 -f compose\.yaml -f \S.*\/\.preview\/compose\.yaml --env-file \S.*\.env\.preview up -d --wait db search$/,
    )
  })

  it('ends an own project by its labels, with its volumes only on destroy', async () => {
    const scripts = await init({ ...web, 'compose.yaml': compose(db) }, { compose: 'own' })
    const box = makeStubBox(scripts.files)
    expect(box.run('down.sh').log).toEqual(['docker compose -p preview-wt_abc123 down --remove-orphans'])
    expect(box.run('teardown.sh').log[0]).toBe('docker compose -p preview-wt_abc123 down -v --remove-orphans')
    box.remove()
  })

  it('leaves nothing of text in a script to the shell', async () => {
    const odd = service(
      'db',
      'postgres:16',
      `    environment: { POSTGRES_USER: app, POSTGRES_PASSWORD: "a'b$$(touch pwned)\`x" }\n    ports: ["5433:5432"]\n`,
    )
    const scripts = await init({
      ...web,
      'compose.yaml': compose(odd),
      '.env.example': 'DB_PASSWORD=\nDB_NAME=\nHOOK=http://localhost:3000/$(touch pwned)\n',
    })
    const { env } = provision(scripts)
    expect(env.get('DB_PASSWORD')).toBe("a'b$(touch pwned)`x")
    expect(env.has('HOOK')).toBe(false)
  })
})
