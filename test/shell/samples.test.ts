import { spawnSync } from 'node:child_process'
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFile } from '../support/install.ts'
import { makeScriptSandbox, type ScriptSandbox } from '../support/lifecycle-scripts.ts'
import { describeWith } from '../support/programs.ts'

const samples = join(import.meta.dirname, '..', '..', 'samples', 'preview')
const mine = ['files', 'sqlite']
const verbs = ['provision.sh', 'verify.sh', 'teardown.sh', 'seed.sh']
const done = { code: 0, stderr: '' }

/** Everything but what is being read for. */
function expectFailure(
  box: ScriptSandbox,
  script: string,
  text: string,
  env: Record<string, string> = {},
): void {
  const outcome = box.run(script, env)
  expect(outcome.code).toBeGreaterThan(0)
  expect(outcome.stderr).toContain(text)
}

describe.each(mine)('the sample %s', name => {
  const make = () => makeScriptSandbox(join(samples, name))

  it('is four short executable scripts for sh whose header says what they do', () => {
    for (const verb of verbs) {
      const lines = readFileSync(join(samples, name, verb), 'utf8')
        .trimEnd()
        .split('\n')
      expect(lines[0], verb).toBe('#!/bin/sh')
      expect(lines[1], verb).toMatch(/^# [A-Z].{20,}/)
      expect(lines, verb).toContain('set -eu')
      expect(lines.length, verb).toBeLessThanOrEqual(40)
    }
  })

  it('asks penv on a line of its own, so that no answer stops the script', () => {
    for (const verb of verbs)
      for (const line of readFileSync(join(samples, name, verb), 'utf8').split('\n'))
        if (line.includes('$(penv')) expect(line).toMatch(/^\w+=\$\(penv [^)]*\)$/)
  })

  it('provisions, verifies, seeds and tears down, each twice as once', () => {
    const box = make()
    for (const verb of ['provision.sh', 'provision.sh', 'verify.sh', 'verify.sh'])
      expect(box.run(verb), verb).toMatchObject(done)
    const seeded = { PENV_SEED: '1' }
    expect(box.run('seed.sh', seeded)).toMatchObject(done)
    const once = readdirSync(box.data, { recursive: true })
    expect(box.run('seed.sh', seeded)).toMatchObject(done)
    expect(readdirSync(box.data, { recursive: true })).toEqual(once)
    expect(box.run('verify.sh')).toMatchObject(done)
    for (const _ of [1, 2]) expect(box.run('teardown.sh')).toMatchObject(done)
    expect(readdirSync(box.data)).toEqual([])
  })

  it('writes the port that the environment holds, and paths below PENV_DATA', () => {
    const box = make()
    box.run('provision.sh')
    expect(box.readEnv('PORT')).toMatch(/^2\d{4}$/)
    const path = name === 'files' ? box.readEnv('DATA_DIR') : box.readEnv('DATABASE_FILE')
    expect(path.startsWith(`${box.data}/`)).toBe(true)
    expect(existsSync(path)).toBe(true)
  })

  it('tears down from the snapshot when the worktree is gone', () => {
    const box = make()
    box.run('provision.sh')
    box.removeWorktree()
    expect(box.run('teardown.sh')).toMatchObject(done)
    expect(readdirSync(box.data)).toEqual([])
  })

  it('tears down what was never provisioned', () => {
    expect(make().run('teardown.sh')).toMatchObject(done)
  })

  it('removes nothing that does not carry the id of the environment', () => {
    const box = make()
    box.run('provision.sh')
    const before = readdirSync(box.data, { recursive: true })
    expectFailure(box, 'teardown.sh', 'other_aaaaaa', { PENV_ID: 'other_aaaaaa' })
    expect(readdirSync(box.data, { recursive: true })).toEqual(before)
  })

  it('stops when penv has no answer, having written nothing', () => {
    const box = make()
    writeFile(join(box.worktree, '..', 'bin', 'penv'), '#!/bin/sh\nexit 6\n', 0o755)
    expect(box.run('provision.sh').code).toBe(6)
    expect(existsSync(join(box.worktree, '.env.preview'))).toBe(false)
    expect(readdirSync(box.data)).toEqual([])
  })

  it('fails verify when the port in the file is not the one held, or is left out', () => {
    const box = make()
    box.run('provision.sh')
    const file = join(box.worktree, '.env.preview')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(/^PORT=.*$/m, 'PORT=3000'))
    expectFailure(box, 'verify.sh', '3000')
    writeFileSync(file, text.replace(/^PORT=.*\n/m, ''))
    expectFailure(box, 'verify.sh', 'PORT is not set', {
      PORT: box.run('verify.sh').stderr.match(/\d{5}/)?.[0] ?? '',
    })
  })

  it('fails verify without .env.preview', () => {
    const box = make()
    box.run('provision.sh')
    rmSync(join(box.worktree, '.env.preview'))
    expect(box.run('verify.sh').code).toBeGreaterThan(0)
  })
})

