import { describe, expect, it } from 'vitest'
import {
  chooseIndex,
  choosePort,
  composeName,
  FULL_NAME_MAX_LENGTH,
  holdersOf,
  recordedValue,
  requireInPool,
  requireInRange,
  requireName,
  toKebab,
  withPort,
  withReleased,
} from '../../src/core/allocate.ts'
import { emptyLedger, type Ledger, withRecord } from '../../src/core/ledger.ts'
import { parsePortRange } from '../../src/core/ranges.ts'
import { makeLedger, makeRecord } from '../support/records.ts'

interface Wish {
  id?: string
  name?: string
  range: string
  busy?: number[]
  isMacOs?: boolean
}

function choose(ledger: Ledger, { id = 'a_1', name = 'web', range, busy = [], isMacOs = false }: Wish) {
  return choosePort(ledger, { id, name, range: parsePortRange(range), busy: new Set(busy), isMacOs })
}

/** All ports that a range yields, one environment after the other. */
function drain(range: string, wish: Partial<Wish> = {}): number[] {
  const ports: number[] = []
  let ledger = emptyLedger()
  for (;;) {
    const id = `e_${ports.length}`
    const port = choose(ledger, { ...wish, id, range })
    if (port === undefined) return ports.sort((a, b) => a - b)
    ports.push(port)
    ledger = withRecord(ledger, makeRecord(id, { ports: { web: port } }))
  }
}

// "bad port" of https://fetch.spec.whatwg.org/#port-blocking
const BLOCKED = [
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]

describe('the choice of a port', () => {
  it.each([
    ['41000-41003', [41000, 41001, 41002, 41003]],
    ['41000', [41000]],
    ['6663-6670', [6663, 6664, 6670]],
    ['5999-6001', [5999, 6001]],
    ['6665-6669', []],
    ['10079-10081', [10079, 10081]],
    ['5058-5063', [5058, 5059, 5062, 5063]],
    ['65534-65535', [65534, 65535]],
  ])('yields from %s exactly what a browser opens', (range, ports) => {
    expect(drain(range)).toEqual(ports)
  })

  it('never yields a port of the fetch standard', () => {
    for (const port of BLOCKED)
      expect(choose(emptyLedger(), { range: String(port) }), `${port}`).toBeUndefined()
  })

  it('leaves 5000 and 7000 to AirPlay on macOS only', () => {
    expect([drain('5000-5001'), drain('7000-7001')]).toEqual([
      [5000, 5001],
      [7000, 7001],
    ])
    expect([drain('5000-5001', { isMacOs: true }), drain('7000-7001', { isMacOs: true })]).toEqual([
      [5001],
      [7001],
    ])
  })

  it('passes over what is busy, and over what any environment holds under any name', () => {
    const ledger = makeLedger([
      makeRecord('a_1', { ports: { api: 41000 } }),
      makeRecord('b_2', { repo: '/other/.git', ports: { admin: 41002 } }),
    ])
    expect(choose(ledger, { range: '41000-41003', busy: [41001] })).toBe(41003)
    expect(choose(ledger, { range: '41000-41003', busy: [41001, 41003] })).toBeUndefined()
  })

  it('passes over what is chosen in the same breath', () => {
    const request = {
      id: 'a_1',
      name: 'web',
      range: { first: 41000, last: 41001 },
      busy: new Set<number>(),
      isMacOs: false,
    }
    const first = choosePort(emptyLedger(), request) as number
    expect(choosePort(emptyLedger(), request, new Set([first]))).toBe(first === 41000 ? 41001 : 41000)
  })

  it('begins at a place of its own for each id and name, and always at the same', () => {
    const place = (id: string, name: string) => choose(emptyLedger(), { id, name, range: '20000-29999' })
    expect(place('a_1', 'web')).toBe(place('a_1', 'web'))
    const places = ['a_1', 'b_2', 'c_3'].flatMap(id => ['web', 'api'].map(name => place(id, name)))
    expect(new Set(places).size).toBe(6)
  })

  it('prefers a port that nobody else has just released', () => {
    const ledger = makeLedger([], { released: [{ port: 41000, id: 'gone_1' }] })
    expect(choose(ledger, { range: '41000-41001' })).toBe(41001)
  })

  it('takes a just released port when it is the only one left', () => {
    const ledger = makeLedger([makeRecord('b_2', { ports: { web: 41001 } })], {
      released: [{ port: 41000, id: 'gone_1' }],
    })
    expect(choose(ledger, { range: '41000-41001' })).toBe(41000)
  })

  it('gives a re-created environment its own port back', () => {
    const wish = { id: 'a_1', name: 'web', range: '41000-41009' }
    const first = choose(emptyLedger(), wish) as number
    const ledger = withReleased(emptyLedger(), 'a_1', [first])
    expect(choose(ledger, wish)).toBe(first)
  })
})

