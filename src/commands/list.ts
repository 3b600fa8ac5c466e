// `penv list`: all environments of this machine, of all repositories, with the path where each is now.

import type { Answer, Context } from '../context.ts'
import { describeHoldings } from '../core/holdings.ts'
import { type EnvironmentRecord, recordsOf } from '../core/ledger.ts'
import { formatTable, shortenHome } from '../core/table.ts'
import { findWorktreeToShow } from '../host/environments.ts'
import { readBranch } from '../host/git.ts'
import { readLedger } from '../host/ledger-files.ts'
import { withoutDeadRun } from '../host/runs.ts'

export async function list(context: Context): Promise<Answer> {
  const envs = recordsOf(await readLedger(context.stateDir))
    .map(record => describeRecord(withoutDeadRun(record)))
    .sort((a, b) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id))
  const rows = envs.map(env => [
    env.id,
    env.state,
    env.branch || '(detached)',
    portsOf(env),
    `${shortenHome(env.root, context.env.HOME)}${env.present ? '' : ' (gone)'}`,
  ])
  return {
    json: { envs },
    text: envs.length === 0 ? '' : formatTable([['ID', 'STATE', 'BRANCH', 'PORTS', 'PATH'], ...rows]),
  }
}

function describeRecord(record: EnvironmentRecord) {
  const worktree = findWorktreeToShow(record)
  return {
    id: record.id,
    state: record.state,
    root: worktree ?? record.root,
    present: worktree !== undefined,
    repo: record.repo,
    branch: worktree === undefined ? record.branch : readBranch(record.gitDir),
    ...describeHoldings(record).json,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    running: record.run?.command ?? null,
  }
}

function portsOf({ ports }: { ports: Record<string, number> }): string {
  return Object.entries(ports)
    .map(([name, port]) => `${name}=${port}`)
    .join(' ')
}
