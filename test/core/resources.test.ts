import { describe, expect, it } from 'vitest'
import { findSharedResources } from '../../src/core/resources.ts'

const toMap = (text: string) =>
  new Map(
    text
      .split(' ')
      .filter(Boolean)
      .map(pair => pair.split(/=(.*)/s) as [string, string]),
  )

/** Keys that are shared, of variables `own` against those of the main checkout. */
function sharedKeys(main: string, own: string): string[] {
  const ofMain = new Map([...toMap(main)].map(([key, value]) => [key, { value, file: '.env' }]))
  return findSharedResources(toMap(own), ofMain, new Set()).map(({ key }) => key)
}

describe('host and port may equal those of the main checkout', () => {
  it.each([
    ['DB_HOST=db DB_PORT=1 DB_NAME=shop', 'DB_HOST=db DB_PORT=1 DB_NAME=ours'],
    ['DB_HOST=db DB_PORT=1 DB_DATABASE=shop', 'DB_HOST=db DB_PORT=1 DB_DATABASE=ours'],
    ['DATABASE_HOST=db DATABASE_NAME=shop', 'DATABASE_HOST=db DATABASE_NAME=ours'],
    ['MYSQL_HOST=db MYSQL_PORT=1 MYSQL_DB_NAME=shop', 'MYSQL_HOST=db MYSQL_PORT=1 MYSQL_DB_NAME=ours'],
    ['PGHOST=db PGPORT=1 PGDATABASE=shop', 'PGHOST=db PGPORT=1 PGDATABASE=ours'],
    ['REDIS_HOST=db REDIS_PORT=1 REDIS_DB=0', 'REDIS_HOST=db REDIS_PORT=1 REDIS_DB=3'],
    ['DB_HOST=db DB_NAME=shop', 'DB_NAME=ours'],
  ])('where what divides the server differs: %s', (main, own) => {
    expect(sharedKeys(main, own)).toEqual([])
  })

  it.each([
    [
      'DB_HOST=db DB_PORT=1 DB_NAME=shop',
      'DB_HOST=db DB_PORT=1 DB_NAME=shop',
      ['DB_HOST', 'DB_PORT', 'DB_NAME'],
    ],
    ['DB_HOST=db DB_NAME=shop', 'DB_HOST=db', ['DB_HOST', 'DB_NAME']],
    ['DB_PORT=1 CACHE_DB=0', 'DB_PORT=1 CACHE_DB=3', ['DB_PORT']],
    ['PGHOST=db PGDATABASE=shop', 'A=1', ['PGHOST', 'PGDATABASE']],
    ['PORT=3000 DB_NAME=shop', 'PORT=3000 DB_NAME=ours', ['PORT']],
    ['DB_NAME=shop DB_SCHEMA=main', 'DB_NAME=shop DB_SCHEMA=ours', ['DB_NAME']],
  ])('not where nothing of the same group differs: %s against %s', (main, own, shared) => {
    expect(sharedKeys(main, own)).toEqual(shared)
  })
})