describe('released ports', () => {
  it('are remembered once, under whoever released them last', () => {
    const once = withReleased(emptyLedger(), 'a_1', [41000, 41001])
    expect(withReleased(once, 'b_2', [41000]).released).toEqual([
      { port: 41001, id: 'a_1' },
      { port: 41000, id: 'b_2' },
    ])
  })

  it('do not grow without end: the newest stay', () => {
    let ledger = emptyLedger()
    for (let port = 20000; port < 20500; port++) ledger = withReleased(ledger, 'a_1', [port])
    const ports = (ledger.released ?? []).map(entry => entry.port)
    expect(ports.length).toBeLessThanOrEqual(128)
    expect(ports.at(-1)).toBe(20499)
  })

  it('change nothing when there are none', () => {
    const ledger = emptyLedger()
    expect(withReleased(ledger, 'a_1', [])).toBe(ledger)
  })
})

describe('the choice of an index', () => {
  const held = makeLedger([
    makeRecord('a_1', { indexes: { redis: { value: 1, pool: 'default', range: '1-15' } } }),
    makeRecord('b_2', { indexes: { cache: { value: 3, pool: 'default', range: '3-9' } } }),
    makeRecord('c_3', { indexes: { redis: { value: 2, pool: 'second', range: '1-15' } } }),
  ])

  it.each([
    ['the lowest number that is free, whatever its holder calls it', 1, 15, 'default', 2],
    ['a number that another range of the same pool does not hold', 3, 15, 'default', 4],
    ['a number of another server in its own pool', 1, 15, 'second', 1],
    ['none when all are held', 3, 3, 'default', undefined],
    ['none when the only one is held by a range that overlaps', 1, 1, 'default', undefined],
    ['0 when that is asked for', 0, 15, 'default', 0],
  ])('yields %s', (_, first, last, pool, value) => {
    expect(chooseIndex(held, { first, last }, pool)).toBe(value)
  })

  it('passes over what is chosen in the same breath', () => {
    expect(chooseIndex(held, { first: 1, last: 4 }, 'default', new Set([2]))).toBe(4)
  })
})

