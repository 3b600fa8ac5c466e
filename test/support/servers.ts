// Real servers for tests: finds their programs, starts them on free ports as an unprivileged user, ends them by
// pid. `describeServer` is the one place that decides whether a suite can run here, and it never skips silently.
import { type ChildProcess, spawn } from 'node:child_process'
import {
  accessSync,
  appendFileSync,
  chownSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, it } from 'vitest'

const NOBODY = 65_534
const STOP_GRACE_MS = 10_000
const POLL_MS = 20

const repository = join(import.meta.dirname, '..', '..')

/** Where test/setup.sh puts servers that no package of the system has; the same default as there. */
export const serverBin = join(
  process.env.PENV_TEST_SERVERS ??
    join(
      process.env.XDG_CACHE_HOME ?? (isRoot() ? '/var/cache' : join(homedir(), '.cache')),
      'penv-test-servers',
    ),
  'bin',
)

/** PATH for tests: programs of dev dependencies and of test/setup.sh first, then the machine's. */
export const testPath = [join(repository, 'node_modules', '.bin'), serverBin, process.env.PATH ?? ''].join(
  delimiter,
)

/** First match in `directories`, on `testPath`, or where Debian keeps servers; undefined when absent. */
export function findProgram(name: string, directories: string[] = []): string | undefined {
  const places = [...directories, ...testPath.split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return places.map(place => join(place, name)).find(isExecutable)
}

/** `root/<version>/sub` for each version that is there, newest first: /usr/lib/postgresql/15/bin. */
export function versionDirectories(root: string, sub: string): string[] {
  if (!existsSync(root)) return []
  const versions = readdirSync(root).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  return versions.map(version => join(root, version, sub))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Why a suite cannot run here, or undefined when all of `programs` were found. Keys are names, values findings. */
export function missingPrograms(programs: Record<string, string | undefined>): string | undefined {
  const missing = Object.keys(programs).filter(name => programs[name] === undefined)
  return missing.length === 0 ? undefined : `no ${missing.join(', ')} here; to get it, run: sh test/setup.sh`
}

/**
 * A suite against a real server. With a reason to be missing it is listed at the end of the run, and fails
 * instead under PENV_TEST_REQUIRE_SERVERS=1, so that a machine meant to have every server notices.
 */
export function describeServer(name: string, missing: string | undefined, body: () => void): void {
  if (missing === undefined) {
    describe(name, body)
    return
  }
  const isRequired = process.env.PENV_TEST_REQUIRE_SERVERS === '1'
  describe(name, () => {
    it.runIf(isRequired)('has what it needs on this machine', () => {
      throw new Error(`${name}: ${missing}`)
    })
  })
  if (!isRequired) noteServer('skipped', `${name}: ${missing}`)
}

/** Remembers for the end of the run which server ran, with its version, or which suite was skipped and why. */
export function noteServer(kind: 'ran' | 'skipped', text: string): void {
  const notes = process.env.PENV_TEST_SERVER_NOTES
  if (notes !== undefined) appendFileSync(notes, `${kind} ${text}\n`)
}

/** A port that was free a moment ago on 127.0.0.1. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

/** Resolves with the first value that is neither undefined nor false; fails at the deadline, naming `what`. */
export async function waitFor<T>(
  what: string,
  attempt: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = 60_000,
): Promise<T> {
  const end = Date.now() + deadlineMs
  for (;;) {
    const value = await attempt()
    if (value !== undefined && value !== false) return value
    if (Date.now() > end) throw new Error(`${what}: not within ${deadlineMs} ms`)
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}

/** A directory below the system's temporary one that the server's user owns. Short, for Unix sockets. */
export function serverDirectory(): string {
  const root = process.env.PENV_TEST_SERVER_ROOT
  const directory = mkdtempSync(root === undefined ? join(tmpdir(), 'penv-srv-') : join(root, 's-'))
  if (isRoot()) chownSync(directory, NOBODY, NOBODY)
  directories.add(directory)
  return directory
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** `uid` and `gid` for child processes that refuse to run as root; empty for everybody else. */
export function serverUser(): { uid?: number; gid?: number } {
  return isRoot() ? { uid: NOBODY, gid: NOBODY } : {}
}

export interface ServerProcess {
  pid: number
  /** What it printed so far, both streams. */
  output(): string
  hasExited(): boolean
  /** Sends `signal` (TERM), then KILL after a grace; resolves when it is gone. Twice is harmless. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

const running = new Set<ChildProcess>()
const directories = new Set<string>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

/**
 * Starts a server in the foreground with `directory` as its home and cwd. It runs as the unprivileged user, or with
 * `asCaller` as the one who runs the tests: a program below a private home can be reached by nobody else.
 */
export function startServer(
  program: string,
  args: string[],
  options: { directory: string; env?: Record<string, string>; asCaller?: boolean },
): ServerProcess {
  const child = spawn(program, args, {
    cwd: options.directory,
    env: { PATH: testPath, HOME: options.directory, LC_ALL: 'C.UTF-8', TZ: 'UTC', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.asCaller ? {} : serverUser()),
  })
  running.add(child)
  let output = ''
  const collect = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-65_536)
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const exited = new Promise<void>(resolve => {
    child.once('error', error => {
      output += String(error)
      running.delete(child)
      resolve()
    })
    child.once('exit', () => {
      running.delete(child)
      resolve()
    })
  })
  return {
    pid: child.pid ?? 0,
    output: () => output,
    hasExited: () => !running.has(child),
    async stop(signal = 'SIGTERM') {
      if (!running.has(child)) return
      child.kill(signal)
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS)
      await exited
      clearTimeout(timer)
    },
  }
}

/** Waits until `ready` answers; fails at once, with what the server printed, when it has exited instead. */
export async function waitForServer(
  server: ServerProcess,
  what: string,
  ready: () => Promise<boolean> | boolean,
): Promise<void> {
  await waitFor(what, async () => {
    if (server.hasExited()) throw new Error(`${what} ended at its start:\n${server.output()}`)
    return await ready()
  })
}

/** Runs a client to its end as an application would: its stdout, or an error with what it printed. */
export function runClient(
  program: string,
  args: string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { PATH: testPath, HOME: tmpdir(), LC_ALL: 'C.UTF-8', ...options.env },
      stdio: 'pipe',
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', chunk => {
      stdout += chunk
    })
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    child.once('error', reject)
    child.once('close', code =>
      code === 0
        ? resolve(stdout)
        : reject(new Error(`${program} ${args.join(' ')} exited ${code}: ${stdout}${stderr}`)),
    )
    child.stdin.on('error', () => {})
    child.stdin.end(options.input ?? '')
  })
}