describe('the sample files', () => {
  const make = () => makeScriptSandbox(join(samples, 'files'))

  it('fails verify when the data directory leads to main', () => {
    const box = make()
    box.run('provision.sh')
    writeFile(join(box.main, 'notes', 'one.txt'), 'of main')
    renameSync(join(box.data, 'notes'), join(box.data, 'away'))
    symlinkSync(join(box.main, 'notes'), join(box.data, 'notes'))
    expectFailure(box, 'verify.sh', join(box.main, 'notes'))
    expect(readdirSync(join(box.main, 'notes'))).toEqual(['one.txt'])
    expect(box.run('teardown.sh')).toMatchObject(done)
    expect(readFileSync(join(box.main, 'notes', 'one.txt'), 'utf8')).toBe('of main')
  })

  it('fails verify when the file names another directory', () => {
    const box = make()
    box.run('provision.sh')
    const file = join(box.worktree, '.env.preview')
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^DATA_DIR=.*$/m, 'DATA_DIR=/tmp'))
    expectFailure(box, 'verify.sh', 'DATA_DIR')
  })

  it('keeps a note that was changed since it was seeded', () => {
    const box = make()
    box.run('provision.sh')
    box.run('seed.sh', { PENV_SEED: '1' })
    const note = join(box.data, 'notes', 'welcome.txt')
    expect(readFileSync(note, 'utf8')).toContain(box.id)
    writeFileSync(note, 'mine')
    box.run('seed.sh', { PENV_SEED: '1' })
    expect(readFileSync(note, 'utf8')).toBe('mine')
  })
})

