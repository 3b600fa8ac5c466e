import { describe, expect, it } from 'vitest'
import { findSharedResources, namesResource, parseSharedList } from '../../src/core/resources.ts'

type Vars = Record<string, string>

/** What main's `.env` and the environment's file share, as `KEY how`. */
function shared(main: Vars, own: Vars, allowed: string[] = []): string[] {
  const found = findSharedResources(
    new Map(Object.entries(own)),
    new Map(Object.entries(main).map(([key, value]) => [key, { value, file: '.env' }])),
    new Set(allowed),
  )
  return found.map(({ key, how, file }) => {
    expect(file).toBe('.env')
    return `${key} ${how}`
  })
}

describe('a variable names a resource', () => {
  it.each([
    ['PORT', '3000'],
    ['API_PORT', '3000'],
    ['DB_HOST', 'localhost'],
    ['DB_NAME', 'shop'],
    ['POSTGRES_DB', 'shop'],
    ['DATABASE_URL', 'postgres://u:p@localhost:5432/shop'],
    ['ANYTHING', 'redis://127.0.0.1:6379/0'],
    ['ANYTHING', 'mysql://db/shop'],
    ['ANYTHING', 'sqlite:./dev.db'],
    ['ANYTHING', 'file:./dev.db'],
    ['REDIS_INDEX', '0'],
    ['KAFKA_TOPIC', 'orders'],
    ['S3_BUCKET', 'shop'],
    ['CALLBACK', 'http://localhost:3000/back'],
    ['CALLBACK', 'https://shop.localhost/back'],
    ['MAIL', 'smtp://localhost:1025'],
    ['PGDATABASE', 'shop'],
    ['PGPORT', '5432'],
    ['REDISHOST', 'localhost'],
    ['BROKERS', 'a:9092,b:9092'],
    ['AZURE_CONNECTION', 'Endpoint=sb://a/;Key=b'],
    ['LISTEN_ADDR', ':8080'],
    ['HTTP_LISTEN', '127.0.0.1:8080'],
  ])('%s=%s', (key, value) => {
    expect(namesResource(key, value)).toBe(true)
  })

  it.each([
    ['PORT', ''],
    ['NODE_ENV', 'development'],
    ['SECRET', 'abc'],
    ['LOG_LEVEL', 'debug'],
    ['STRIPE_API', 'https://api.stripe.com/v1'],
    ['SENTRY_DSN', 'https://key@o1.ingest.sentry.io/2'],
    ['SUPPORT', 'yes'],
    ['REPORT', 'weekly'],
    ['CORS_ORIGIN', 'http://localhost:5173'],
    ['ALLOWED_ORIGINS', 'http://localhost:3000,http://localhost:5173'],
    ['DB_CONNECTION', 'mysql'],
  ])('but not %s=%s', (key, value) => {
    expect(namesResource(key, value)).toBe(false)
  })
})

