// Runs verbs of a shell adapter as a lifecycle script would, in a shell with nothing but what is given.
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testPath } from './servers.ts'

export const adapterDirectory = join(import.meta.dirname, '..', '..', 'contract', 'adapters')

export interface Verbs {
  service: string
  script: string
  /** PENV_ID of the environment whose script this is. */
  id: string
  /** PENV_DATA, private to that environment. */
  data: string
  env?: Record<string, string>
  /** The shell and its options, `sh -eu` unless given. */
  shell?: string[]
}

export interface VerbResult {
  code: number
  stdout: string
  stderr: string
}

/** Sources the adapter under `set -eu` and runs the script. A signal counts as exit code 128. */
export function runVerbs(verbs: Verbs): Promise<VerbResult> {
  const [shell = 'sh', ...options] = verbs.shell ?? ['sh', '-eu']
  const script = `. "$PENV_ADAPTERS/${verbs.service}.sh"\n${verbs.script}\n`
  const child = spawn(shell, [...options, '-c', script], {
    cwd: verbs.data,
    env: {
      PATH: testPath,
      HOME: verbs.data,
      TMPDIR: tmpdir(),
      PENV_ID: verbs.id,
      PENV_DATA: verbs.data,
      PENV_ADAPTERS: adapterDirectory,
      ...verbs.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', chunk => {
    stdout += chunk
  })
  child.stderr.on('data', chunk => {
    stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => resolve({ code: code ?? 128, stdout, stderr }))
  })
}
