import { describe, expect, it } from 'vitest'
import { findMigrations, type Migration } from '../../src/core/stack/migrations.ts'
import { factsOf, manifest } from '../support/facts-of.ts'

type Files = Record<string, string>
type Expected = Partial<
  Pick<
    Migration,
    'folder' | 'directory' | 'command' | 'seed' | 'isAppliedByApp' | 'database' | 'isOwnCommand'
  >
>

const prismaSchema = 'datasource db {\n  provider = "postgresql"\n  url = env("DATABASE_URL")\n}\n'
const prisma: Files = { 'prisma/schema.prisma': prismaSchema, 'prisma/migrations/1_init/migration.sql': '' }
const knexfile =
  "module.exports = { client: 'pg', migrations: { directory: './db/migrations' }, seeds: { directory: './db/seeds' } }\n"
const goMod = (line: string) =>
  `module example.com/app\n\nrequire (\n\t${line}\n\tgithub.com/jackc/pgx/v5 v5.6.0\n)\n`
const managePy = 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "app.settings")\n'
const pom = (artifact: string) =>
  `<project><parent><artifactId>spring-boot-starter-parent</artifactId></parent><dependencies><dependency><artifactId>${artifact}</artifactId></dependency></dependencies></project>\n`

/** tool, what is special, the repository, what must be found. */
const rows: [tool: string, title: string, files: Files, expected: Expected][] = [
  [
    'prisma',
    'with npm',
    { 'package.json': manifest({}), ...prisma },
    { command: 'npx prisma migrate deploy', directory: 'prisma/migrations', database: 'postgres' },
  ],
  [
    'prisma',
    'with pnpm by lock file',
    { 'package.json': manifest({}), 'pnpm-lock.yaml': '', ...prisma },
    { command: 'pnpm exec prisma migrate deploy' },
  ],
  [
    'prisma',
    'with yarn by lock file',
    { 'package.json': manifest({}), 'yarn.lock': '', ...prisma },
    { command: 'yarn prisma migrate deploy' },
  ],
  [
    'prisma',
    'with bun by lock file',
    { 'package.json': manifest({}), 'bun.lock': '', ...prisma },
    { command: 'bunx prisma migrate deploy' },
  ],
  [
    'prisma',
    'with a script of its own',
    { 'package.json': manifest({ 'db:migrate': 'prisma migrate deploy' }), ...prisma },
    { command: 'npm run db:migrate', isOwnCommand: true },
  ],
  [
    'prisma',
    'with scripts that develop, reset and deploy elsewhere',
    {
      'package.json': manifest({
        migrate: 'prisma migrate dev',
        'db:migrate:reset': 'prisma migrate reset',
        'migrate:prod': 'prisma migrate deploy',
        build: 'prisma migrate deploy && next build',
      }),
      ...prisma,
    },
    { command: 'npx prisma migrate deploy', isOwnCommand: false },
  ],
  [
    'prisma',
    'without migrations: the schema is pushed',
    { 'package.json': manifest({}), 'prisma/schema.prisma': prismaSchema },
    { command: 'npx prisma db push', directory: undefined },
  ],
  [
    'prisma',
    'in a workspace, called from there',
    {
      'package.json': manifest({}),
      'pnpm-lock.yaml': '',
      'packages/db/package.json': manifest({ 'db:deploy': 'prisma migrate deploy' }),
      'packages/db/prisma/schema.prisma': prismaSchema,
      'packages/db/prisma/migrations/1_a/migration.sql': '',
    },
    { folder: 'packages/db', command: 'pnpm run db:deploy' },
  ],
  [
    'prisma',
    'in a workspace, through a script of the root',
    {
      'package.json': manifest({ 'db:migrate': 'pnpm --filter db exec-migrate' }),
      'pnpm-lock.yaml': '',
      'packages/db/package.json': manifest({ 'exec-migrate-all': 'x' }),
      'packages/db/prisma/schema.prisma': prismaSchema,
      'packages/db/prisma/migrations/1_a/migration.sql': '',
    },
    { folder: 'packages/db', command: 'pnpm exec prisma migrate deploy' },
  ],
  [
    'prisma',
    'with a seed in its manifest',
    { 'package.json': '{"prisma":{"seed":"tsx prisma/seed.ts"}}', ...prisma },
    { seed: 'npx prisma db seed' },
  ],
  [
    'prisma',
    'with a schema elsewhere',
    {
      'package.json': manifest({}),
      'src/db/schema.prisma': prismaSchema,
      'src/db/migrations/1_a/migration.sql': '',
    },
    { command: 'npx prisma migrate deploy --schema src/db/schema.prisma', directory: 'src/db/migrations' },
  ],
  [
    'drizzle',
    'with migrations',
    {
      'package.json': manifest({}),
      'drizzle.config.ts':
        "export default { dialect: 'postgresql', out: './drizzle', schema: './src/schema.ts' }\n",
      'drizzle/meta/_journal.json': '{}',
    },
    { command: 'npx drizzle-kit migrate', directory: 'drizzle', database: 'postgres' },
  ],
  [
    'drizzle',
    'without migrations',
    { 'package.json': manifest({}), 'drizzle.config.ts': "export default { dialect: 'sqlite' }\n" },
    { command: 'npx drizzle-kit push', directory: undefined, database: 'sqlite' },
  ],
  [
    'drizzle',
    'through a program that calls its migrator',
    {
      'package.json': manifest({ 'db:migrate': 'tsx src/db/migrate.ts' }),
      'src/db/migrate.ts': "import { migrate } from 'drizzle-orm/postgres-js/migrator'\n",
      'drizzle.config.ts': "export default { out: './drizzle' }\n",
      'drizzle/meta/_journal.json': '{}',
    },
    { command: 'npm run db:migrate' },
  ],
  [
    'knex',
    'with seeds',
    {
      'package.json': manifest({}, ['knex']),
      'knexfile.js': knexfile,
      'db/migrations/1_a.js': '',
      'db/seeds/a.js': '',
    },
    {
      command: 'npx knex migrate:latest',
      directory: 'db/migrations',
      seed: 'npx knex seed:run',
      database: 'postgres',
    },
  ],
  [
    'knex',
    'with a knexfile that is not at the root',
    {
      'package.json': manifest({}),
      'db/knexfile.js': "module.exports = { client: 'mysql2', migrations: { directory: './migrations' } }\n",
      'db/migrations/1_a.js': '',
    },
    {
      command: 'npx knex migrate:latest --knexfile db/knexfile.js',
      directory: 'db/migrations',
      database: 'mysql',
    },
  ],
  [
    'typeorm',
    'with a TypeScript data source',
    {
      'package.json': manifest({}, ['typeorm']),
      'src/data-source.ts':
        "export const AppDataSource = new DataSource({ type: 'postgres', migrations: ['src/migrations/*.ts'] })\n",
      'src/migrations/1700000000000-Init.ts': '',
    },
    {
      command: 'npx typeorm-ts-node-commonjs migration:run -d src/data-source.ts',
      directory: 'src/migrations',
    },
  ],
  [
    'sequelize',
    'with .sequelizerc',
    {
      'package.json': manifest({}, ['sequelize-cli']),
      '.sequelizerc': "module.exports = { 'migrations-path': path.resolve('db', 'migrations') }\n",
      'db/migrations/1-a.js': '',
      'db/seeders/1-a.js': '',
    },
    {
      command: 'npx sequelize-cli db:migrate',
      directory: 'db/migrations',
      seed: 'npx sequelize-cli db:seed:all',
    },
  ],
  [
    'mikro-orm',
    'with migrations',
    {
      'package.json': manifest({}),
      'mikro-orm.config.ts': "export default { migrations: { path: './migrations' } }\n",
      'migrations/Migration20240101000000.ts': '',
    },
    { command: 'npx mikro-orm migration:up', directory: 'migrations' },
  ],
  [
    'kysely',
    'with its command line tool',
    {
      'package.json': manifest({}),
      'kysely.config.ts': "export default { migrations: { migrationFolder: 'migrations' } }\n",
      'migrations/1_a.ts': '',
    },
    { command: 'npx kysely migrate:latest', directory: 'migrations' },
  ],
  [
    'kysely',
    'with a program of the repository',
    {
      'package.json': manifest({ migrate: 'tsx scripts/migrate.ts' }, ['kysely']),
      'scripts/migrate.ts':
        "import { Migrator, FileMigrationProvider } from 'kysely'\nawait new Migrator({ provider: new FileMigrationProvider({}) }).migrateToLatest()\n",
      'migrations/1_a.ts': '',
    },
    { command: 'npm run migrate' },
  ],
  [
    'rails',
    'with its binstub and a seed',
    {
      Gemfile: 'gem "rails"\n',
      'bin/rails': '#!/usr/bin/env ruby\n',
      'config/application.rb': '',
      'db/migrate/20240101_a.rb': '',
      'db/schema.rb': '',
      'db/seeds.rb': 'User.create!\n',
    },
    { command: 'bin/rails db:migrate', directory: 'db/migrate', seed: 'bin/rails db:seed' },
  ],
  [
    'rails',
    'without a binstub, and a seed that only has comments',
    {
      Gemfile: 'gem "rails"\n',
      'config/application.rb': '',
      'db/migrate/20240101_a.rb': '',
      'db/seeds.rb': '# nothing yet\n',
    },
    { command: 'bundle exec rails db:migrate', seed: undefined },
  ],
  [
    'django',
    'with poetry',
    { 'manage.py': managePy, 'poetry.lock': '', 'shop/migrations/0001_initial.py': '' },
    { command: 'poetry run python3 manage.py migrate --noinput', directory: 'shop/migrations' },
  ],
  [
    'django',
    'with uv, in a folder',
    {
      'backend/manage.py': managePy,
      'backend/uv.lock': '',
      'backend/a/migrations/0001_initial.py': '',
      'backend/b/migrations/0001_initial.py': '',
    },
    { folder: 'backend', command: 'uv run python3 manage.py migrate --noinput', directory: undefined },
  ],
  [
    'django',
    'with pipenv and a make target',
    {
      'manage.py': managePy,
      Pipfile: '[packages]\ndjango = "*"\n',
      Makefile: 'migrate:\n\tpipenv run python manage.py migrate\n',
    },
    { command: 'make migrate' },
  ],
  [
    'django',
    'with a make target that makes migrations too',
    {
      'manage.py': managePy,
      Makefile: 'migrate:\n\tpython manage.py makemigrations\n\tpython manage.py migrate\n',
    },
    { command: 'python3 manage.py migrate --noinput' },
  ],
  [
    'django',
    'with a make target inside the main checkout’s container',
    { 'manage.py': managePy, Makefile: 'migrate:\n\tdocker compose exec web python manage.py migrate\n' },
    { command: 'python3 manage.py migrate --noinput' },
  ],
  [
    'migrate-mongo',
    'by its configuration, and with a script of the manifest',
    {
      'package.json': manifest({ migrate: 'migrate-mongo up' }),
      'migrate-mongo-config.js':
        'module.exports = { mongodb: { url: process.env.MONGODB_URI }, migrationsDir: "db/changes" }\n',
      'db/changes/20250101000000-a.js': '',
    },
    { command: 'npm run migrate', directory: 'db/changes', database: 'mongodb' },
  ],
  [
    'unknown',
    'by the name of a command alone',
    {
      'package.json': manifest({
        'migrate:create': 'node scripts/new.js',
        migrate: 'node scripts/migrate.js',
      }),
      'scripts/migrate.js': 'connect(process.env.MONGODB_URI)\n',
    },
    { command: 'npm run migrate', directory: undefined, isOwnCommand: true },
  ],
  [
    'django',
    'with fixtures that its README loads',
    {
      'manage.py': managePy,
      'shop/fixtures/goods.json': '[]',
      'shop/fixtures/people.yaml': '',
      'README.md':
        '    python manage.py migrate\n    python manage.py loaddata goods shop/fixtures/people.yaml\n',
    },
    { seed: 'python3 manage.py loaddata goods shop/fixtures/people.yaml' },
  ],
  [
    'django',
    'with fixtures that are made elsewhere, or loaded by tests alone',
    {
      'manage.py': managePy,
      'shop/fixtures/goods.json': '[]',
      'README.md': 'python manage.py loaddata dump.json\n',
      '.github/workflows/test.yml': 'run: python manage.py loaddata goods\n',
    },
    { seed: undefined },
  ],
  [
    'alembic',
    'with poetry',
    {
      'alembic.ini': '[alembic]\nscript_location = migrations\n',
      'migrations/env.py': 'import os\nos.environ\n',
      'migrations/versions/a.py': '',
      'poetry.lock': '',
    },
    { command: 'poetry run alembic upgrade head', directory: 'migrations/versions' },
  ],
  [
    'flask-migrate',
    'by its folder',
    {
      'requirements.txt': 'Flask-Migrate==4.0\n',
      'migrations/alembic.ini': '[alembic]\n',
      'migrations/env.py': '',
    },
    { command: 'flask db upgrade', directory: 'migrations', folder: '' },
  ],
  [
    'laravel',
    'with a seeder',
    {
      artisan: '#!/usr/bin/env php\n',
      'composer.json': '{}',
      'database/migrations/2024_a.php': '',
      'database/seeders/DatabaseSeeder.php': '<?php\n',
    },
    { command: 'php artisan migrate --no-interaction', seed: 'php artisan db:seed --no-interaction' },
  ],
  [
    'laravel',
    'with a composer script',
    {
      artisan: '',
      'composer.json': '{"scripts":{"migrate":"@php artisan migrate"}}',
      'database/migrations/2024_a.php': '',
    },
    { command: 'composer run-script migrate' },
  ],
  [
    'doctrine',
    'in Symfony',
    {
      'composer.json': '{"require":{"doctrine/doctrine-migrations-bundle":"^3"}}',
      'bin/console': '#!/usr/bin/env php\n',
      'migrations/Version20240101.php': '',
    },
    {
      command: 'php bin/console doctrine:migrations:migrate --no-interaction --allow-no-migration',
      directory: 'migrations',
    },
  ],
  [
    'golang-migrate',
    'by its module',
    {
      'go.mod': goMod('github.com/golang-migrate/migrate/v4 v4.17.1'),
      'db/migrations/000001_init.up.sql': '',
      'db/migrations/000001_init.down.sql': '',
    },
    {
      command:
        'PGSSLMODE="${PGSSLMODE:-disable}" go run -tags postgres github.com/golang-migrate/migrate/v4/cmd/migrate@v4.17.1 -path db/migrations -database "$url" up',
      database: 'postgres',
    },
  ],
  [
    'golang-migrate',
    'by a make target with a variable of its own',
    {
      'go.mod': goMod('x.org/y v1.0.0'),
      Makefile:
        'DB_URL=postgres://app:app@localhost:5432/app?sslmode=disable\n\nmigrate-up:\n\tmigrate -path db/migrations -database "$(DB_URL)" up\n',
      'db/migrations/000001_init.up.sql': '',
    },
    { command: 'make migrate-up DB_URL="$url"', directory: 'db/migrations' },
  ],
  [
    'golang-migrate',
    'by a make target with a literal URL, which is not used',
    {
      Makefile: 'migrate-up:\n\tmigrate -path db/migrations -database postgres://app@localhost/app up\n',
      'db/migrations/000001_init.up.sql': '',
    },
    { command: 'migrate -path db/migrations -database "$url" up' },
  ],
  [
    'golang-migrate',
    'built into the program',
    {
      'go.mod': goMod('github.com/golang-migrate/migrate/v4 v4.17.1'),
      'main.go': 'package main\nvar m, _ = migrate.New("a", "b")\n',
      'migrations/1_init.up.sql': '',
    },
    { command: undefined, isAppliedByApp: true },
  ],
  [
    'goose',
    'by its module',
    { 'go.mod': goMod('github.com/pressly/goose/v3 v3.20.0'), 'migrations/00001_init.sql': '' },
    {
      command:
        'GOOSE_DRIVER=postgres GOOSE_DBSTRING="$url" go run github.com/pressly/goose/v3/cmd/goose@v3.20.0 -dir migrations up',
    },
  ],
  [
    'dbmate',
    'from npm',
    { 'package.json': manifest({}, ['dbmate']), 'db/migrations/20240101_a.sql': '' },
    {
      command: 'PGSSLMODE="${PGSSLMODE:-disable}" DATABASE_URL="$url" npx dbmate --no-dump-schema migrate',
      directory: 'db/migrations',
    },
  ],
  [
    'atlas',
    'by its sum',
    { 'atlas.hcl': 'env "local" {}\n', 'migrations/atlas.sum': 'h1:x\n', 'migrations/1_a.sql': '' },
    { command: 'atlas migrate apply --url "$url" --dir file://migrations' },
  ],
  [
    'flyway',
    'inside Spring',
    { 'pom.xml': pom('flyway-core'), 'src/main/resources/db/migration/V1__init.sql': '' },
    { command: undefined, isAppliedByApp: true, directory: 'src/main/resources/db/migration' },
  ],
  [
    'flyway',
    'by itself',
    { 'flyway.conf': 'flyway.locations=filesystem:sql\n', 'sql/migrations/V1__a.sql': '' },
    { command: 'flyway migrate', isAppliedByApp: false },
  ],
  [
    'liquibase',
    'inside Spring',
    {
      'pom.xml': pom('liquibase-core'),
      'src/main/resources/db/changelog/db.changelog-master.yaml': 'databaseChangeLog: []\n',
    },
    { isAppliedByApp: true },
  ],
  [
    'ecto',
    'with a seed',
    {
      'mix.exs': 'defp deps, do: [{:ecto_sql, "~> 3.10"}]\n',
      'priv/repo/migrations/20240101_a.exs': '',
      'priv/repo/seeds.exs': 'Repo.insert!(%User{})\n',
    },
    { command: 'mix ecto.migrate', seed: 'mix run priv/repo/seeds.exs' },
  ],
  [
    'ecto',
    'in an umbrella, from its root',
    {
      'mix.exs': 'def project, do: [apps_path: "apps"]\n',
      'apps/core/mix.exs': '{:ecto_sql, "~> 3.10"}\n',
      'apps/core/priv/repo/migrations/20240101_a.exs': '',
    },
    { folder: '', command: 'mix ecto.migrate' },
  ],
  [
    'sqlx',
    'with its tool',
    {
      'Cargo.toml': '[dependencies]\nsqlx = { version = "0.8", features = ["postgres"] }\n',
      'migrations/20240101_a.sql': '',
    },
    { command: 'DATABASE_URL="$url" sqlx migrate run', database: 'postgres' },
  ],
  [
    'sqlx',
    'built into the program',
    {
      'Cargo.toml': '[dependencies]\nsqlx = "0.8"\n',
      'src/main.rs': 'sqlx::migrate!().run(&pool).await?;\n',
      'migrations/20240101_a.sql': '',
    },
    { command: undefined, isAppliedByApp: true },
  ],
  [
    'diesel',
    'with diesel.toml',
    {
      'Cargo.toml': '[dependencies]\ndiesel = { version = "2", features = ["mysql"] }\n',
      'diesel.toml': '[migrations_directory]\ndir = "migrations"\n',
      'migrations/2024-01-01-000000_a/up.sql': '',
    },
    { command: 'DATABASE_URL="$url" diesel migration run', directory: 'migrations', database: 'mysql' },
  ],
  [
    'sea-orm',
    'as a crate',
    {
      'Cargo.toml': '[workspace]\nmembers = ["migration"]\n',
      'migration/Cargo.toml': '[dependencies]\nsea-orm-migration = "1"\n',
      'migration/src/main.rs': '',
      'migration/src/m20240101_000001_a.rs': '',
    },
    { command: 'cargo run --quiet --manifest-path migration/Cargo.toml -- up' },
  ],
  [
    'ef-core',
    'with a web project beside it',
    {
      'src/Data/Data.csproj': '<Project Sdk="Microsoft.NET.Sdk"/>',
      'src/Data/Migrations/AppDbContextModelSnapshot.cs': '',
      'src/Web/Web.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"/>',
    },
    {
      command: 'dotnet ef database update --project src/Data --startup-project src/Web',
      directory: 'src/Data/Migrations',
    },
  ],
]

