// The promises that every adapter keeps, as one suite that runs against a real server.
// It knows no server: each servers/<adapter>.test.ts tells how to start one and how an application uses it.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runVerbs, type Verbs } from '../support/adapters.ts'
import { describeServer, findProgram, noteServer, testPath } from '../support/servers.ts'

export interface RunningServer {
  /** Empty for what is no real server. */
  version: string
  /** host:port as messages must name it; empty where `hasServer` is false. */
  address: string
  /** The connection variables that scripts have, password included. */
  env: Record<string, string>
  /** The password in `env`. Choose one with characters that need care; empty where `hasPassword` is false. */
  password: string
  /** `env` with a wrong password. */
  wrongEnv?: Record<string, string>
  stop(): Promise<void>
}

export interface AdapterUnderTest {
  /** File name and verb prefix, `postgres`. */
  service: string
  /** What tells this suite from another of the same adapter, `http`. */
  variant?: string
  aliases?: string[]
  /** Why the suite cannot run here (`missingPrograms`), undefined when it can. */
  missing: string | undefined
  /** False for files: nothing to stop, and each environment sees only its own slices. True unless given. */
  hasServer?: boolean
  /** False where the server knows no passwords here. True unless given. */
  hasPassword?: boolean
  /** False where clients take the password from elsewhere than the URL. True unless given. */
  hasPasswordInUrl?: boolean
  /** Clients that the adapter may call; shims record how. The suite also takes them away. */
  clients: string[]
  start(): Promise<RunningServer>
  /** The slice's NAME for an environment; `preview_<id>` unless given. The same for the same id. */
  sliceOf?(id: string): string
  /** Where the environments' PENV_DATA are, `<dataRoot>/envs/<id>/data`, for a family that keeps its slices there. */
  dataRoot?: string
  /** How a script of another environment would name that slice; the same unless given. */
  foreignNameOf?(id: string): string
  /** Names that verify and drop must refuse: main's database, index 0, nonsense. */
  wrongTargets: string[]
  /** As an application: keeps a value in a slice, reads it (undefined when slice or value are absent). */
  write(server: RunningServer, slice: string, value: string): Promise<void>
  read(server: RunningServer, slice: string): Promise<string | undefined>
  /** The same in what main owns on this server. `prepareMain` makes it, where it must be made. */
  prepareMain?(server: RunningServer): Promise<void>
  writeMain(server: RunningServer, value: string): Promise<void>
  readMain(server: RunningServer): Promise<string | undefined>
  /** Slices that are not penv's but look alike; `list` must not show them. */
  lookalikes?(server: RunningServer): Promise<void>
  /** Opens a connection to the slice and keeps it; resolves with its release, which must not throw. */
  hold?(server: RunningServer, slice: string): Promise<() => Promise<void>>
}

const LOGIN = 'login_k3v9xa'
const FIX = 'fix_p2m8qd'
const BASE_TOOLS =
  'awk cat chmod cut date dirname env expr find grep head id ls mkdir mktemp mv od rm sed sh sleep sort tail tr uname wc xxd'

const findShell = (shell: string) => findProgram(shell.split(' ')[0] ?? '') !== undefined

