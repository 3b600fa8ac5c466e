import { describe, expect, it } from 'vitest'
import {
  bearId,
  decideIdentity,
  hashOf,
  ID_MAX_LENGTH,
  type Marker,
  recordOfMarker,
  slugOf,
} from '../../src/core/identity.ts'
import type { EnvironmentRecord } from '../../src/core/ledger.ts'
import { makeLedger, makeRecord } from '../support/records.ts'

const free = () => false

describe('the slug of a text', () => {
  it.each([
    ['login', 'login'],
    ['shop-login', 'shop_login'],
    ['feat/Login.v2', 'feat_login_v2'],
    ['--rf', 'rf'],
    ['  my tree  ', 'my_tree'],
    ['Äpfel', 'apfel'],
    ['ﬁx', 'fix'],
    ['42-answer', 'w42_answer'],
    ["it's", 'it_s'],
    ['a__b', 'a_b'],
    ['Кириллица', ''],
    ['日本語', ''],
    ['🦊', ''],
    ['', ''],
    ['___', ''],
  ])('of %j is %j', (text, slug) => {
    expect(slugOf(text)).toBe(slug)
  })
})

describe('the hash of a text', () => {
  it('is SHA-256 in 51 digits of base32 without letters that read like digits', () => {
    expect(hashOf('')).toMatch(/^[0-9a-hjkmnp-tv-z]{51}$/)
    // SHA-256 of nothing begins e3b0c442 98fc: 11100 01110 11000 01100 01000 10000 10100
    expect(hashOf('').slice(0, 7)).toBe('werc8gm')
  })
})

describe('the id of a new environment', () => {
  it('is a slug of the directory and six characters of the hash of its path', () => {
    expect(bearId('/home/u/shop-login', '', free)).toBe(
      `shop_login_${hashOf('/home/u/shop-login').slice(0, 6)}`,
    )
  })

  it.each([
    '/t/login',
    `/t/${'very-long-name-'.repeat(20)}`,
    '/t/42',
    '/t/-rf',
    '/t/my tree',
    '/t/it\'s "x"',
    '/t/Кириллица',
    '/t/日本語',
    '/t/🦊',
    '/t/a\nb',
    '/t/____',
    '/t/exactly_twenty_chars',
    '/t/cut_at_an_underline_x',
    '/',
  ])('is short plain ASCII from a letter on: %j', root => {
    const id = bearId(root, '', free)
    expect(id).toMatch(/^[a-z][a-z0-9_]*_[0-9a-z]{6}$/)
    expect(id).not.toMatch(/__/)
    expect(id.length).toBeLessThanOrEqual(ID_MAX_LENGTH)
  })

  it('differs wherever the path differs, if only in script, case or sign', () => {
    const roots = [
      '/a/fix',
      '/b/fix',
      '/a/Fix',
      '/a/FIX',
      '/a/f-i-x',
      '/a/f_i_x',
      '/a/фикс',
      '/a/修正',
      '/a/🦊',
      '/a/🐻',
    ]
    expect(new Set(roots.map(root => bearId(root, '', free))).size).toBe(roots.length)
  })

  it('differs in each namespace, so that machines can share a database server', () => {
    const ids = ['', 'ci1', 'ci2'].map(namespace => bearId('/t/login', namespace, free))
    expect(new Set(ids).size).toBe(3)
  })

  it('gets a longer hash while it is taken', () => {
    const taken = new Set<string>()
    const lengths: number[] = []
    for (let turn = 0; turn < 4; turn++) {
      const id = bearId('/t/login', '', candidate => taken.has(candidate))
      taken.add(id)
      lengths.push(id.length)
    }
    expect(lengths).toEqual([12, 13, 14, 15])
  })

  it('never runs out, however often one path was used and never destroyed', () => {
    const taken = new Set<string>()
    for (let turn = 0; turn < 300; turn++) {
      const id = bearId('/t/a-name-of-more-than-twenty', '', candidate => taken.has(candidate))
      expect(id).toMatch(/^[a-z][a-z0-9_]{2,26}$/)
      taken.add(id)
    }
    expect(taken.size).toBe(300)
  })
})

describe('marker and record together', () => {
  const here = { root: '/trees/a', gitDir: '/repo/.git/worktrees/a', commonDir: '/repo/.git' }
  const record = makeRecord('a_1', { root: here.root, gitDir: here.gitDir, repo: here.commonDir })
  const marker: Marker = { id: record.id, nonce: record.nonce }
  const decide = (
    records: EnvironmentRecord[],
    ours: Marker | undefined,
    isStillThere: (record: EnvironmentRecord) => boolean = () => {
      throw new Error('not asked for')
    },
    place = here,
  ) => decideIdentity(makeLedger(records), ours, place, isStillThere)

  it('are ours when the path is the same', () => {
    expect(decide([record], marker)).toEqual({ kind: 'known', record, moved: false })
  })

  it('are ours and moved when nothing of ours is at the old path any more', () => {
    const old = { ...record, root: '/trees/old' }
    expect(decide([old], marker, () => false)).toEqual({ kind: 'known', record: old, moved: true })
  })

  it.each([
    ['git directory', { gitDir: '/repo/.git/worktrees/b' }],
    ['repository', { repo: '/elsewhere/.git' }],
  ])('are ours and moved when only the %s is another one', (_, parts) => {
    const old = { ...record, ...parts }
    expect(decide([old], marker)).toMatchObject({ kind: 'known', moved: true })
  })

  it('are a copy while the old path still is this worktree', () => {
    const original = { ...record, root: '/trees/original' }
    expect(() => decide([original], marker, () => true)).toThrow(
      expect.objectContaining({
        code: 'COPIED_WORKTREE',
        exit: 3,
        message: expect.stringContaining('/trees/original'),
        details: { id: 'a_1', root: '/trees/original' },
      }),
    )
  })

  it('tell a copy with a git directory of its own how to become an environment of its own', () => {
    const original = { ...record, root: '/trees/original', gitDir: '/repo/.git/worktrees/original' }
    const place = { ...here, gitDir: '/repo/.git/worktrees/my copy' }
    expect(() => decide([original], marker, () => true, place)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("rm '/repo/.git/worktrees/my copy/penv'") }),
    )
  })

  it('are new when the ledger does not know the marker', () => {
    expect(decide([], marker)).toEqual({ kind: 'new' })
  })

  it('are new when the id of the marker belongs to another nonce', () => {
    const other = { ...record, nonce: 'another', root: '/trees/b' }
    expect(decide([other], marker)).toEqual({ kind: 'new' })
    expect(recordOfMarker(makeLedger([other]), marker)).toBeUndefined()
  })

  it('are new beside an orphan when the worktree was re-created at the same path', () => {
    expect(decide([record], undefined)).toEqual({ kind: 'new', orphan: record })
  })

  it('are new when there is neither', () => {
    expect(decide([makeRecord('b_2')], undefined)).toEqual({ kind: 'new' })
  })

  it.each(['__proto__', 'constructor', 'toString'])('are new for a marker of the id %s', id => {
    expect(decide([record], { id, nonce: 'x' })).toEqual({ kind: 'new' })
  })
})