describeWith('sqlite3', 'the sample sqlite', () => {
  const make = (files: Record<string, string> = {}) => {
    const box = makeScriptSandbox(join(samples, 'sqlite'))
    for (const [name, text] of Object.entries(files)) writeFile(join(box.worktree, name), text)
    return box
  }
  const query = (file: string, sql: string) => {
    const result = spawnSync('sqlite3', ['-batch', '-init', '/dev/null', file, sql], { encoding: 'utf8' })
    expect(result.stderr).toBe('')
    return result.stdout.trimEnd()
  }
  const notes = { 'migrations/1_notes.sql': "CREATE TABLE notes (text);\nINSERT INTO notes VALUES ('first')" }

  it('applies each migration once, in the order of the names', () => {
    const box = make({ ...notes, 'migrations/2_owner.sql': 'ALTER TABLE notes ADD owner; -- the end' })
    const db = join(box.data, 'app.db')
    expect(box.run('provision.sh')).toMatchObject(done)
    writeFile(join(box.worktree, 'migrations', "3_it's.sql"), "INSERT INTO notes VALUES ('third', 'ada');\n")
    for (const _ of [1, 2]) expect(box.run('provision.sh')).toMatchObject(done)
    expect(query(db, 'SELECT version FROM schema_migrations')).toBe("1_notes.sql\n2_owner.sql\n3_it's.sql")
    expect(query(db, 'SELECT text, owner FROM notes')).toBe('first|\nthird|ada')
    expect(box.run('verify.sh')).toMatchObject(done)
  })

  it.each([
    ['fails half-way', 'CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);'],
    ['leaves a quote open', "CREATE TABLE half (x); INSERT INTO half VALUES ('"],
    ['leaves a comment open', 'CREATE TABLE half (x); /* and so on'],
  ])('leaves nothing of a migration that %s, and goes on from there', (_, text) => {
    const box = make({ ...notes, 'migrations/2_bad.sql': text })
    expect(box.run('provision.sh').code).toBeGreaterThan(0)
    const db = join(box.data, 'app.db')
    expect(query(db, 'SELECT version FROM schema_migrations')).toBe('1_notes.sql')
    expect(query(db, "SELECT count(*) FROM sqlite_master WHERE name = 'half'")).toBe('0')
    writeFile(join(box.worktree, 'migrations', '2_bad.sql'), 'CREATE TABLE half (x);')
    expect(box.run('provision.sh')).toMatchObject(done)
    expect(query(db, 'SELECT count(*) FROM schema_migrations')).toBe('2')
  })

  it('quietly does without migrations, and leaves them alone with --no-migrate', () => {
    const bare = make()
    expect(bare.run('provision.sh')).toMatchObject(done)
    expect(query(join(bare.data, 'app.db'), '.tables')).toBe('')
    const box = make(notes)
    expect(box.run('provision.sh', { PENV_NO_MIGRATE: '1' })).toMatchObject(done)
    expect(query(join(box.data, 'app.db'), '.tables')).toBe('')
  })

  it('begins with --seed as a copy of main, with the rows that are still in its write-ahead log', () => {
    const box = make(notes)
    const main = join(box.main, 'data', 'app.db')
    writeFile(main, '')
    query(
      main,
      `CREATE TABLE schema_migrations (version TEXT PRIMARY KEY); ${notes['migrations/1_notes.sql']};
      INSERT INTO schema_migrations VALUES ('1_notes.sql'); PRAGMA journal_mode = wal`,
    )
    // A program that still has the file open: sqlite3 waits for its input while the script runs.
    const holder = `( printf '%s\\n' "INSERT INTO notes VALUES ('in the log');" "SELECT 'ready';"; read -r _ <"$2" ) | sqlite3 "$1"`
    const fifo = join(box.worktree, '..', 'fifo')
    spawnSync('mkfifo', [fifo])
    const wait = 'n=0; until [ -s "$2.out" ]; do n=$((n + 1)); [ $n -lt 1000000 ] || exit 99; done'
    const script = `${holder} >"$2.out" & ${wait}; "$3"; code=$?; echo >"$2"; wait; exit $code`
    const before = readdirSync(join(box.main, 'data'))
    const args = ['-c', script, 'sh', main, fifo, join(box.worktree, '.preview', 'provision.sh')]
    const outcome = box.spawn('sh', args, { PENV_SEED: '1' })
    expect(outcome).toMatchObject(done)
    expect(query(join(box.data, 'app.db'), 'SELECT text FROM notes')).toBe('first\nin the log')
    expect(readdirSync(join(box.main, 'data'))).toEqual(before)
    expect(box.run('verify.sh')).toMatchObject(done)
    query(join(box.data, 'app.db'), 'DELETE FROM notes')
    expect(query(main, 'SELECT count(*) FROM notes')).toBe('2')
  })

  it.each([
    [
      'has a migration that the branch lacks',
      "INSERT INTO schema_migrations VALUES ('9_later.sql')",
      '9_later.sql',
    ],
    ['has no list of its migrations', 'DROP TABLE schema_migrations', 'no list'],
  ])('refuses to copy main when that %s', (_, sql, text) => {
    const box = make(notes)
    const main = join(box.main, 'data', 'app.db')
    writeFile(main, '')
    query(main, `CREATE TABLE schema_migrations (version TEXT PRIMARY KEY); ${sql}`)
    expectFailure(box, 'provision.sh', text, { PENV_SEED: '1' })
    expect(existsSync(join(box.data, 'app.db'))).toBe(false)
    expect(box.run('provision.sh')).toMatchObject(done)
  })

  it('applies seeds once, after the migrations', () => {
    const box = make({ ...notes, 'seeds/demo.sql': "INSERT INTO notes VALUES ('demo')" })
    box.run('provision.sh')
    for (const _ of [1, 2]) expect(box.run('seed.sh', { PENV_SEED: '1' })).toMatchObject(done)
    expect(query(join(box.data, 'app.db'), 'SELECT text FROM notes')).toBe('first\ndemo')
  })

  it('does not depend on the settings of whoever runs it', () => {
    const box = make({ ...notes, 'seeds/demo.sql': "INSERT INTO notes VALUES ('demo')" })
    writeFile(join(box.worktree, '..', '.sqliterc'), '.headers on\n.mode box\n')
    for (const verb of ['provision.sh', 'provision.sh', 'seed.sh', 'seed.sh', 'verify.sh'])
      expect(box.run(verb, { PENV_SEED: '1' }), verb).toMatchObject(done)
    expect(query(join(box.data, 'app.db'), 'SELECT count(*) FROM notes')).toBe('2')
  })

  it('fails verify when the file is main, by name or by link, or is damaged', () => {
    const box = make(notes)
    box.run('provision.sh')
    const db = join(box.data, 'app.db')
    const file = join(box.worktree, '.env.preview')
    const text = readFileSync(file, 'utf8')
    const main = join(box.main, 'data', 'app.db')
    writeFile(main, '')
    writeFileSync(file, text.replace(/^DATABASE_FILE=.*$/m, `DATABASE_FILE="${main}"`))
    expectFailure(box, 'verify.sh', main)
    writeFileSync(file, text)
    expect(box.run('verify.sh')).toMatchObject(done)
    const content = readFileSync(db)
    rmSync(db)
    symlinkSync(main, db)
    expectFailure(box, 'verify.sh', db)
    rmSync(db)
    writeFileSync(db, content.fill(0x41, 100))
    expect(box.run('verify.sh').code).toBeGreaterThan(0)
  })
})

