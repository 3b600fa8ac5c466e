// A clone of penv with a tiny program in place of the bundle, and a fresh home directory, both at a path with a
// space and a quote: what the tests of install/ run the scripts in. Everything is below one temporary directory.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { onTestFinished } from 'vitest'
import { findOnPath } from './programs.ts'

export const installSources = join(import.meta.dirname, '..', '..', 'install')

/** PATH with node and the system's programs, and nothing that the machine's user has added. */
export const barePath = `${dirname(findOnPath('node') ?? '')}:/usr/local/bin:/usr/bin:/bin`

export interface Outcome {
  code: number
  stdout: string
  stderr: string
}

export interface RunOptions {
  env?: Record<string, string | undefined>
  cwd?: string
  uid?: number
}

export interface InstallSandbox {
  root: string
  clone: string
  home: string
  /** <home>/.local */
  prefix: string
  run(command: string, args: string[], options?: RunOptions): Outcome
  install(args?: string[], options?: RunOptions): Outcome
  uninstall(args?: string[], options?: RunOptions): Outcome
}

export function makeInstallSandbox(): InstallSandbox {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'penv-install-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  chmodSync(root, 0o755)
  const clone = join(root, "the user's clone")
  const home = join(root, "the user's home")
  mkdirSync(home)
  cpSync(installSources, join(clone, 'install'), { recursive: true })
  writeFile(join(clone, 'package.json'), '{"name":"git-penv","version":"1.2.3"}\n')
  writeFile(join(clone, 'contract', 'adapters', 'redis.sh'), 'redis_create() { :; }\n')
  writeFile(join(clone, 'samples', 'preview', 'files', 'provision.sh'), '#!/bin/sh\n')
  writeFile(join(clone, 'skills', 'preview-isolation', 'SKILL.md'), 'skill\n')
  writeBundle(clone, 'one')

  const run = (command: string, args: string[], options: RunOptions = {}): Outcome => {
    const env: NodeJS.ProcessEnv = { PATH: barePath, HOME: home, SHELL: '/bin/bash', TMPDIR: root }
    Object.assign(env, options.env)
    for (const key of Object.keys(env)) if (env[key] === undefined) delete env[key]
    const result = spawnSync(command, args, {
      cwd: options.cwd ?? root,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    })
    if (result.error) throw result.error
    return { code: result.status ?? 128, stdout: result.stdout, stderr: result.stderr }
  }
  const script = (name: string) => join(clone, 'install', name)
  return {
    root,
    clone,
    home,
    prefix: join(home, '.local'),
    run,
    install: (args = [], options = {}) => run('sh', [script('install.sh'), ...args], options),
    uninstall: (args = [], options = {}) => run('sh', [script('uninstall.sh'), ...args], options),
  }
}

/** A bundle that prints `release` and its arguments, and needs its neighbours of the same release. */
export function writeBundle(clone: string, release: string): void {
  writeFile(
    join(clone, 'dist', 'penv.cjs'),
    `#!/usr/bin/env node
const note = require('node:fs').readFileSync(__dirname + '/../contract/release', 'utf8')
console.log(['${release}', note, ...process.argv.slice(2)].join(' '))
`,
  )
  writeFile(join(clone, 'contract', 'release'), release)
}

export function writeFile(path: string, content: string | Buffer, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  chmodSync(path, mode)
}

/** Every path below `directory` with its kind, mode and content; `times` adds when it was written. */
export function snapshot(directory: string, times = false): Record<string, string> {
  const entries: Record<string, string> = {}
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(directory, name)
    const stat = lstatSync(path)
    const written = times ? ` ${stat.mtimeMs}` : ''
    const mode = (stat.mode & 0o777).toString(8)
    if (stat.isSymbolicLink()) entries[name] = `-> ${readlinkSync(path)}`
    else if (stat.isDirectory()) entries[name] = `directory ${mode}${written}`
    else entries[name] = `${mode}${written} ${readFileSync(path, 'latin1')}`
  }
  return entries
}

/** What `snapshot` shows of an installation, without the process id in the name of its version. */
export function shapeOf(directory: string): Record<string, string> {
  const withoutPid = (text: string) => text.replaceAll(/versions\/1\.2\.3(\.\d+)+/g, 'versions/V')
  return Object.fromEntries(
    Object.entries(snapshot(directory)).map(([name, entry]) => [withoutPid(name), withoutPid(entry)]),
  )
}

/** Directory with links to the system's programs except `without`: a PATH for "what if it is missing". */
export function makePathWithout(sandbox: InstallSandbox, without: string[]): string {
  const bin = join(sandbox.root, `bin-without-${without.join('-')}`)
  mkdirSync(bin)
  const script = `for dir in ${barePath.replaceAll(':', ' ')}; do for file in "$dir"/*; do
    [ -x "$file" ] && [ ! -e "$1/\${file##*/}" ] && ln -s "$file" "$1/"; done; done; cd "$1" && shift && rm -f -- "$@"`
  const made = sandbox.run('sh', ['-c', script, 'sh', bin, ...without])
  if (made.code !== 0) throw new Error(`${relative(sandbox.root, bin)}: ${made.stderr}`)
  return bin
}
