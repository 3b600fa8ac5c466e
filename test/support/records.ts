// Records and ledgers for the tests of pure functions: whole, and different only in what a test names.

import type { EnvironmentRecord, Ledger, Run } from '../../src/core/ledger.ts'

export function makeRecord(id: string, parts: Partial<EnvironmentRecord> = {}): EnvironmentRecord {
  return {
    id,
    nonce: `nonce of ${id}`,
    repo: '/repo/.git',
    gitDir: `/repo/.git/worktrees/${id}`,
    root: `/trees/${id}`,
    branch: id,
    state: 'allocated',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    ports: {},
    indexes: {},
    names: {},
    ...parts,
  }
}

export function makeLedger(records: readonly EnvironmentRecord[], parts: Partial<Ledger> = {}): Ledger {
  return {
    version: 1,
    environments: Object.fromEntries(records.map(record => [record.id, record])),
    templates: {},
    approved: {},
    ...parts,
  }
}

export function makeRun(parts: Partial<Run> = {}): Run {
  return {
    token: 'token',
    command: 'up',
    flags: '',
    pid: 100,
    startTime: '5000',
    bootId: 'boot-a',
    pidNamespace: 'pid:[1]',
    host: 'machine',
    since: '2026-01-01T00:00:00.000Z',
    ...parts,
  }
}