describe('findMigrations', () => {
  it.each(rows)('finds %s %s', async (tool, _title, files, expected) => {
    const found = findMigrations(await factsOf(files))
    expect(found.map(one => one.tool)).toEqual([tool])
    expect(found[0]).toMatchObject(expected)
    expect(found[0]?.evidence[0]?.line).toBeGreaterThan(0)
  })

  it.each([
    [
      'a dependency alone',
      {
        'package.json': manifest({}, [
          'prisma',
          'drizzle-orm',
          'knex',
          'typeorm',
          'sequelize-cli',
          'kysely',
          '@mikro-orm/core',
          'dbmate',
        ]),
        'requirements.txt': 'alembic\nflask-migrate\ndjango\n',
        'go.mod': goMod('github.com/pressly/goose/v3 v3.20.0 // indirect'),
        'Cargo.toml': '[dependencies]\nsqlx = "0.8"\ndiesel = "2"\n',
        'composer.json': '{"require":{"doctrine/migrations":"^3"}}',
        'pom.xml': pom('flyway-core'),
      },
    ],
    [
      'a folder that no tool is known for',
      { 'migrations/001_init.sql': 'create table a();\n', 'db/migrations/1_a.up.sql': '' },
    ],
    [
      'the migrations of a test fixture',
      {
        'package.json': manifest({}),
        'test/fixtures/app/prisma/schema.prisma': prismaSchema,
        'examples/knexfile.js': knexfile,
      },
    ],
    [
      'database migrations of an indirect module',
      {
        'go.mod': goMod('github.com/golang-migrate/migrate/v4 v4.17.1 // indirect'),
        'sql/schema/000001_init.up.sql': '',
      },
    ],
  ] as [string, Files][])('does not take %s for a migration tool', async (_title, files) => {
    expect(findMigrations(await factsOf(files)).map(one => one.tool)).toEqual([])
  })

  it.each([
    [
      'prisma',
      { 'package.json': manifest({ 'db:setup': 'prisma migrate reset --force' }), ...prisma },
      'db:setup',
      'prisma migrate reset',
    ],
    [
      'through another script',
      {
        'package.json': manifest({
          setup: 'npm run db:recreate && npm run dev',
          'db:recreate': 'prisma db push --force-reset',
        }),
        ...prisma,
      },
      'setup',
      'prisma db push --force-reset',
    ],
    [
      'rails',
      {
        Gemfile: 'gem "rails"\n',
        'config/application.rb': '',
        'db/migrate/1_a.rb': '',
        Makefile: 'setup:\n\tbin/rails db:drop db:create db:schema:load\n',
      },
      'setup',
      'bin/rails db:drop',
    ],
    [
      'laravel',
      {
        artisan: '',
        'composer.json': '{"scripts":{"setup":["@php artisan migrate:fresh --seed"]}}',
        'database/migrations/1_a.php': '',
      },
      'setup',
      'artisan migrate:fresh',
    ],
    [
      'plain SQL in a script',
      {
        'package.json': manifest({ 'db:init': 'sh scripts/init.sh' }),
        ...prisma,
        'scripts/init.sh': '#!/bin/sh\npsql -c "DROP DATABASE IF EXISTS app"\n',
      },
      'db:init',
      'DROP DATABASE',
    ],
    [
      'compose volumes',
      {
        'package.json': manifest({ 'dev:setup': 'docker compose down -v && docker compose up -d' }),
        ...prisma,
      },
      'dev:setup',
      'docker compose down -v',
    ],
    [
      'an alias of mix',
      {
        'mix.exs':
          '[\n  {:ecto_sql, "~> 3"},\n  "ecto.setup": ["ecto.drop --quiet", "ecto.create", "ecto.migrate"]\n]\n',
        'priv/repo/migrations/1_a.exs': '',
      },
      'ecto.setup',
      'mix ecto.drop',
    ],
  ] as [string, Files, string, string][])(
    'flags a set-up that drops first: %s',
    async (_title, files, name, what) => {
      const [migration] = findMigrations(await factsOf(files))
      expect(migration?.destructive).toContainEqual(expect.objectContaining({ name, isUnexpected: true }))
      expect(migration?.destructive.find(one => one.name === name)?.what).toContain(
        what.replace(/^bin\//, ''),
      )
      expect(migration?.command).not.toContain(name)
    },
  )

  it('passes over a Makefile that includes a file which a worktree does not have', async () => {
    const makefile = (include: string) => `${include} .env\nmigrate:\n\tnpx prisma migrate deploy\n`
    const command = async (include: string) => {
      const facts = await factsOf({ 'package.json': manifest({}), ...prisma, Makefile: makefile(include) })
      return findMigrations(facts)[0]?.command
    }
    expect(await command('include')).toBe('npx prisma migrate deploy')
    expect(await command('-include')).toBe('make migrate')
  })

  it('asks for the command where none is known, and names the folder', async () => {
    const [migration] = findMigrations(
      await factsOf({
        'package.json': manifest({}, ['kysely']),
        'src/db.ts': "import { Migrator } from 'kysely'\nnew Migrator({})\n",
        'migrations/1_a.ts': '',
      }),
    )
    expect(migration?.command).toBeUndefined()
    expect(migration?.question).toContain('migrations')
  })

  it.each([
    [
      'a knexfile',
      {
        'package.json': manifest({}),
        'knexfile.js':
          "module.exports = { client: 'pg', connection: 'postgres://a@localhost/app', migrations: {} }\n",
        'migrations/1_a.js': '',
      },
      'knexfile.js:1',
    ],
    [
      'a Prisma schema',
      {
        'package.json': manifest({}),
        'prisma/schema.prisma':
          'datasource db {\n  provider = "postgresql"\n  url = "postgresql://a@localhost/app"\n}\n',
        'prisma/migrations/1/m.sql': '',
      },
      'prisma/schema.prisma:3',
    ],
    [
      'config.json of Sequelize',
      {
        'package.json': manifest({}, ['sequelize-cli']),
        '.sequelizerc': '',
        'config/config.json': '{\n"development": {"host": "localhost"}}',
        'migrations/1_a.js': '',
      },
      'config/config.json:2',
    ],
    [
      'dev.exs',
      {
        'mix.exs': '{:ecto_sql, "~> 3"}\n',
        'priv/repo/migrations/1_a.exs': '',
        'config/dev.exs':
          'import Config\n\nconfig :chat, Chat.Repo,\n  hostname: "localhost",\n  database: "chat_dev"\n\nconfig :chat, X, url: System.get_env("X")\n',
      },
      'config/dev.exs:5',
    ],
    [
      'Django’s settings',
      {
        'manage.py': managePy,
        'shop/settings.py':
          'SECRET = env("X")\nDATABASES = {\n  "default": {"ENGINE": "django.db.backends.postgresql", "NAME": "shop"}\n}\nX = 1\n',
      },
      'shop/settings.py:3',
    ],
  ] as [string, Files, string][])(
    'asks how the database is chosen where %s names it',
    async (_title, files, place) => {
      const [migration] = findMigrations(await factsOf(files))
      expect(migration?.question).toContain(`${place} names the database itself`)
    },
  )

  it.each([
    [
      'reads a variable',
      "module.exports = { client: 'pg', connection: process.env.DATABASE_URL || 'postgres://a@localhost/app', migrations: {} }\n",
    ],
    [
      'takes it from another module',
      "const { url } = require('./config')\nmodule.exports = { client: 'pg', connection: { host: 'localhost', url }, migrations: {} }\n",
    ],
  ])('does not ask where the configuration %s', async (_title, text) => {
    const [migration] = findMigrations(
      await factsOf({ 'package.json': manifest({}), 'knexfile.js': text, 'migrations/1_a.js': '' }),
    )
    expect(migration?.question).toBeUndefined()
  })

  it('lists the folder, the schema and the lock file as what shapes the schema', async () => {
    const [migration] = findMigrations(
      await factsOf({ 'package.json': manifest({}), 'pnpm-lock.yaml': '', ...prisma }),
    )
    expect(migration?.inputs).toEqual(['prisma/migrations', 'prisma/schema.prisma', 'pnpm-lock.yaml'])
  })

  it.each([
    [
      'a literal URL in a script',
      { 'db:migrate': 'DATABASE_URL=postgres://a:b@localhost/app prisma migrate deploy' },
    ],
    ['a sourced .env', { 'db:migrate': 'set -a && . ./.env && prisma migrate deploy' }],
    ['dotenv that overrides', { 'db:migrate': 'dotenv -o -e .env -- prisma migrate deploy' }],
    [
      'an env file that a worktree does not have',
      { 'db:migrate': 'node --env-file=.env node_modules/.bin/prisma migrate deploy' },
    ],
    ['a seed in the same script', { 'db:migrate': 'prisma migrate deploy && prisma db seed' }],
  ])('passes over a script with %s', async (_title, scripts) => {
    const [migration] = findMigrations(await factsOf({ 'package.json': manifest(scripts), ...prisma }))
    expect(migration?.command).toBe('npx prisma migrate deploy')
  })
})
