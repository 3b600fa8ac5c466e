// The files that shape the schema of a worktree, as hashes of what is on the disk. Only reads.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseTemplateInputs, type TemplateInputs } from '../core/template.ts'
import { PenvError } from '../errors.ts'
import { askGit } from './git.ts'
import { type Env, isFile, SCRIPTS_DIRECTORY_NAME } from './paths.ts'

/** The hash of each input by its path; `bootstrap.sh` itself is one. Errors: GIT_FAILED. */
export function hashTemplateInputs(
  { env }: { env: Env },
  { root, scriptsDir }: { root: string; scriptsDir: string },
): TemplateInputs {
  const list = join(scriptsDir, 'template.inputs')
  const pathspecs = isFile(list) ? parseTemplateInputs(readFileSync(list, 'utf8')) : []
  const inputs: Record<string, string> = {
    [`${SCRIPTS_DIRECTORY_NAME}/bootstrap.sh`]: hashFile(join(scriptsDir, 'bootstrap.sh')),
  }
  if (pathspecs.length === 0) return inputs
  const { status, stdout, stderr } = askGit(
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...pathspecs],
    root,
    env,
  )
  if (status !== 0)
    throw new PenvError({
      code: 'GIT_FAILED',
      message: `${list} holds a pathspec that git refuses: ${stderr.trim().replace(/^fatal: /, '')}`,
    })
  for (const path of new Set(stdout.split('\0'))) {
    const file = join(root, path)
    if (path !== '' && isFile(file)) inputs[path] = hashFile(file)
  }
  return inputs
}

function hashFile(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
