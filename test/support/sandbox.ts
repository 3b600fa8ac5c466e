// A fresh machine for one test: HOME, state directory, a repository with a main checkout, worktrees, and the built
// program as a child process. The environment comes from an allow-list, so that nothing of the caller leaks in.

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'

export const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'penv.cjs')

export interface Result {
  exit: number
  stdout: string
  stderr: string
  /** The JSON document on stdout. */
  json: () => never
}

export interface RunOptions {
  cwd?: string
  env?: Record<string, string | undefined>
  input?: string
}

/** What a call must look like; the default is a success that says nothing on stderr. */
export interface Demand {
  exit?: number
  stderr?: RegExp | 'any'
}

export interface Sandbox {
  /** Holds everything of this test. */
  root: string
  home: string
  stateDir: string
  /** The main checkout. */
  main: string
  env: Record<string, string>
  git: (cwd: string, ...args: string[]) => string
  /** Adds a linked worktree beside the main checkout. */
  worktree: (name: string, branch?: string) => string
  /** Writes files below a directory; names that end in .sh are executable. */
  write: (directory: string, files: Record<string, string>) => void
  /** Commits lifecycle scripts in the main checkout, before worktrees are added. */
  scripts: (files: Record<string, string>) => void
  /** Runs penv and returns whatever comes. */
  run: (args: readonly string[], options?: RunOptions) => Promise<Result>
  /** Runs penv and demands success and silence on stderr, or what is demanded. */
  penv: (cwd: string, args: readonly string[], demand?: Demand) => Promise<Result>
  /** Starts penv without waiting. */
  start: (args: readonly string[], options?: RunOptions) => ChildProcess
  ledger: () => { environments: Record<string, Record<string, unknown>> } & Record<string, unknown>
  revisions: () => string[]
}

export function makeSandbox(prefix = 'penv-'): Sandbox {
  const root = realpathSync(mkdtempSync(join(tmpdir(), prefix)))
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  const home = join(root, 'home')
  const bin = join(root, 'bin')
  const stateDir = join(home, '.local', 'state', 'penv')
  mkdirSync(home)
  mkdirSync(bin)
  writeFileSync(join(bin, 'penv'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`, {
    mode: 0o755,
  })
  const env: Record<string, string> = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    LANG: 'C.UTF-8',
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
    GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
  }
  writeFileSync(
    join(home, '.gitconfig'),
    '[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n',
  )
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const main = join(root, 'shop')
  mkdirSync(main)
  git(main, 'init', '--quiet')
  git(main, 'commit', '--quiet', '--allow-empty', '-m', 'start')

  const run = (args: readonly string[], options: RunOptions = {}) =>
    new Promise<Result>((done, fail) => {
      const child = execFile(
        process.execPath,
        [PROGRAM, ...args],
        {
          cwd: options.cwd ?? main,
          env: mergeEnv(env, options.env),
          encoding: 'utf8',
          maxBuffer: 64 * 1024 * 1024,
        },
        (error, stdout, stderr) => {
          const exit =
            typeof child.exitCode === 'number' ? child.exitCode : child.signalCode === null ? -1 : 128
          if (error !== null && exit === -1) fail(error)
          else done({ exit, stdout, stderr, json: () => JSON.parse(stdout) as never })
        },
      )
      child.stdin?.on('error', () => {})
      child.stdin?.end(options.input ?? '')
    })

  return {
    root,
    home,
    stateDir,
    main,
    env,
    git,
    worktree(name, branch = name.replace(/[^a-z0-9]+/gi, '-').replace(/^-+|-+$/g, '') || 'w') {
      const path = join(root, name)
      git(main, 'worktree', 'add', '--quiet', '-b', branch, '--', path)
      return realpathSync(path)
    },
    write(directory, files) {
      for (const [name, text] of Object.entries(files)) {
        const file = join(directory, name)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, text)
        if (name.endsWith('.sh')) chmodSync(file, 0o755)
      }
    },
    scripts(files) {
      this.write(
        main,
        Object.fromEntries(Object.entries(files).map(([name, text]) => [`.preview/${name}`, text])),
      )
      git(main, 'add', '--all')
      git(main, 'commit', '--quiet', '-m', 'scripts')
    },
    run,
    async penv(cwd, args, demand = {}) {
      const result = await run(args, { cwd })
      expect({ exit: result.exit, stderr: result.stderr }, `penv ${args.join(' ')}`).toEqual({
        exit: demand.exit ?? 0,
        stderr:
          demand.stderr === 'any'
            ? expect.any(String)
            : demand.stderr === undefined
              ? ''
              : expect.stringMatching(demand.stderr),
      })
      return result
    },
    start(args, options = {}) {
      const child = spawn(process.execPath, [PROGRAM, ...args], {
        cwd: options.cwd ?? main,
        env: mergeEnv(env, options.env),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      onTestFinished(() => {
        if (child.exitCode === null) child.kill('SIGKILL')
      })
      return child
    },
    ledger() {
      const [newest] = this.revisions().slice(-1)
      if (newest === undefined) return { environments: {} }
      return JSON.parse(readFileSync(join(stateDir, 'ledger', newest), 'utf8'))
    },
    revisions() {
      const directory = join(stateDir, 'ledger')
      return existsSync(directory)
        ? readdirSync(directory)
            .filter(name => /^\d{12}\.json$/.test(name))
            .sort()
        : []
    },
  }
}

function mergeEnv(
  base: Record<string, string>,
  changes: Record<string, string | undefined> = {},
): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ ...base, ...changes }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  )
}

/** Waits until `condition` holds; fails after the deadline. */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  what: string,
  deadlineMs = 20_000,
): Promise<void> {
  const end = Date.now() + deadlineMs
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`still waiting for ${what}`)
    await delay(20)
  }
}

/** Collects what a started process prints, and how it ends. */
export async function ended(
  child: ChildProcess,
): Promise<{ exit: number | null; signal: string | null; stdout: string; stderr: string }> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', chunk => {
    stdout += chunk
  })
  child.stderr?.on('data', chunk => {
    stderr += chunk
  })
  const [exit, signal] = await new Promise<[number | null, string | null]>(done =>
    child.once('close', (code, name) => done([code, name])),
  )
  return { exit, signal, stdout, stderr }
}
