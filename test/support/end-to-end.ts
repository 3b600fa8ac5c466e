// A small real repository as a stranger has it, from `git clone` to the start of its app in a worktree: what a fixture
// says of itself, and the steps that all of them share. The story is test/stories/init-end-to-end.test.ts.
// A fixture is test/fixtures/e2e/<name>/, with nothing of penv in it, and a row of type `Fixture`.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { cpSync, existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { makeSandbox, type Sandbox } from './sandbox.ts'
import { findProgram, missingPrograms, serverBin, waitFor } from './servers.ts'

const FIXTURES = join(import.meta.dirname, '..', 'fixtures', 'e2e')
/** Where test/setup.sh keeps what the fixtures' package managers need, so that no story needs a network. */
const PACKAGES = join(dirname(serverBin), 'e2e')
const START_MS = 60_000

/** A server with the account that the fixture's compose file gives it. */
export interface FixtureServer {
  /** Why it cannot be started here, or undefined. */
  readonly missing: string | undefined
  start(): Promise<StartedServer>
}

export interface StartedServer {
  readonly version: string
  readonly port: number
  /** What an environment could leave behind, in a form that can be compared. */
  look(): Promise<unknown>
  stop(): Promise<void>
}

/** The variables of a checkout: of the main checkout's env files, or of a worktree's `.env.preview`. */
export type Variables = Readonly<Record<string, string>>
export type Ports = Readonly<Record<string, number>>

export interface Fixture {
  /** The folder below test/fixtures/e2e. */
  readonly name: string
  readonly servers: Readonly<Record<string, FixtureServer>>
  /** Lock files whose packages test/setup.sh has fetched. */
  readonly locks?: readonly string[]
  /** Its developer has a Python environment outside of the checkout, which is active in every shell. */
  readonly isActivated?: boolean
  /** Programs beside Node that its developers have. */
  readonly programs?: readonly string[]
  /** The untracked env files of the main checkout by their paths, with plain `KEY=value` lines. */
  readonly mainEnv: (ports: Ports) => Record<string, string>
  /** What the developer of the main checkout has typed to have it running, on an empty database of its own. */
  readonly prepare: readonly string[]
  /** The command of each program of the app, by the key of its port; the first is the one that is asked. */
  readonly start: Readonly<Record<string, string>>
  readonly write: (base: string, word: string) => Promise<void>
  readonly read: (base: string) => Promise<readonly string[]>
  /** Asks a checkout's database without the app: rows as lines. */
  readonly ask: (variables: Variables, tree: string, query: string) => Promise<string>
  readonly queries: {
    /** What the app's own migration tool has written down, oldest first. */
    readonly applied: string
    readonly words: string
    readonly plant: (word: string) => string
  }
  /** What a branch adds: the files, and what `applied` has more then, or in place of what it had. */
  readonly migration: {
    readonly files: Record<string, string>
    readonly applied: string
    readonly isAlone?: boolean
  }
  /** The words that the repository's own seed writes. */
  readonly seeded?: readonly string[]
  /** Keys whose values are an environment's own. */
  readonly own: readonly string[]
  /** Whether init writes a bootstrap.sh, so that further worktrees are cloned. */
  readonly isCloned: boolean
}

/** Why the story of a fixture cannot be told on this machine, or undefined. */
export function missingFor(fixture: Fixture): string | undefined {
  const reasons = Object.values(fixture.servers).flatMap(server => server.missing ?? [])
  const programs = missingPrograms(
    Object.fromEntries((fixture.programs ?? []).map(name => [name, findProgram(name)])),
  )
  if (programs !== undefined) reasons.push(programs)
  for (const lock of fixture.locks ?? []) {
    const fetched = join(PACKAGES, 'locks', fixture.name, lock)
    const isThere =
      existsSync(fetched) &&
      readFileSync(fetched, 'utf8') === readFileSync(join(FIXTURES, fixture.name, lock), 'utf8')
    if (!isThere) reasons.push(`no packages of its ${lock} here; to get them, run: sh test/setup.sh`)
  }
  return reasons.length === 0 ? undefined : [...new Set(reasons)].join('; ')
}

export interface Clone {
  readonly box: Sandbox
  readonly main: string
  readonly mainFiles: Record<string, string>
  readonly mainVariables: Variables
  worktree(name: string): string
  /** Runs a command as a person types it, and demands that it succeeds. */
  type(cwd: string, command: string): Promise<string>
  /** Runs penv and demands that it succeeds; where not, everything that it said is shown. */
  penv(cwd: string, ...args: string[]): Promise<string>
}

