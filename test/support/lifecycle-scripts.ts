// Runs single lifecycle scripts as the engine would, in a real worktree at a path with a space and a quote, with the
// variables of DESIGN section 8. `penv` on their PATH is the built bundle, or the stand-in where none is built.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { writeFile } from './install.ts'
import { findOnPath } from './programs.ts'

const repository = join(import.meta.dirname, '..', '..')
const bundle = join(repository, 'dist', 'penv.cjs')
const standIn = join(repository, 'test', 'fixtures', 'stand-in', 'penv')

export interface ScriptOutcome {
  code: number
  stderr: string
}

export interface ScriptSandbox {
  main: string
  worktree: string
  id: string
  data: string
  /** The snapshot that stands in for the worktree once that is gone. */
  snapshot: string
  run(script: string, env?: Record<string, string>): ScriptOutcome
  /** Any command, as a lifecycle script would start it. */
  spawn(command: string, args: string[], env?: Record<string, string>): ScriptOutcome
  /** What a shell reads for the key, from the worktree's .env.preview. */
  readEnv(key: string): string
  /** Takes the worktree away, after copying to the snapshot what the engine keeps there. */
  removeWorktree(): void
}

export function makeScriptSandbox(scripts: string): ScriptSandbox {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'penv-scripts-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const main = join(root, "it's main")
  const worktree = join(root, "it's a login")
  const state = join(root, 'state')
  const base = {
    PATH: `${join(root, 'bin')}:${process.env.PATH}`,
    HOME: root,
    TMPDIR: root,
    PENV_HOME: state,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  }
  const spawn = (cwd: string, command: string, args: string[], env: Record<string, string>) => {
    const result = spawnSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    if (result.error) throw result.error
    return { code: result.status ?? 128, stdout: result.stdout, stderr: result.stderr }
  }
  const require = (cwd: string, command: string, args: string[], env: Record<string, string> = base) => {
    const result = spawn(cwd, command, args, env)
    if (result.code !== 0) throw new Error(`${command} ${args.join(' ')}: ${result.stderr}`)
    return result.stdout.trimEnd()
  }

  mkdirSync(main)
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  require(main, 'git', ['init', '-q', '-b', 'main'])
  require(main, 'git', [...author, 'commit', '-q', '--allow-empty', '-m', 'Start'])
  require(main, 'git', ['worktree', 'add', '-q', worktree, '-b', 'login'])
  cpSync(scripts, join(worktree, '.preview'), { recursive: true })
  const isBuilt = existsSync(bundle)
  const launcher = isBuilt ? `exec '${findOnPath('node')}' '${bundle}' "$@"` : `exec '${standIn}' "$@"`
  writeFile(join(root, 'bin', 'penv'), `#!/bin/sh\n${launcher}\n`, 0o755)
  const id = isBuilt ? require(worktree, 'penv', ['id']) : 'it_s_a_login_k3v9xa'
  const data = join(state, 'envs', id, 'data')
  const snapshot = join(state, 'envs', id, 'root')
  mkdirSync(data, { recursive: true })

  const runScript = (command: string, args: string[], env: Record<string, string>) => {
    const gone = !existsSync(worktree)
    const place = gone ? snapshot : worktree
    const variables = {
      ...base,
      PENV_ID: id,
      PENV_ROOT: place,
      PENV_DIR: join(place, '.preview'),
      PENV_BRANCH: 'login',
      PENV_SEED: '',
      PENV_NO_MIGRATE: '',
      PENV_MAIN: main,
      PENV_GONE: gone ? '1' : '',
      PENV_DATA: data,
      PENV_ADAPTERS: join(repository, 'contract', 'adapters'),
      PENV_TEMPLATE: '',
      PENV_TEMPLATE_FRESH: '',
      PENV_CONTRACT: '1',
    }
    return spawn(place, command, args, { ...variables, ...env })
  }

  return {
    main,
    worktree,
    id,
    data,
    snapshot,
    run: (script, env = {}) => {
      const directory = existsSync(worktree) ? worktree : snapshot
      return runScript(join(directory, '.preview', script), [], env)
    },
    spawn: (command, args, env = {}) => runScript(command, args, env),
    readEnv(key) {
      return require(worktree, 'sh', ['-c', `. ./.env.preview && printf '%s' "$${key}"`])
    },
    removeWorktree() {
      mkdirSync(snapshot, { recursive: true })
      for (const name of ['.preview', '.env.preview'])
        if (existsSync(join(worktree, name)))
          cpSync(join(worktree, name), join(snapshot, name), { recursive: true })
      rmSync(worktree, { recursive: true })
    },
  }
}