describe('a recorded value', () => {
  it('stands in any range that holds it, and without a range', () => {
    expect(requireInRange('port', 'web', 41000, undefined)).toBe(41000)
    expect(requireInRange('port', 'web', 41000, { first: 41000, last: 41000 })).toBe(41000)
  })

  it('is refused in a range without it, with the way to take another', () => {
    expect(() => requireInRange('index', 'redis', 3, { first: 5, last: 9 })).toThrow(
      expect.objectContaining({
        code: 'RANGE_MISMATCH',
        exit: 2,
        hint: 'To take another value, run: penv get index redis 5-9 --renew',
        details: { name: 'redis', value: 3, range: '5-9' },
      }),
    )
  })

  it('is refused in another pool, where somebody else may hold the number', () => {
    const allocation = { value: 3, pool: 'default', range: '1-15' }
    requireInPool('redis', allocation, undefined)
    requireInPool('redis', allocation, 'default')
    expect(() => requireInPool('redis', allocation, 'second')).toThrow(
      expect.objectContaining({
        code: 'RANGE_MISMATCH',
        hint: 'To take another value, run: penv get index redis 1-15 --pool second --renew',
      }),
    )
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'of the name %s is none before there is one, and a number afterwards',
    name => {
      const record = makeRecord('a_1')
      expect(recordedValue(record, 'port', name)).toBeUndefined()
      expect(recordedValue(record, 'index', name)).toBeUndefined()
      const next = withPort(record, name, 41000)
      expect(recordedValue(next, 'port', name)).toBe(41000)
      expect(recordedValue(JSON.parse(JSON.stringify(next)), 'port', name)).toBe(41000)
      expect(recordedValue(record, 'port', name)).toBeUndefined()
    },
  )
})

describe('the holders of a pool', () => {
  it('are told with value, path and since when, the oldest first, and only those of the range', () => {
    const ledger = makeLedger([
      makeRecord('young_1', { createdAt: '2026-03-01T00:00:00.000Z', ports: { web: 41000, api: 42000 } }),
      makeRecord('old_2', { createdAt: '2026-01-01T00:00:00.000Z', ports: { web: 41001 } }),
    ])
    expect(holdersOf(ledger, 'port', { first: 41000, last: 41009 }, '')).toEqual([
      { id: 'old_2', root: '/trees/old_2', since: '2026-01-01T00:00:00.000Z', value: 41001 },
      { id: 'young_1', root: '/trees/young_1', since: '2026-03-01T00:00:00.000Z', value: 41000 },
    ])
  })

  it('of an index are those of the same pool', () => {
    const index = (value: number, pool: string) => ({ redis: { value, pool, range: '1-2' } })
    const ledger = makeLedger([
      makeRecord('a_1', { indexes: index(1, 'default') }),
      makeRecord('b_2', { indexes: index(1, 'second') }),
    ])
    expect(holdersOf(ledger, 'index', { first: 1, last: 2 }, 'second').map(({ id }) => id)).toEqual(['b_2'])
  })
})

describe('the name of an allocation', () => {
  it.each(['web', 'a', 'redis_2', 'constructor', 'x'.repeat(40)])('may be %s', name => {
    expect(requireName(name)).toBe(name)
  })

  it.each([
    '',
    'Web',
    '2web',
    '_web',
    'web port',
    'web-port',
    'web.port',
    '../x',
    '__proto__',
    'wéb',
    'web\n',
    '-x',
    'x'.repeat(41),
  ])('is refused as %j, quoted', name => {
    expect(() => requireName(name)).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(`"${name}"`) }),
    )
  })
})

describe('a full name', () => {
  const ID = 'login_k3v9xa'
  const free = () => false

  it('is suffix and id', () => {
    expect(composeName('preview', ID, free)).toBe('preview_login_k3v9xa')
  })

  it.each([
    'Db',
    'db ',
    'my.app v2/x',
    'app-v2',
    'ÄPFEL',
    'x'.repeat(23),
    'x'.repeat(100),
    '2nd',
    'a'.repeat(22),
    'constructor',
    '__proto__',
    'a_',
    'select',
  ])('of the suffix %j is plain, ends in the id and stays within 50 bytes', suffix => {
    for (const id of [ID, `${'w'.repeat(20)}_abcdef`]) {
      const name = composeName(suffix, id, free)
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/)
      expect(name.endsWith(`_${id}`)).toBe(true)
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(FULL_NAME_MAX_LENGTH)
    }
  })

  it('is another one for each suffix, however alike they are', () => {
    const long = 'x'.repeat(60)
    const suffixes = [
      'db',
      'Db',
      'DB',
      'db ',
      'd.b',
      'd-b',
      'd b',
      'd_b',
      'd__b',
      long,
      `${long}y`,
      `${long}z`,
      'é',
      'e',
    ]
    const taken = new Set<string>()
    for (const suffix of suffixes) taken.add(composeName(suffix, ID, name => taken.has(name)))
    expect(taken.size).toBe(suffixes.length)
    expect(new Set([...taken].map(name => name.toLowerCase())).size).toBe(suffixes.length)
  })

  it('is lengthened where it is taken', () => {
    const exact = composeName('db', ID, free)
    const other = composeName('db', ID, name => name === exact)
    expect(other).not.toBe(exact)
    expect(other).toMatch(/^db_[0-9a-z]{4}_login_k3v9xa$/)
    expect(composeName('db', ID, name => name === exact || name === other)).toMatch(
      /^db_[0-9a-z]{5}_login_k3v9xa$/,
    )
  })

  it.each(['', '..', '../..', '/', '---', '🦊', 'プレビュー', ' '])(
    'is refused where nothing plain is left of the suffix: %j',
    suffix => {
      expect(() => composeName(suffix, ID, free)).toThrow(expect.objectContaining({ code: 'USAGE' }))
    },
  )

  it('has one spelling for hosts and buckets', () => {
    expect(toKebab('preview_login_k3v9xa')).toBe('preview-login-k3v9xa')
  })
})