/** `git clone`, and the main checkout's own env files. */
export function cloneFixture(fixture: Fixture, ports: Ports): Clone {
  const box = makeSandbox('penv-e2e-')
  Object.assign(box.env, {
    PATH: `${box.env.PATH}:${serverBin}`,
    PIP_NO_INDEX: '1',
    PIP_FIND_LINKS: join(PACKAGES, 'pip'),
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    GOPROXY: 'off',
    GOMODCACHE: join(PACKAGES, 'go', 'modules'),
    GOCACHE: join(PACKAGES, 'go', 'build'),
    GOFLAGS: '-modcacherw',
    GOTOOLCHAIN: 'local',
    npm_config_cache: join(PACKAGES, 'npm'),
    npm_config_store_dir: join(PACKAGES, 'pnpm'),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  })
  if (fixture.isActivated) {
    const environment = join(PACKAGES, 'environments', fixture.name)
    Object.assign(box.env, {
      VIRTUAL_ENV: environment,
      PATH: `${join(environment, 'bin')}:${box.env.PATH}`,
    })
  }
  const origin = join(box.root, 'origin')
  cpSync(join(FIXTURES, fixture.name), origin, { recursive: true })
  box.git(origin, 'init', '--quiet')
  box.git(origin, 'add', '--all')
  box.git(origin, 'commit', '--quiet', '-m', 'Everything so far')
  box.git(box.root, 'clone', '--quiet', origin, fixture.name)
  const main = realpathSync(join(box.root, fixture.name))
  const mainFiles = fixture.mainEnv(ports)
  box.write(main, mainFiles)
  const call = (cwd: string, file: string, args: string[]) =>
    new Promise<string>((done, fail) => {
      const options = { cwd, env: box.env, maxBuffer: 64 * 1024 * 1024 }
      const child = execFile(file, args, options, (error, stdout, stderr) => {
        const said = `${stdout}${stderr}`
        if (error === null) done(stdout)
        else fail(new Error(`${[file, ...args].join(' ')} exited ${error.code} in ${cwd}\n${said}`))
      })
      child.stdin?.end()
    })
  return {
    box,
    main,
    mainFiles,
    mainVariables: Object.fromEntries(
      Object.values(mainFiles).flatMap(text =>
        [...text.matchAll(/^(\w+)=(.*)$/gm)].map(match => [match[1], match[2]]),
      ),
    ) as Variables,
    worktree(name) {
      const path = join(box.root, name)
      box.git(main, 'worktree', 'add', '--quiet', '-b', name.replace(/[^a-z0-9]+/gi, '-'), '--', path)
      return realpathSync(path)
    },
    type: (cwd, command) => call(cwd, 'sh', ['-euc', command]),
    penv: (cwd, ...args) => call(cwd, 'penv', args),
  }
}

/** What an environment's app is given. */
export async function variablesOf(clone: Clone, tree: string): Promise<Variables> {
  return JSON.parse(await clone.penv(tree, 'env', '--json')) as Variables
}

export async function askLines(
  fixture: Fixture,
  variables: Variables,
  tree: string,
  query: string,
): Promise<string[]> {
  return (await fixture.ask(variables, tree, query)).split('\n').filter(line => line !== '')
}

export interface RunningApp {
  /** The address of its first program. */
  readonly base: string
  stop(): Promise<void>
}

/** Starts each program of the app with `penv exec`, and waits until it answers on the port that is its own. */
export async function startApp(clone: Clone, fixture: Fixture, tree: string): Promise<RunningApp> {
  const variables = await variablesOf(clone, tree)
  const programs = Object.entries(fixture.start).map(([key, command]) => {
    const child = spawn('penv', ['exec', '--', 'sh', '-c', command], {
      cwd: tree,
      env: clone.box.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => said.push(String(chunk)))
    onTestFinished(() => signalGroup(child, 'SIGKILL'))
    const port = /\d+$/.exec(variables[key] ?? '')?.[0]
    return { command, child, said, base: `http://127.0.0.1:${port}` }
  })
  for (const { command, child, said, base } of programs)
    await waitFor(
      `${command} on ${base}`,
      () => {
        if (hasEnded(child)) throw new Error(`"${command}" has ended in ${tree}:\n${said.join('')}`)
        return fetch(base).then(
          answer => answer.text().then(() => true),
          () => false,
        )
      },
      START_MS,
    )
  return {
    base: (programs[0] as (typeof programs)[0]).base,
    async stop() {
      for (const { child } of programs) signalGroup(child, 'SIGTERM')
      for (const { child, command } of programs) await waitFor(`the end of ${command}`, () => hasEnded(child))
    },
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || hasEnded(child)) return
  process.kill(-child.pid, signal)
}

/** Does all at the same time and waits for each of them, so that nothing runs on when one has failed. */
export async function together<T>(tasks: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(tasks)
  return Promise.all(tasks)
}

/** Fails where `values` are not all different: what is an environment's own is nobody else's. */
export function expectDifferent(what: string, values: readonly (string | undefined)[]): void {
  expect(new Set(values).size, `${what}: ${values.join(', ')}`).toBe(values.length)
}
