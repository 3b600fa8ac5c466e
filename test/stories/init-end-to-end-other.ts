// The end-to-end fixtures that are projects of other languages, or on other servers than Postgres.
import type { Fixture } from '../support/end-to-end.ts'
import {
  askMongodb,
  askMysqlParts,
  askPostgres,
  mariadb,
  mongodb,
  postgres,
  redis,
} from '../support/end-to-end-servers.ts'
import { waitFor } from '../support/servers.ts'

async function answerOf(request: Promise<Response>): Promise<Response> {
  const answer = await request
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status} ${await answer.text()}`)
  return answer
}

export const otherFixtures: Fixture[] = [
  {
    name: 'django-library',
    programs: ['python3'],
    servers: {
      db: postgres({ user: 'library', password: 'library' }, 'library'),
      cache: redis(),
    },
    locks: ['requirements.txt'],
    mainEnv: ({ db, cache }) => ({
      '.env': [
        'DEBUG=on',
        'SECRET_KEY=django-insecure-k#0!x$1(w)3v&q%7',
        'ALLOWED_HOSTS=localhost,127.0.0.1',
        `POSTGRES_PORT=${db}`,
        `REDIS_PORT=${cache}`,
        `DATABASE_URL=postgres://library:library@localhost:${db}/library`,
        `CACHE_URL=redis://localhost:${cache}/0`,
        '',
      ].join('\n'),
    }),
    isActivated: true,
    prepare: ['python manage.py migrate -v0'],
    start: { PORT: '. .venv/bin/activate && exec python3 manage.py runserver --noreload "$PORT"' },
    write: async (base, title) => {
      await answerOf(fetch(`${base}/books/`, { method: 'POST', body: JSON.stringify({ title }) }))
    },
    read: async base => (await (await answerOf(fetch(`${base}/books/`))).json()) as string[],
    ask: askPostgres('DATABASE_URL'),
    queries: {
      applied: "select name from django_migrations where app = 'shelf' order by id",
      words: 'select title from shelf_book order by id',
      plant: word => `insert into shelf_book (title, author) values ('${word}', '')`,
    },
    migration: {
      files: {
        'shelf/migrations/0003_book_year.py':
          'from django.db import migrations, models\n\n\nclass Migration(migrations.Migration):\n' +
          '    dependencies = [("shelf", "0002_book_author")]\n\n' +
          '    operations = [migrations.AddField("book", "year", models.IntegerField(null=True))]\n',
      },
      applied: '0003_book_year',
    },
    seeded: ['The Left Hand of Darkness', 'Kindred'],
    own: ['DATABASE_URL', 'CACHE_URL'],
    isCloned: true,
  },
  {
    name: 'flask-inventory',
    programs: ['python3', 'make'],
    servers: {
      db: mariadb({ user: 'inventory', password: 'of the app' }, 'of root', 'inventory'),
    },
    locks: ['requirements.txt'],
    mainEnv: ({ db }) => ({
      '.env': [
        'PORT=5000',
        'DB_HOST=127.0.0.1',
        `DB_PORT=${db}`,
        'DB_NAME=inventory',
        'DB_USER=inventory',
        'DB_PASSWORD=of the app',
        'DB_ROOT_PASSWORD=of root',
        '',
      ].join('\n'),
    }),
    prepare: ['make install migrate'],
    start: { PORT: 'make run' },
    write: async (base, name) => {
      await answerOf(fetch(`${base}/items`, { method: 'POST', body: new URLSearchParams({ name }) }))
    },
    read: async base =>
      ((await (await answerOf(fetch(`${base}/items`))).json()) as { name: string }[]).map(({ name }) => name),
    ask: askMysqlParts,
    queries: {
      applied: 'select version_num from alembic_version',
      words: 'select name from items order by id',
      plant: word => `insert into items (name) values ('${word}')`,
    },
    migration: {
      files: {
        'migrations/versions/c41d09e7b5a2_shelf.py':
          'import sqlalchemy as sa\nfrom alembic import op\n\nrevision = "c41d09e7b5a2"\ndown_revision = "a86e52b1f3c7"\n\n\n' +
          'def upgrade():\n    op.add_column("items", sa.Column("shelf", sa.String(20)))\n',
      },
      applied: 'c41d09e7b5a2',
      isAlone: true,
    },
    seeded: ['Chisel', 'Marking gauge'],
    own: ['PORT', 'DB_NAME'],
    isCloned: true,
  },
  {
    name: 'goose-links',
    programs: ['go', 'make', 'goose'],
    servers: { db: postgres({ user: 'links', password: 'links' }, 'links') },
    locks: ['go.sum'],
    mainEnv: ({ db }) => ({
      '.env': [
        'LISTEN_ADDR=:8080',
        'BASE_URL=http://localhost:8080',
        `DATABASE_URL=postgres://links:links@localhost:${db}/links?sslmode=disable`,
        '',
      ].join('\n'),
    }),
    prepare: ['make migrate'],
    start: { LISTEN_ADDR: 'make run' },
    write: async (base, target) => {
      const answer = await answerOf(fetch(base, { method: 'POST', body: target }))
      const link = (await answer.text()).trim()
      if (!link.startsWith(base.replace('127.0.0.1', 'localhost'))) throw new Error(`${link} leads elsewhere`)
    },
    read: async base => (await (await answerOf(fetch(base))).json()) as string[],
    ask: askPostgres('DATABASE_URL'),
    queries: {
      applied: 'select version_id from goose_db_version where version_id > 0 order by id',
      words: 'select target from links order by id',
      plant: word => `insert into links (target) values ('${word}')`,
    },
    migration: {
      files: {
        'db/migrations/20240601080000_owner.sql':
          "-- +goose Up\nALTER TABLE links ADD COLUMN owner text NOT NULL DEFAULT '';\n\n-- +goose Down\nALTER TABLE links DROP COLUMN owner;\n",
      },
      applied: '20240601080000',
    },
    own: ['LISTEN_ADDR', 'BASE_URL', 'DATABASE_URL'],
    isCloned: true,
  },
  {
    name: 'mongo-polls',
    servers: { mongo: mongodb() },
    locks: ['package-lock.json'],
    mainEnv: ({ mongo }) => ({
      '.env': `PORT=4000\nMONGO_PORT=${mongo}\nMONGODB_URI=mongodb://localhost:${mongo}/polls\n`,
    }),
    prepare: ['npm ci', 'npm run migrate'],
    // Both programs, as the Procfile has them.
    start: { PORT: 'npm run worker & npm start' },
    async write(base, title) {
      const headers = { 'content-type': 'application/json' }
      await answerOf(fetch(`${base}/polls`, { method: 'POST', headers, body: JSON.stringify({ title }) }))
      await waitFor('the worker', async () => (await titlesOf(base)).includes(title))
    },
    read: titlesOf,
    ask: askMongodb('MONGODB_URI'),
    queries: {
      applied:
        "(await db.collection('changelog').find().sort({ fileName: 1 }).toArray()).map(one => one.fileName)",
      words: "(await db.collection('polls').find().sort({ _id: 1 }).toArray()).map(one => one.title)",
      plant: word => `[(await db.collection('polls').insertOne({ title: '${word}', slug: 'x' })).insertedId]`,
    },
    migration: {
      files: {
        'migrations/20250401090000-owners.js':
          "export const up = db => db.collection('owners').createIndex({ name: 1 })\nexport const down = async () => {}\n",
      },
      applied: '20250401090000-owners.js',
    },
    seeded: ['Tabs or spaces?', 'Where to eat?'],
    own: ['PORT', 'MONGODB_URI'],
    isCloned: true,
  },
]

async function titlesOf(base: string): Promise<string[]> {
  const polls = (await (await answerOf(fetch(`${base}/polls`))).json()) as { title: string }[]
  return polls.map(({ title }) => title)
}
