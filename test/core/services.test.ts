import { describe, expect, it } from 'vitest'
import { findServices } from '../../src/core/stack/services.ts'
import { serviceKey } from '../../src/core/stack/store-names.ts'
import { factsOf, manifest } from '../support/facts-of.ts'

const required = async (files: Record<string, string>) =>
  findServices(await factsOf(files))
    .filter(service => service.need === 'required')
    .map(serviceKey)
    .sort()
const compose = (...images: string[]) =>
  `services:\n${images.map((image, n) => `  s${n}: { image: "${image}" }\n`).join('')}`

describe('the services that a default run needs', () => {
  it.each<[string, Record<string, string>, string[]]>([
    [
      'follow COMPOSE_PROFILES of the env example, with variables in it',
      {
        'docker/.env.example':
          'VECTOR_STORE=qdrant\nDB_TYPE=postgresql\nCOMPOSE_PROFILES=${VECTOR_STORE:-weaviate},${DB_TYPE}\n',
        'docker/docker-compose.yaml': `services:
  redis: { image: redis:6-alpine }
  db_postgres: { image: postgres:15, profiles: [postgresql] }
  db_mysql: { image: mysql:8, profiles: [mysql] }
  qdrant: { image: qdrant/qdrant, profiles: [qdrant] }
  weaviate: { image: semitechnologies/weaviate, profiles: ["", weaviate] }
  opensearch: { image: opensearchproject/opensearch, profiles: [opensearch] }
`,
      },
      ['postgres', 'qdrant', 'redis'],
    ],
    [
      'are the one that an Ecto repo is configured for, by the only driver of its dependencies',
      {
        'mix.exs': 'defp deps do\n  [{:phoenix, "~> 1.7"}, {:postgrex, ">= 0.0.0"}]\nend\n',
        'config/dev.exs':
          'import Config\nconfig :shop, Shop.Repo,\n  hostname: "localhost",\n  database: "shop_dev"\n',
      },
      ['postgres'],
    ],
    [
      'are none where an Elixir project has a driver but no repo',
      {
        'mix.exs': 'defp deps do\n  [{:postgrex, ">= 0.0.0"}]\nend\n',
        'config/dev.exs': 'import Config\nconfig :shop, ShopWeb.Endpoint, http: [port: 4000]\n',
      },
      [],
    ],
    [
      'are the started one of two that a driver name chooses',
      {
        'docker-compose.yaml': `services:
  mysql: { image: mysql:8 }
  postgres: { image: postgres:12 }
  minio: { image: minio/minio }
  server:
    build: .
    environment: ["APP_SQLSETTINGS_DRIVERNAME=postgres"]
    volumes: ["./:/app"]
`,
      },
      ['postgres', 's3'],
    ],
    [
      'hold both a relational and a document store that are started',
      {
        'compose.yml': compose('postgres:16', 'mongo:7'),
        '.env.example': 'DB_CONNECTION=pgsql\nMONGO_URL=mongodb://localhost\n',
      },
      ['mongodb', 'postgres'],
    ],
    [
      'leave out what a command can start and the env example has commented out',
      {
        Makefile: 'db:\n\tdocker run -d postgres:16\nolap:\n\tdocker run -d clickhouse/clickhouse-server\n',
        '.env.example': 'PG_DATABASE_URL=postgres://localhost/x\n# CLICKHOUSE_URL=http://localhost:8123\n',
      },
      ['postgres'],
    ],
    [
      'come from settings modules where no compose file is',
      {
        'app/default_settings.py':
          'RABBITMQ_HOST = "127.0.0.1"\nREDIS_HOST = "127.0.0.1"\nMEMCACHED_LOCATION = "127.0.0.1:11211"\nELASTIC_HOST = ""\n',
        'app/queue.py': 'import pika\nconn = pika.BlockingConnection()\n',
        'app/limit.py': 'import redis\nr = redis.StrictRedis(host=REDIS_HOST)\n',
        'app/computed_settings.py':
          'INSTALLED_APPS = []\nDATABASES = {"default": {"ENGINE": "django.db.backends.postgresql"}}\n',
      },
      ['postgres', 'rabbitmq', 'redis'],
    ],
    [
      'come from TOML settings',
      {
        'config/default.toml':
          '[database]\ntype = "mysql"\nhost = "localhost"\n\n[redis]\nurl = "redis://localhost"\n',
        'Cargo.toml': '[package]\nname = "x"\n[dependencies]\nsqlx = "0.7"\nredis = "0.25"\n',
        'src/main.rs': 'fn main() { let c = redis::Client::open(url); }\n',
      },
      ['mysql', 'redis'],
    ],
    [
      'come from Spring settings of the default profile, not from those of another',
      {
        'src/main/resources/application.yml':
          'spring:\n  datasource:\n    url: jdbc:mariadb://localhost/x\n  rabbitmq:\n    host: localhost\n',
        'src/main/resources/application-prod.yml': 'spring:\n  data:\n    mongodb:\n      uri: mongodb://x\n',
      },
      ['mysql', 'rabbitmq'],
    ],
    [
      'come from Prisma',
      { 'prisma/schema.prisma': 'datasource db {\n  provider = "mysql"\n  url = env("X")\n}\n' },
      ['mysql'],
    ],
    [
      'come from a Prisma file',
      { 'prisma/schema.prisma': 'datasource db {\n  url = "file:./dev.db"\n  provider = "sqlite"\n}\n' },
      ['sqlite'],
    ],
    [
      'come from a Knex file',
      { 'knexfile.js': "module.exports = {\n  development: {\n    client: 'pg',\n  },\n}\n" },
      ['postgres'],
    ],
    [
      'come from TypeORM',
      { 'src/app.module.js': "TypeOrmModule.forRoot({\n  type: 'mysql',\n})\n" },
      ['mysql'],
    ],
    [
      'come from Mongoose in the code',
      { 'package.json': manifest({}, ['mongoose']), 'index.js': 'mongoose.connect(process.env.MONGO_URI)\n' },
      ['mongodb'],
    ],
    [
      'come from Symfony',
      {
        '.env.dist':
          'DATABASE_URL="mysql://app:x@127.0.0.1:3306/app?serverVersion=8.0"\n# DATABASE_URL="postgresql://app@localhost/app"\n',
      },
      ['mysql'],
    ],
    [
      'come from Flask',
      {
        'config.py':
          "import os\nSQLALCHEMY_DATABASE_URI = os.environ.get('DATABASE_URL') or 'sqlite:///' + os.path.join('app.db')\n",
      },
      ['sqlite'],
    ],
    [
      'come from a Go program',
      {
        'go.mod': 'module x\n\nrequire github.com/lib/pq v1.10.0\n',
        'main.go': 'package main\nfunc main() { db, _ := sql.Open("postgres", os.Getenv("DSN")) }\n',
      },
      ['postgres'],
    ],
    ['come from Entity Framework', { 'src/App.cs': 'options.UseSqlServer(x);\n' }, ['sqlserver']],
    ['come from Supabase', { 'supabase/config.toml': '[db]\nport = 54322\n' }, ['postgres']],
    [
      'come from a Procfile',
      { 'Procfile.dev': 'web: x\nkv: redis-server --port 6380\nmail: mailcatcher -f\n' },
      ['redis'],
    ],
    [
      'are not what a library tests itself with',
      {
        'test/docker-compose.yml': compose('postgres', 'mysql', 'mongo'),
        'package.json': manifest({}, ['pg', 'mysql2', 'mongodb']),
      },
      [],
    ],
    [
      'are not what examples use',
      {
        'examples/chat/compose.yml': compose('redis', 'postgres'),
        'examples/chat/package.json': manifest({}, ['pg', 'ioredis']),
      },
      [],
    ],
    [
      'are not what documents speak of',
      { 'README.md': 'Run `docker run postgres:16`, or use redis://localhost and mysql://localhost.\n' },
      [],
    ],
    [
      'are not what a pattern in the code names',
      { 'src/parse.js': "if (url.startsWith('postgres://') || url.startsWith('mysql://')) {}\n" },
      [],
    ],
    [
      'are not what only production has',
      {
        'compose.yml': compose('postgres:16'),
        'compose.prod.yml': compose('postgres:16', 'elasticsearch:8'),
        'package.json': manifest({}, ['@elastic/elasticsearch']),
      },
      ['postgres'],
    ],
    [
      'are what production has, where there is nothing else',
      {
        'docker-compose.yml':
          'services:\n  tally:\n    image: ghcr.io/acme/tally\n    environment: { NODE_ENV: production, REDIS_URL: "redis://kv" }\n  db: { image: "postgres:15" }\n  kv: { image: "redis:7" }\n  search: { image: "typesense/typesense" }\n',
        'package.json': `{ "name": "tally", "dependencies": { "pg": "1", "ioredis": "1" } }\n`,
      },
      ['postgres', 'redis'],
    ],
    ['are mail catchers too', { 'compose.yml': compose('axllent/mailpit') }, ['mail']],
    [
      'are known by the program that a Dockerfile of its own runs',
      {
        'compose.yml': 'services:\n  catcher:\n    build: { context: ., dockerfile: catcher.Dockerfile }\n',
        'catcher.Dockerfile': 'FROM node:22-alpine\nRUN npm i -g maildev\nCMD ["maildev"]\n',
      },
      ['mail'],
    ],
    [
      'are not those of one of two env examples that choose differently',
      {
        'compose.yml': compose('postgres:16'),
        'env-example-tables': 'DATABASE_TYPE=postgres\nDATABASE_HOST=db\n',
        'env-example-documents': 'DATABASE_TYPE=mongodb\nDATABASE_URL=mongodb://mongo:27017\n',
        'package.json': manifest({}, ['pg', 'mongoose']),
      },
      ['postgres'],
    ],
    [
      'are not those of a compose file whose env file turns debugging off',
      {
        'docker/docker-compose.yml':
          'services:\n  db: { image: "postgres:16" }\n  web: { build: { context: .. }, env_file: [.env] }\n',
        'docker/.env.example': 'DB=postgres\nDB_HOST=db\nDEBUG=False\n',
        'manage.py': '',
        'site/settings.py':
          'DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3"}}\nif os.getenv("DB") == "postgres":\n    DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql"}}\n',
      },
      ['sqlite'],
    ],
    [
      'are not the servers of the tests in the same file',
      { 'compose.yml': 'services:\n  db: { image: postgres }\n  mongo-test: { image: mongo }\n' },
      ['postgres'],
    ],
  ])('%s', async (_, files, expected) => {
    expect(await required(files)).toEqual(expected)
  })

  it('say how they are reached, where they were seen, and why', async () => {
    const [db] = findServices(
      await factsOf({
        'compose.yml': `services:
  web:
    build: .
    environment:
      DATABASE_URL: postgres://app:hunter2@main-db:5432/app
  main-db:
    image: postgres:16
    ports: ["\${DB_PORT:-5432}:5432"]
`,
        '.env.example': 'DATABASE_URL=postgres://localhost:5432/app\n',
      }),
    )
    expect(db).toMatchObject({
      kind: 'postgres',
      name: 'main-db',
      image: 'postgres:16',
      envKeys: ['DATABASE_URL'],
    })
    expect(db?.reason).toContain('compose.yml')
    expect(db?.ports[0]).toMatchObject({ host: 5432, variable: 'DB_PORT' })
    expect(db?.evidence[0]).toEqual({ file: 'compose.yml', line: 7, text: 'image: postgres:16' })
    expect(db?.evidence.map(one => one.file)).toContain('.env.example')
    expect(JSON.stringify(db)).not.toContain('hunter2')
  })
})
