// The end-to-end fixtures that are Node projects.
import type { Fixture } from '../support/end-to-end.ts'
import {
  askMysqlParts,
  askPostgres,
  askSqlite,
  mariadb,
  postgres,
  redis,
} from '../support/end-to-end-servers.ts'

/** Words by a JSON API: a list at `path`, and a POST that adds to it. */
function wordsAt(path: string): Pick<Fixture, 'write' | 'read'> {
  return {
    async write(base, text) {
      const answer = await fetch(`${base}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text }),
      })
      if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`)
    },
    async read(base) {
      const answer = await fetch(`${base}${path}`)
      if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`)
      return ((await answer.json()) as { text: string }[]).map(({ text }) => text)
    },
  }
}

export const nodeFixtures: Fixture[] = [
  {
    name: 'knex-sessions',
    servers: {
      db: postgres({ user: 'guestbook', password: 'not the one of the example' }, 'guestbook'),
      sessions: redis(),
    },
    locks: ['package-lock.json'],
    mainEnv: ({ db, sessions }) => ({
      '.env': [
        'PORT=3000',
        `POSTGRES_PORT=${db}`,
        `REDIS_PORT=${sessions}`,
        `DATABASE_URL=postgres://guestbook:not%20the%20one%20of%20the%20example@localhost:${db}/guestbook`,
        `REDIS_URL=redis://localhost:${sessions}/0`,
        'SESSION_SECRET=5b0f1c6d2e9a47788d3c4e5f60718293',
        '',
      ].join('\n'),
    }),
    prepare: ['npm ci', 'npm run migrate'],
    start: { PORT: 'npm start' },
    ...wordsAt('/entries'),
    ask: askPostgres('DATABASE_URL'),
    queries: {
      applied: 'select name from knex_migrations order by id',
      words: 'select text from entries order by id',
      plant: word => `insert into entries (text) values ('${word}')`,
    },
    migration: {
      files: {
        'migrations/20250611080000_add_likes.js':
          "export const up = knex => knex.schema.alterTable('entries', table => table.integer('likes').notNullable().defaultTo(0))\n" +
          "export const down = knex => knex.schema.alterTable('entries', table => table.dropColumn('likes'))\n",
      },
      applied: '20250611080000_add_likes.js',
    },
    seeded: ['Welcome!'],
    own: ['PORT', 'DATABASE_URL', 'REDIS_URL'],
    isCloned: true,
  },
  {
    name: 'drizzle-libsql',
    servers: {},
    programs: ['sqlite3'],
    locks: ['package-lock.json'],
    mainEnv: () => ({ '.env': 'DB_FILE_NAME=file:local.db\nPORT=8787\nPAGE_SIZE=50\n' }),
    prepare: ['npm ci', 'npm run db:migrate'],
    start: { PORT: 'npm start' },
    ...wordsAt('/bookmarks'),
    ask: askSqlite('DB_FILE_NAME'),
    queries: {
      applied: 'select created_at from __drizzle_migrations order by created_at',
      words: 'select text from bookmarks order by id',
      plant: word => `insert into bookmarks (text) values ('${word}')`,
    },
    migration: {
      files: {
        'drizzle/0002_notes.sql': 'ALTER TABLE `bookmarks` ADD `note` text;\n',
        'drizzle/meta/_journal.json': `${JSON.stringify({
          version: '7',
          dialect: 'sqlite',
          entries: [
            { idx: 0, version: '6', when: 1736850000000, tag: '0000_first_bookmarks', breakpoints: true },
            { idx: 1, version: '6', when: 1739880000000, tag: '0001_starred', breakpoints: true },
            { idx: 2, version: '6', when: 1749600000000, tag: '0002_notes', breakpoints: true },
          ],
        })}\n`,
      },
      applied: '1749600000000',
    },
    own: ['PORT', 'DB_FILE_NAME'],
    isCloned: false,
  },
  {
    name: 'prisma-pnpm',
    servers: { db: postgres({ user: 'postgres', password: 'postgres' }, 'tickets') },
    programs: ['pnpm'],
    locks: ['pnpm-lock.yaml'],
    mainEnv: ({ db }) => ({
      '.env': [
        `DATABASE_URL=postgresql://postgres:postgres@localhost:${db}/tickets?schema=public`,
        'PORT=4000',
        'PUBLIC_URL=http://localhost:4000',
        'CORS_ORIGIN=http://localhost:5173',
        'LOG_LEVEL=debug',
        'JWT_SECRET=e6f9c8a1',
        '',
      ].join('\n'),
    }),
    prepare: ['pnpm install --frozen-lockfile', 'pnpm prisma migrate deploy'],
    start: { PORT: 'pnpm start' },
    ...wordsAt('/tickets'),
    ask: askPostgres('DATABASE_URL'),
    queries: {
      applied:
        'select migration_name from _prisma_migrations where finished_at is not null order by migration_name',
      words: 'select text from "Ticket" order by id',
      plant: word => `insert into "Ticket" (text) values ('${word}')`,
    },
    migration: {
      files: {
        'prisma/migrations/20250610090000_assignee/migration.sql':
          '-- AlterTable\nALTER TABLE "Ticket" ADD COLUMN "assignee" TEXT;\n',
      },
      applied: '20250610090000_assignee',
    },
    own: ['PORT', 'PUBLIC_URL', 'DATABASE_URL'],
    isCloned: true,
  },
  {
    name: 'workspaces-sequelize',
    servers: {
      db: mariadb({ user: 'depot', password: 'depot-s3cret' }, 'root-s3cret', 'depot'),
    },
    locks: ['package-lock.json'],
    mainEnv: ({ db }) => ({
      '.env': [
        'WEB_PORT=3000',
        'API_PORT=3001',
        'API_URL=http://localhost:3001',
        'DB_HOST=127.0.0.1',
        `DB_PORT=${db}`,
        'DB_NAME=depot',
        'DB_USER=depot',
        'DB_PASSWORD=depot-s3cret',
        'DB_ROOT_PASSWORD=root-s3cret',
        'API_TOKEN=t0ken-of-main',
        '',
      ].join('\n'),
    }),
    prepare: ['npm ci', 'npm run migrate'],
    start: { WEB_PORT: 'npm start -w @depot/web', API_PORT: 'npm start -w @depot/api' },
    ...wordsAt('/items'),
    ask: askMysqlParts,
    queries: {
      applied: 'select name from SequelizeMeta order by name',
      words: 'select text from items order by id',
      plant: word => `insert into items (text) values ('${word}')`,
    },
    migration: {
      files: {
        'apps/api/migrations/20250609070000-add-weight.js':
          "module.exports = {\n  up: (queryInterface, { INTEGER }) => queryInterface.addColumn('items', 'weight', { type: INTEGER }),\n" +
          "  down: queryInterface => queryInterface.removeColumn('items', 'weight'),\n}\n",
      },
      applied: '20250609070000-add-weight.js',
    },
    own: ['WEB_PORT', 'API_PORT', 'API_URL', 'DB_NAME'],
    isCloned: true,
  },
]
