// The servers of the end-to-end fixtures: real ones, each with the account of the fixture's compose file, and ways to
// ask a database without the app.

import { join } from 'node:path'
import { missingMysql, query as queryMysql, startMysql } from '../servers/mysql-server.ts'
import { missingPostgres, query, startPostgres } from '../servers/postgres-server.ts'
import { command, missingRedis, startRedis } from '../servers/redis-server.ts'
import type { FixtureServer, Variables } from './end-to-end.ts'
import { findProgram, missingPrograms, runClient } from './servers.ts'

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

/** As the image makes it: root, who may do all, and an account that may use the main checkout's database alone. */
export function mysql(account: Account & { rootPassword: string }, database: string): FixtureServer {
  const { user, password, rootPassword } = account
  return {
    missing: missingMysql,
    async start() {
      const server = await startMysql()
      await queryMysql(
        server,
        'mysql',
        `create database ${database}; create user ${user}@'%' identified by '${password}';` +
          `grant all on ${database}.* to ${user}@'%'; drop user if exists root@'127.0.0.1', root@'::1'; create user root@'%' identified by '${rootPassword}';` +
          "grant all on *.* to root@'%' with grant option",
      )
      return {
        version: server.version,
        port: server.port,
        look: () => queryMysql(server, 'mysql', 'show databases'),
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

export const missingSqlite = missingPrograms({ sqlite3: findProgram('sqlite3') })

/** Asks the database in a file; a path that is not absolute is one in the checkout. */
export function askSqlite(key: string) {
  return (variables: Variables, tree: string, sql: string): Promise<string> => {
    const path = (variables[key] ?? '').replace(/^file:/, '')
    return runClient('sqlite3', [
      '-batch',
      '-cmd',
      '.timeout 5000',
      join(path.startsWith('/') ? '' : tree, path),
      sql,
    ])
  }
}

export function askMysql(keys: {
  host: string
  port: string
  user: string
  password: string
  database: string
}) {
  return (variables: Variables, _tree: string, sql: string): Promise<string> => {
    const said = (key: string) => variables[key] ?? ''
    const server = {
      env: {
        MYSQL_HOST: said(keys.host),
        MYSQL_TCP_PORT: said(keys.port),
        MYSQL_USER: said(keys.user),
        MYSQL_PWD: said(keys.password),
      },
    }
    return queryMysql(server, said(keys.database), sql)
  }
}
