// Calls of `penv doctor` in tests: the parsed answer, whose shape and exit code are always held.

import { execFileSync } from 'node:child_process'
import { expect } from 'vitest'
import type { RunOptions, Sandbox } from './sandbox.ts'
import { expectShape } from './schema.ts'

export interface Finding {
  area: string
  verdict: 'ok' | 'warn' | 'fail' | 'unchecked'
  message: string
  code?: string
  file?: string
  line?: number
  remedy?: string
  run?: string
}

export interface Diagnosis {
  ok: boolean
  place: 'main' | 'worktree' | 'outside' | null
  findings: Finding[]
  revisions: { revision: number; environments: number | null; restore: string | null }[]
  stack: {
    services: { kind: string; need: string; evidence: { file: string; line: number }[] }[]
    problems: { file: string }[]
  } | null
}

/** Scripts that nothing is to be said of. */
export const GOOD_SCRIPTS = {
  'provision.sh': '#!/bin/sh\nset -eu\npenv env PORT="$(penv get port web)"\n',
  'verify.sh': '#!/bin/sh\n',
  'teardown.sh': '#!/bin/sh\n',
}

/** The answer of a run of doctor that has ended, however it was started. */
export function readDiagnosis({ exit, stdout }: { exit: number; stdout: string }): Diagnosis {
  const diagnosis = JSON.parse(stdout) as Diagnosis
  expectShape('doctor', diagnosis)
  const hasFailed = diagnosis.findings.some(({ verdict }) => verdict === 'fail')
  expect({ exit, ok: diagnosis.ok }).toEqual({ exit: hasFailed ? 1 : 0, ok: !hasFailed })
  return diagnosis
}

export async function diagnose(box: Sandbox, cwd: string, options: RunOptions = {}): Promise<Diagnosis> {
  const result = await box.run(['doctor', '--json'], { cwd, ...options })
  expect(result.stderr).toBe('')
  return readDiagnosis(result)
}

export const failuresOf = ({ findings }: Diagnosis) => findings.filter(({ verdict }) => verdict === 'fail')
export const warningsOf = ({ findings }: Diagnosis) => findings.filter(({ verdict }) => verdict === 'warn')

/** Does literally what a finding advises. */
export function follow(box: Sandbox, finding: Finding | undefined, cwd: string): void {
  execFileSync('sh', ['-ec', finding?.run ?? 'exit 9'], { cwd, env: box.env, stdio: 'pipe' })
}
