// What an agent is told about its environment when a session starts. Pure. Keys only, no values of secrets.

import type { EnvironmentRecord } from './ledger.ts'

export interface BriefingFacts {
  id: string
  root: string
  branch: string
  record: EnvironmentRecord | undefined
  keys: readonly string[]
  hasScripts: boolean
}

/** Empty where there is nothing to say: no scripts and nothing allocated. */
export function composeBriefing({ id, root, branch, record, keys, hasScripts }: BriefingFacts): string {
  if (record === undefined && !hasScripts) return ''
  const where = branch === '' ? root : `${root} (branch ${branch})`
  const state = record?.state ?? 'none'
  const ports = Object.entries(record?.ports ?? {}).map(([name, port]) => `${name} ${port}`)
  return [
    `penv: this worktree has its own preview environment ${id} at ${where}.`,
    ...(state === 'ready' ? ['It is ready.'] : [`Its state is ${state}. To make it ready, run: penv up`]),
    ...(ports.length > 0 ? [`Ports: ${ports.join(', ')}.`] : []),
    ...(keys.length > 0
      ? [`.env.preview sets: ${keys.join(' ')}. To run a command with these, run: penv exec -- <command>`]
      : []),
    'Use no other port, database or index; the main checkout and other worktrees have theirs.',
    'To check the isolation, run: penv verify. To see this again, run: penv status',
  ].join('\n')
}
