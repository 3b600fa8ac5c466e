import { describe, expect, it } from 'vitest'
import { judgeState, type StateFacts } from '../../src/core/doctor/judge-state.ts'

const SOUND: StateFacts = {
  directory: '/home/a b/state',
  exists: true,
  unwritable: undefined,
  mode: 0o700,
  isOwnedByUs: true,
  networkFileSystem: undefined,
  strangers: [],
  revisions: 3,
  foreignFiles: [],
}
const said = (facts: Partial<StateFacts>) =>
  judgeState({ ...SOUND, ...facts }).map(({ verdict, code, run }) =>
    [verdict, code, run].filter(Boolean).join(' '),
  )

describe('the state directory', () => {
  it.each<[string, Partial<StateFacts>, string[]]>([
    ['is sound', {}, ['ok']],
    ['is not there yet', { exists: false, mode: undefined, isOwnedByUs: false }, ['ok']],
    ['cannot be written', { unwritable: '/home/a b/state (EROFS)' }, ['fail STATE_UNWRITABLE']],
    ['cannot be made', { exists: false, unwritable: '/home (EACCES)' }, ['fail STATE_UNWRITABLE']],
    ['lies on NFS', { networkFileSystem: 'a network file system (NFS)' }, ['warn STATE_ON_NETWORK']],
    [
      'will lie on NFS',
      { exists: false, networkFileSystem: 'a network file system (NFS)' },
      ['warn STATE_ON_NETWORK'],
    ],
    ['can be read by the group', { mode: 0o750 }, ["warn chmod 700 '/home/a b/state'"]],
    ['belongs to another user', { isOwnedByUs: false, mode: 0o755 }, ['warn']],
    [
      'holds strangers',
      { strangers: ['ledger/x', 'ledger/y'] },
      ['warn STATE_STRANGER', 'warn STATE_STRANGER'],
    ],
    [
      "holds another user's files",
      { foreignFiles: ['/home/a b/state/envs/x'] },
      ['warn STATE_FOREIGN sudo chown -R "$(id -u)" \'/home/a b/state\''],
    ],
    [
      'has several faults',
      { unwritable: 'x', networkFileSystem: 'NFS', mode: 0o777 },
      ['fail STATE_UNWRITABLE', 'warn STATE_ON_NETWORK', "warn chmod 700 '/home/a b/state'"],
    ],
  ])('is judged when it %s', (_, facts, expected) => {
    expect(said(facts)).toEqual(expected)
  })
})
