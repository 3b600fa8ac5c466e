// `penv status`: what the environment of this worktree holds, and how its last run ended.

import { join } from 'node:path'
import { type Answer, type Context, skip } from '../context.ts'
import { listEnvKeys } from '../core/env-entries.ts'
import { describeHoldings } from '../core/holdings.ts'
import { recordsOf } from '../core/ledger.ts'
import { readEnvFile } from '../host/env-file.ts'
import { findEnvironment } from '../host/environments.ts'
import { readBranch, readDetachedCommit } from '../host/git.ts'
import { ENV_FILE_NAME, logDirectory } from '../host/paths.ts'
import { withoutDeadRun } from '../host/runs.ts'

export async function status(context: Context): Promise<Answer> {
  const found = await findEnvironment(context)
  if (found.kind !== 'environment') return skip(context, found.reason)
  const { id, paths, root } = found
  const record = found.record && withoutDeadRun(found.record)
  const gitDir = paths?.gitDir ?? record?.gitDir
  const branch = gitDir === undefined ? '' : readBranch(gitDir)
  const commit = gitDir === undefined || branch !== '' ? '' : readDetachedCommit(gitDir)
  const holdings = describeHoldings(record)
  const keys = listEnvKeys(readEnvFile(join(root, ENV_FILE_NAME)) ?? '')
  const orphans =
    record === undefined && found.ledger ? recordsOf(found.ledger).filter(other => other.root === root) : []
  const state = record?.state ?? 'none'
  const lastRun = record?.lastRun && {
    command: record.lastRun.command,
    ok: record.lastRun.ok,
    endedAt: record.lastRun.endedAt,
    error: record.lastRun.error ?? null,
  }
  const run = record?.run && { command: record.run.command, pid: record.run.pid, since: record.run.since }
  return {
    json: {
      id,
      state,
      root,
      branch,
      commit,
      ...holdings.json,
      keys,
      run: run ?? null,
      lastRun: lastRun ?? null,
      logs: record === undefined ? null : logDirectory(context.stateDir, id),
      orphans: orphans.map(orphan => orphan.id),
    },
    text: [
      `${id}  ${state}  ${branch || (commit && `detached at ${commit}`)}`.trimEnd(),
      `  path    ${root}`,
      ...holdings.lines,
      ...(keys.length > 0 ? [`  keys    ${keys.join(' ')}`] : []),
      ...(run ? [`  running penv ${run.command} (pid ${run.pid})`] : []),
      ...(lastRun
        ? [`  last    penv ${lastRun.command}: ${lastRun.ok ? 'ok' : (lastRun.error?.message ?? 'failed')}`]
        : []),
      ...orphans.map(
        orphan => `  orphan  ${orphan.id}, of an earlier worktree at this path: penv destroy ${orphan.id}`,
      ),
    ].join('\n'),
  }
}