describe('an environment shares with the main checkout', () => {
  it.each<[string, Vars, Vars, string[]]>([
    ['nothing where all differs', { PORT: '3000' }, { PORT: '20411' }, []],
    ['a port that is equal', { PORT: '3000' }, { PORT: '3000' }, ['PORT equal']],
    ['a port that is not set here', { PORT: '3000' }, {}, ['PORT unset']],
    ['a port that is set empty on both sides: nothing', { PORT: '' }, {}, []],
    [
      'a database URL that is equal',
      { DATABASE_URL: 'postgres://u:p@localhost/shop' },
      { DATABASE_URL: 'postgres://u:p@localhost/shop' },
      ['DATABASE_URL equal'],
    ],
    [
      'no server whose database differs',
      { DB_HOST: 'localhost', DB_PORT: '5432', DB_NAME: 'shop' },
      { DB_HOST: 'localhost', DB_PORT: '5432', DB_NAME: 'preview_login' },
      [],
    ],
    [
      'no server whose database differs, though host and port are not even set here',
      { DB_HOST: 'localhost', DB_PORT: '5432', DB_NAME: 'shop' },
      { DB_NAME: 'preview_login' },
      [],
    ],
    ...[
      ['POSTGRES_HOST', 'POSTGRES_PORT', 'POSTGRES_DB'],
      ['DB_HOST', 'DB_PORT', 'DB_DATABASE'],
      ['PGHOST', 'PGPORT', 'PGDATABASE'],
      ['REDIS_HOST', 'REDIS_PORT', 'REDIS_DB'],
      ['REDIS_HOST', 'REDIS_PORT', 'REDIS_DB_INDEX'],
      ['REDIS_HOST', 'REDIS_PORT', 'REDIS_PREFIX'],
      ['SHOP_DB_HOST', 'SHOP_DB_PORT', 'SHOP_DB_NAME'],
      ['SHOP_HOST', 'SHOP_PORT', 'SHOP_DB_NAME'],
      ['RABBITMQ_HOST', 'RABBITMQ_PORT', 'RABBITMQ_VHOST'],
    ].map(([host = '', port = '', slice = '']): [string, Vars, Vars, string[]] => [
      `no server where ${slice} differs`,
      { [host]: 'db.internal', [port]: '5432', [slice]: '0' },
      { [host]: 'db.internal', [port]: '5432', [slice]: '7' },
      [],
    ]),
    [
      'the port of the app beside a database of its own',
      { PORT: '1', DATABASE: 'a' },
      { PORT: '1', DATABASE: 'b' },
      ['PORT equal'],
    ],
    [
      'a server whose database is the same too',
      { DB_HOST: 'localhost', DB_PORT: '5432', DB_NAME: 'shop' },
      { DB_HOST: 'localhost', DB_PORT: '5432', DB_NAME: 'shop' },
      ['DB_PORT equal', 'DB_NAME equal'],
    ],
    [
      'a database of another host',
      { DB_HOST: 'db.internal', DB_NAME: 'shop' },
      { DB_HOST: 'db.internal', DB_NAME: 'shop' },
      ['DB_HOST equal', 'DB_NAME equal'],
    ],
    [
      'one server of two, told apart by their groups',
      { A_PORT: '1', A_DB: 'x', B_PORT: '2', B_DB: 'y' },
      { A_PORT: '1', A_DB: 'mine', B_PORT: '2', B_DB: 'y' },
      ['B_PORT equal', 'B_DB equal'],
    ],
    ['no secret, and no setting', { SECRET: 'abc', NODE_ENV: 'x' }, { SECRET: 'abc' }, []],
    ['no variable of penv', { PENV_ID: 'a_1' }, { PENV_ID: 'a_1' }, []],
    [
      'no service elsewhere',
      { API_URL: 'https://api.stripe.com' },
      { API_URL: 'https://api.stripe.com' },
      [],
    ],
    ['nothing with localhost alone', { APP_HOST: 'localhost' }, { APP_HOST: 'localhost' }, []],
  ])('%s', (_, main, own, expected) => {
    expect(shared(main, own)).toEqual(expected)
  })

  it('nothing of a server of its own, although the database has the same name there', () => {
    const main = { DB_HOST: 'localhost', DB_PORT: '5432', DB_NAME: 'shop' }
    expect(shared(main, { ...main, DB_PORT: '20411' })).toEqual([])
    const app = { APP_HOST: 'localhost', APP_PORT: '3000', APP_DB: 'shop' }
    expect(shared(app, { ...app, APP_PORT: '20411' })).toEqual(['APP_DB equal'])
  })

  it('nothing that the repository lists as shared', () => {
    expect(shared({ PORT: '3000', SMTP_PORT: '1025' }, { PORT: '3000' }, ['SMTP_PORT'])).toEqual([
      'PORT equal',
    ])
  })

  it.each(['__proto__', 'constructor', 'toString'])('nothing by way of the name %s', key => {
    expect(shared({ [key]: 'postgres://h/d' }, {})).toEqual([`${key} unset`])
  })

  it('and never tells a value', () => {
    const found = findSharedResources(
      new Map([['DATABASE_URL', 'postgres://u:s3cret@localhost/shop']]),
      new Map([['DATABASE_URL', { value: 'postgres://u:s3cret@localhost/shop', file: '.env' }]]),
      new Set(),
    )
    expect(JSON.stringify(found)).not.toContain('s3cret')
  })
})

describe('the list of shared keys', () => {
  it.each([
    ['', []],
    ['SMTP_PORT', ['SMTP_PORT']],
    ['SMTP_PORT\nMAIL_URL\n', ['SMTP_PORT', 'MAIL_URL']],
    ['# why\r\n\r\n  SMTP_PORT  # one mail server\r\n', ['SMTP_PORT']],
    ['#SMTP_PORT', []],
  ])('%j names %j', (text, keys) => {
    expect([...parseSharedList(text)]).toEqual(keys)
  })
})
