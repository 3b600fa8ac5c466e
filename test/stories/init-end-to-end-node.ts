// The end-to-end fixtures that are Node projects.
import type { Fixture } from '../support/end-to-end.ts'
import { askPostgres, postgres, redis } from '../support/end-to-end-servers.ts'

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
    own: ['PORT', 'DATABASE_URL', 'REDIS_URL'],
    isCloned: true,
  },
]