export function describeAdapter(adapter: AdapterUnderTest): void {
  const title = `${adapter.service} adapter${adapter.variant === undefined ? '' : `, ${adapter.variant}`}`
  describeServer(title, adapter.missing, () => {
    const { service } = adapter
    const sliceOf = adapter.sliceOf ?? (id => `preview_${id}`)
    const mine = sliceOf(LOGIN)
    const theirs = sliceOf(FIX)
    const foreign = (adapter.foreignNameOf ?? sliceOf)(FIX)
    const hasServer = adapter.hasServer ?? true
    const hasPassword = adapter.hasPassword ?? true
    let scratch: string
    let server: RunningServer

    /** Runs verbs as a script of environment `id` would, on this server. */
    const run = (id: string, script: string, more: Partial<Verbs> = {}) =>
      runVerbs({
        service,
        script,
        id,
        data: dataOf(id),
        ...more,
        env: { ...server.env, ...more.env },
      })
    const dataOf = (id: string) => {
      const data = join(scratch, 'envs', id, 'data')
      mkdirSync(data, { recursive: true, mode: 0o700 })
      return data
    }
    const succeed = async (id: string, script: string, more: Partial<Verbs> = {}) => {
      const result = await run(id, script, more)
      expect(result, `${script}\n${result.stderr}`).toMatchObject({ code: 0 })
      return result
    }
    const refuse = async (id: string, script: string, more: Partial<Verbs> = {}) => {
      const result = await run(id, script, more)
      expect(result.code, `${script} must fail\n${result.stdout}${result.stderr}`).not.toBe(0)
      expect(result.stderr).toMatch(/^penv: /m)
      return result
    }
    const listed = async (more: Partial<Verbs> = {}) =>
      (await succeed(LOGIN, `${service}_list`, more)).stdout
        .split('\n')
        .filter(line => line !== '')
        .sort()

    beforeAll(async () => {
      scratch = adapter.dataRoot ?? mkdtempSync(join(tmpdir(), 'penv-adapter-'))
      server = await adapter.start()
      if (server.version !== '') noteServer('ran', `${service} ${server.version}`)
      await adapter.prepareMain?.(server)
      await adapter.writeMain(server, 'of main')
    })
    afterAll(async () => {
      await server?.stop()
      rmSync(scratch, { recursive: true, force: true })
    })

    it('creates a slice, and leaves its content alone when asked again', async () => {
      await succeed(LOGIN, `${service}_create ${mine}`)
      await adapter.write(server, mine, 'of login')
      const again = await succeed(LOGIN, `${service}_create ${mine}`)
      expect(again.stdout).toBe('')
      expect(await adapter.read(server, mine)).toBe('of login')
    })

    it('keeps two environments apart', async () => {
      await succeed(FIX, `${service}_create ${theirs}`)
      expect(await adapter.read(server, theirs)).toBeUndefined()
      await adapter.write(server, theirs, 'of fix')
      expect(await adapter.read(server, mine)).toBe('of login')
    })

    it('verifies its own slice and leaves no trace in it', async () => {
      const result = await succeed(LOGIN, `${service}_verify ${mine}`)
      expect(result.stdout).toBe('')
      await succeed(LOGIN, `${service}_verify ${mine}`)
      expect(await adapter.read(server, mine)).toBe('of login')
    })

    it('notices a slice that does not exist', async () => {
      await refuse('gone_x7t4wc', `${service}_verify ${sliceOf('gone_x7t4wc')}`)
    })

    it.each([...adapter.wrongTargets, foreign, ''])('notices the wrong target "%s"', async name => {
      await refuse(LOGIN, `${service}_verify '${name}'`)
    })

    it.each([...adapter.wrongTargets, foreign, ''])('refuses to drop "%s"', async name => {
      await refuse(LOGIN, `${service}_drop '${name}'`)
    })

    it('has kept all that it refused to drop', async () => {
      expect(await adapter.read(server, theirs)).toBe('of fix')
      expect(await adapter.readMain(server)).toBe('of main')
    })

    it('lists exactly the slices of penv', async () => {
      await adapter.lookalikes?.(server)
      expect(await listed()).toEqual(hasServer ? [mine, theirs].sort() : [mine])
    })

    it('gives a URL, with the password percent-encoded in it, on stdout alone', async () => {
      const { stdout, stderr } = await succeed(LOGIN, `${service}_url ${mine}`)
      expect(stderr).toBe('')
      expect(stdout).toMatch(/^\S+\n$/)
      if (hasPassword && (adapter.hasPasswordInUrl ?? true))
        expect(decodeURIComponent(new URL(stdout.trim()).password)).toBe(server.password)
    })

    const shells = ['bash -euo pipefail', 'busybox sh -eu', 'dash -eu'].filter(findShell)
    it.each(shells)('works when sourced by %s', async shell => {
      const id = 'shells_b5n2rt'
      const slice = sliceOf(id)
      const [program = '', ...args] = shell.split(' ')
      const verbs = ['create', 'verify', 'drop'].map(verb => `${service}_${verb} ${slice}`)
      await succeed(id, verbs.join('\n'), { shell: [program, ...args] })
    })

    it.runIf(adapter.aliases !== undefined)('has the same verbs under its other names', async () => {
      const id = 'alias_h6w3zd'
      const slice = sliceOf(id)
      for (const alias of adapter.aliases ?? []) {
        const verbs = ['create', 'verify', 'url', 'list', 'drop'].map(verb => `${alias}_${verb} ${slice}`)
        const { stdout } = await succeed(id, verbs.join('\n'), { service: alias })
        expect(stdout.split('\n')).toContain(slice)
        expect(await listed()).not.toContain(slice)
      }
    })

    it.runIf(hasPassword)('never shows the password to other processes or in what it prints', async () => {
      const shims = join(scratch, 'shims')
      const log = join(scratch, 'commands.log')
      mkdirSync(shims)
      writeFileSync(log, '')
      for (const tool of [...adapter.clients, ...BASE_TOOLS.split(' ')]) {
        const real = findProgram(tool, (server.env.PATH ?? '').split(':'))
        if (real === undefined) continue
        writeFileSync(
          join(shims, tool),
          `#!/bin/sh\nprintf '%s\\n' "${tool} $*" >>'${log}'\nexec '${real}' "$@"\n`,
        )
        chmodSync(join(shims, tool), 0o755)
      }
      const id = 'quiet_c4y8mf'
      const slice = sliceOf(id)
      const verbs = ['create', 'create', 'verify', 'drop'].map(verb => `${service}_${verb} ${slice}`)
      const more = { env: { PATH: `${shims}:${server.env.PATH ?? testPath}` } }
      const script = `url=$(${service}_url ${slice})\n${verbs.join('\n')}\n${service}_list`
      const { stdout, stderr } = await succeed(id, script, more)
      const commands = readFileSync(log, 'utf8')
      expect(commands).toMatch(new RegExp(`^(${adapter.clients.join('|')}) `, 'm'))
      const files = readdirSync(dataOf(id), { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile())
        .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      for (const text of [stdout, stderr, commands, ...files])
        for (const form of [server.password, encodeURIComponent(server.password)])
          expect(text).not.toContain(form)
    })

    it('names the client that is missing and how to get it', async () => {
      const bare = join(scratch, 'bare')
      mkdirSync(bare)
      for (const tool of BASE_TOOLS.split(' ')) {
        const real = findProgram(tool)
        if (real !== undefined) symlinkSync(real, join(bare, tool))
      }
      for (const verb of ['create', 'verify', 'drop', 'list']) {
        const { stderr } = await refuse(LOGIN, `${service}_${verb} ${mine}`, {
          env: { PATH: bare },
          shell: [findProgram('sh') ?? '/bin/sh', '-eu'],
        })
        expect(
          adapter.clients.some(client => stderr.includes(client)),
          stderr,
        ).toBe(true)
        expect(stderr).toMatch(/To get it, /)
      }
      expect(await adapter.read(server, mine)).toBe('of login')
    })

    it.runIf(hasPassword)('says that a password is wrong without showing it', async () => {
      const wrongEnv = server.wrongEnv ?? {}
      const wrong = Object.entries(wrongEnv).find(([name, value]) => server.env[name] !== value)?.[1]
      expect(wrong).toBeDefined()
      for (const verb of ['create', 'verify', 'drop', 'list']) {
        const { stdout, stderr } = await refuse(LOGIN, `${service}_${verb} ${mine}`, { env: wrongEnv })
        expect(stderr).toMatch(/password|auth|denied|login|credential|signature/i)
        expect(stdout + stderr).not.toContain(wrong as string)
      }
      expect(await adapter.read(server, mine)).toBe('of login')
    })

    it('drops a slice that somebody is connected to, and is content when it is gone already', async () => {
      const release = await adapter.hold?.(server, mine)
      try {
        const { stdout } = await succeed(LOGIN, `${service}_drop ${mine}`)
        expect(stdout).toBe('')
      } finally {
        await release?.()
      }
      expect(await adapter.read(server, mine)).toBeUndefined()
      expect(await listed()).not.toContain(mine)
      await succeed(LOGIN, `${service}_drop ${mine}`)
    })

    it('leaves what others own as it was', async () => {
      expect(await adapter.read(server, theirs)).toBe('of fix')
      expect(await adapter.readMain(server)).toBe('of main')
      await succeed(FIX, `${service}_drop ${theirs}`)
      expect(await listed()).toEqual([])
      expect(await adapter.readMain(server)).toBe('of main')
    })

    it.runIf(hasServer)('fails and names host and port when the server is stopped', async () => {
      await server.stop()
      for (const verb of ['create', 'verify', 'drop', 'list']) {
        const script = `if ${service}_${verb} ${mine}; then exit 0; else exit 9; fi`
        const result = await refuse(LOGIN, script)
        expect(result.code, 'also where errexit is off').toBe(9)
        expect(result.stderr).toContain(server.address)
      }
    })
  })
}
