// The servers of the end-to-end fixtures: real ones, each with the account of the fixture's compose file, and ways to
// ask a database without the app.
import { resolve } from 'node:path'
import { missingMongodb, mongosh, startMongodb } from '../servers/mongodb-server.ts'
import { query as askMysql, missingMysql, startMysql } from '../servers/mysql-server.ts'
import { missingPostgres, query, startPostgres } from '../servers/postgres-server.ts'
import { command, missingRedis, startRedis } from '../servers/redis-server.ts'
import type { FixtureServer, Variables } from './end-to-end.ts'
import { runClient } from './servers.ts'

export interface Account {
  user: string
  password: string
}

/** @param database the main checkout's, which the image makes at its first start. */
export function postgres(account: Account, database: string): FixtureServer {
  return {
    missing: missingPostgres,
    async start() {
      const server = await startPostgres(account)
      await query(server, 'postgres', `create database ${database}`)
      return {
        version: server.version,
        port: server.port,
        look: () => query(server, 'postgres', 'select datname from pg_database order by 1'),
        stop: () => server.stop(),
      }
    },
  }
}

/** With the accounts of an image: root, who may make databases, and the app's, who has the one that is made for it. */
export function mariadb(account: Account, rootPassword: string, database: string): FixtureServer {
  return {
    missing: missingMysql,
    async start() {
      const server = await startMysql({ root: rootPassword })
      const ask = (sql: string) => askMysql(server, 'mysql', sql)
      await ask(`create database ${database}`)
      await ask(`create user ${account.user}@'%' identified by '${account.password}'`)
      await ask(`grant all on ${database}.* to ${account.user}@'%'`)
      return {
        version: server.version,
        port: server.port,
        look: () =>
          Promise.all([ask('show databases'), ask('select user, host from global_priv order by 1, 2')]),
        stop: () => server.stop(),
      }
    },
  }
}

/** With no account, as its image is mostly used; here FerretDB, which speaks the same protocol. */
export function mongodb(): FixtureServer {
  return {
    missing: missingMongodb,
    async start() {
      const server = await startMongodb({ hasLogin: false })
      return {
        version: server.version,
        port: server.port,
        look: () =>
          runClient(mongosh as string, [
            '--quiet',
            '--norc',
            '--eval',
            'print(db.getMongo().getDBNames().sort().join())',
            server.env.MONGO_URL as string,
          ]),
        stop: () => server.stop(),
      }
    },
  }
}

/** With a session of the main checkout's in database 0. */
export function redis(): FixtureServer {
  return {
    missing: missingRedis,
    async start() {
      const server = await startRedis('')
      await command(server, '0', 'SET', 'session:of-main', '1')
      return {
        version: server.version,
        port: Number(server.address.split(':')[1]),
        async look() {
          const sizes = await command(server, '0', 'INFO', 'keyspace')
          return [sizes.replace(/,.*$/gm, ''), await command(server, '0', 'GET', 'session:of-main')]
        },
        stop: () => server.stop(),
      }
    },
  }
}

/** Asks the database of a URL with psql; what an ORM adds to a URL is none of libpq's. */
export function askPostgres(key: string) {
  return (variables: Variables, _tree: string, sql: string): Promise<string> =>
    runClient('psql', [
      '-XAtqw',
      '-v',
      'ON_ERROR_STOP=1',
      '-d',
      (variables[key] ?? '').replace(/\?.*/, ''),
      '-c',
      sql,
    ])
}

/** Asks the database that the parts of an address name, `DB_HOST` and its like. */
export function askMysqlParts(variables: Variables, _tree: string, sql: string): Promise<string> {
  const { DB_HOST = '', DB_PORT = '', DB_USER = '', DB_PASSWORD = '', DB_NAME = '' } = variables
  const env = {
    MYSQL_HOST: DB_HOST,
    MYSQL_TCP_PORT: DB_PORT,
    MYSQL_USER: DB_USER,
    MYSQL_PWD: DB_PASSWORD,
  }
  return askMysql({ env }, DB_NAME, sql)
}

/** Asks by the app's own driver: `query` is an expression over `db` whose value is a list of lines. */
export function askMongodb(key: string) {
  return (variables: Variables, tree: string, query: string): Promise<string> =>
    runClient(process.execPath, [
      '--input-type=module',
      '--eval',
      `import { createRequire } from 'node:module'
const { MongoClient } = createRequire(process.argv[1] + '/')('mongodb')
const client = new MongoClient(process.argv[2])
const db = client.db()
console.log((${query}).join('\\n'))
await client.close()`,
      tree,
      variables[key] ?? '',
    ])
}

/** Asks the database in a file; a path that is not absolute is one in the checkout. */
export function askSqlite(key: string) {
  return (variables: Variables, tree: string, sql: string): Promise<string> =>
    runClient('sqlite3', [
      '-batch',
      '-cmd',
      '.timeout 5000',
      resolve(tree, (variables[key] ?? '').replace(/^file:/, '')),
      sql,
    ])
}