describe('scripts written for the original penv', () => {
  const original = join(import.meta.dirname, '..', 'fixtures', 'original-scripts', '.preview')

  it('run unchanged: provision, verify, seed, teardown, and teardown from the snapshot', () => {
    for (const isGone of [false, true]) {
      const box = makeScriptSandbox(original)
      const servers = join(box.worktree, '..', 'servers')
      writeFile(join(box.worktree, 'migrations', '1.sql'), 'create table users;\n')
      const env = { FAKE_SERVERS: servers, PENV_SEED: '1' }
      for (const verb of ['provision.sh', 'provision.sh', 'verify.sh', 'seed.sh', 'verify.sh'])
        expect(box.run(verb, env), verb).toMatchObject(done)
      const database = `preview_${box.id}`
      expect(readdirSync(join(servers, 'postgres'))).toEqual([database])
      expect(readdirSync(join(servers, 'postgres', database))).toEqual(['schema', 'users'])
      const [index] = readdirSync(join(servers, 'redis'))
      expect(Number(index)).toBeGreaterThanOrEqual(2)
      expect(Number(index)).toBeLessThanOrEqual(63)
      expect(box.readEnv('API_URL')).toBe(`http://localhost:${box.readEnv('PORT')}/v1?name=preview&x=1`)
      if (isGone) box.removeWorktree()
      for (const _ of [1, 2]) expect(box.run('teardown.sh', env)).toMatchObject(done)
      expect([readdirSync(join(servers, 'postgres')), readdirSync(join(servers, 'redis'))]).toEqual([[], []])
    }
  })

  it('are bash', () => {
    for (const verb of verbs) {
      const text = readFileSync(join(original, verb), 'utf8')
      expect(text.startsWith('#!/usr/bin/env bash\n')).toBe(true)
      expect(text).toContain('set -euo pipefail')
    }
  })
})

describeWith('shellcheck', 'samples read by shellcheck', () => {
  it.each(mine)('%s is clean', name => {
    const paths = verbs.map(verb => join(samples, name, verb))
    expect(spawnSync('shellcheck', paths, { encoding: 'utf8' }).stdout).toBe('')
  })
})

describeWith('dash', 'samples read by dash', () => {
  it.each(mine)('%s is POSIX', name => {
    for (const verb of verbs)
      expect(spawnSync('dash', ['-n', join(samples, name, verb)], { encoding: 'utf8' }).stderr).toBe('')
  })
})
