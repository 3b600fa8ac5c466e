// Asks git. One function runs it, with git's location variables scrubbed, so that a hook's GIT_DIR can never
// answer for another repository. Never writes to a repository.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { PenvError } from '../errors.ts'
import { type Env, findRealPath, isDirectory } from './paths.ts'

/**
 * `git rev-parse --local-env-vars` of git 2.39, without GIT_CONFIG_COUNT, whose pairs carry the user's own
 * configuration (safe.directory in containers, for one). A test holds the list against the installed git.
 */
export const GIT_LOCATION_VARIABLES = [
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_CONFIG',
  'GIT_CONFIG_PARAMETERS',
  'GIT_OBJECT_DIRECTORY',
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_GRAFT_FILE',
  'GIT_INDEX_FILE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_REPLACE_REF_BASE',
  'GIT_PREFIX',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_SHALLOW_FILE',
  'GIT_COMMON_DIR',
] as const

export function scrubGitVariables(env: Env): Record<string, string | undefined> {
  const clean = { ...env }
  for (const name of GIT_LOCATION_VARIABLES) delete clean[name]
  return clean
}

export interface GitAnswer {
  status: number
  stdout: string
  stderr: string
}

/** Runs git in `cwd` and waits. Throws GIT_FAILED only when git cannot be started. */
export function askGit(args: readonly string[], cwd: string, env: Env): GitAnswer {
  const answer = spawnSync('git', args, {
    cwd,
    // LC_ALL=C: "not a repository" and "dubious ownership" have the same exit code and differ in words only.
    env: { ...scrubGitVariables(env), LC_ALL: 'C', LANGUAGE: '', GIT_OPTIONAL_LOCKS: '0' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  })
  if (answer.error !== undefined) {
    const missing = (answer.error as NodeJS.ErrnoException).code === 'ENOENT'
    if (!isDirectory(cwd))
      throw new PenvError({
        code: 'GIT_FAILED',
        message: `git has no answer: ${cwd} does not exist any more`,
        details: { path: cwd },
      })
    throw new PenvError({
      code: 'GIT_FAILED',
      message: missing
        ? `git could not be started in ${cwd}: there is no git on PATH`
        : `git failed: ${answer.error.message}`,
      cause: answer.error,
    })
  }
  return { status: answer.status ?? 128, stdout: answer.stdout, stderr: answer.stderr }
}

/** What git prints; undefined where it fails, or says more than fits into memory. */
export function findGitAnswer(args: readonly string[], cwd: string, env: Env): string | undefined {
  try {
    const { status, stdout } = askGit(args, cwd, env)
    return status === 0 ? stdout : undefined
  } catch (error) {
    if (error instanceof PenvError) return undefined
    throw error
  }
}

/** Where a directory lies, in git's terms. All paths are real paths. */
export type Place =
  | { kind: 'worktree'; root: string; gitDir: string; commonDir: string }
  | { kind: 'main'; root: string; commonDir: string }
  | { kind: 'outside'; reason: string }

/**
 * A linked worktree, a main checkout, or neither. A submodule belongs to its superproject's worktree.
 * Throws GIT_FAILED when git has no answer: that is never taken for the main checkout.
 */
export function locatePlace(cwd: string, env: Env): Place {
  const answer = askGit(
    ['rev-parse', '--show-toplevel', '--git-dir', '--git-common-dir', '--show-superproject-working-tree'],
    cwd,
    env,
  )
  if (answer.status !== 0) return placeOfRefusal(answer, cwd)
  const [root, gitDir, commonDir, superproject, ...rest] = answer.stdout.replace(/\n$/, '').split('\n')
  if (root === undefined || gitDir === undefined || commonDir === undefined || rest.length > 0)
    throw new PenvError({
      code: 'GIT_FAILED',
      message: `git's answer about ${cwd} cannot be read: a path in it holds a line break`,
    })
  const real = {
    root: requireRealPath(cwd, root),
    gitDir: requireRealPath(cwd, gitDir),
    commonDir: requireRealPath(cwd, commonDir),
  }
  // Behind the others: of a path with a line break the wrong piece would stand here.
  if (superproject) return locatePlace(superproject, env)
  return real.gitDir === real.commonDir
    ? { kind: 'main', root: real.root, commonDir: real.commonDir }
    : { kind: 'worktree', ...real }
}

function placeOfRefusal({ stderr }: GitAnswer, cwd: string): Place {
  // "fatal: not a git repository: <path>" is another thing: a .git file that points nowhere.
  if (/not a git repository \(or any/.test(stderr)) return { kind: 'outside', reason: 'not a git repository' }
  if (/must be run in a work tree/.test(stderr))
    return { kind: 'outside', reason: 'not a work tree of a git repository' }
  const reason =
    stderr
      .trim()
      .split('\n')[0]
      ?.replace(/^fatal: /, '') || 'no reason given'
  const advice = stderr
    .trim()
    .split('\n')
    .slice(1)
    .map(line => line.trim())
    .filter(line => line !== '')
  const broken = /not a git repository: (.*)/.exec(stderr)?.[1]
  throw new PenvError({
    code: 'GIT_FAILED',
    message:
      broken === undefined
        ? `git failed in ${cwd}: ${reason}`
        : `git no longer knows this folder: ${cwd} points to ${broken}, which cannot be reached`,
    facts: advice.slice(0, 3),
    ...(broken === undefined ? {} : { hint: 'To see what is left of its environment, run: penv list' }),
    details: { stderr: stderr.trim() },
  })
}

function requireRealPath(cwd: string, path: string): string {
  const absolute = isAbsolute(path) ? path : resolve(cwd, path)
  const real = findRealPath(absolute)
  if (real !== undefined) return real
  throw new PenvError({ code: 'GIT_FAILED', message: `git names a path that does not exist: ${absolute}` })
}

/** The main checkout of a repository; undefined in a bare layout, or where git does not record it. */
export function findMainCheckout(commonDir: string, env: Env): string | undefined {
  const { stdout } = askGit(
    ['--git-dir', commonDir, 'config', '--get-regexp', '^core\\.(bare|worktree)$'],
    commonDir,
    env,
  )
  if (/^core\.bare true$/m.test(stdout)) return undefined
  const configured = /^core\.worktree (.*)$/m.exec(stdout)?.[1]
  if (configured !== undefined) return findRealPath(resolve(commonDir, configured))
  return commonDir.endsWith('/.git') ? dirname(commonDir) : undefined
}

/** The branch checked out in a worktree; empty when detached, and when the folder is gone. */
export function readBranch(gitDir: string): string {
  const ref = /^ref: refs\/heads\/(.+)$/m.exec(readHead(gitDir))?.[1] ?? ''
  // The reftable format keeps a dummy in HEAD.
  return ref === '.invalid' ? '' : ref
}

/** The commit of a detached HEAD, shortened; empty on a branch. */
export function readDetachedCommit(gitDir: string): string {
  return /^[0-9a-f]{40,64}$/.exec(readHead(gitDir).trim())?.[0].slice(0, 8) ?? ''
}

function readHead(gitDir: string): string {
  try {
    return readFileSync(join(gitDir, 'HEAD'), 'utf8')
  } catch {
    return ''
  }
}

/** The private git directory that the `.git` file of `root` names; undefined when there is none. */
export function findGitDirOf(root: string): string | undefined {
  try {
    const target = /^gitdir: (.*)$/m.exec(readFileSync(join(root, '.git'), 'utf8'))?.[1]
    return target === undefined ? undefined : findRealPath(resolve(root, target))
  } catch {
    return undefined
  }
}

/** Where git believes the worktree of this private git directory to be; undefined when it forgot. */
export function findRootOfGitDir(gitDir: string): string | undefined {
  try {
    const file = readFileSync(join(gitDir, 'gitdir'), 'utf8').trim()
    const root = findRealPath(dirname(resolve(gitDir, file)))
    return root !== undefined && isDirectory(root) ? root : undefined
  } catch {
    return undefined
  }
}
