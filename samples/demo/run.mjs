// The demo: two worktrees of one repository, each with its own server, port and data, from nothing to nothing.
// Fails when anything of what it prints does not hold. Everything lives in one temporary directory.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const startedAt = Date.now()
const program = join(import.meta.dirname, '..', '..', 'dist', 'penv.cjs')
const root = realpathSync(mkdtempSync(join(tmpdir(), 'penv demo ')))
const home = join(root, 'home')
const shop = join(root, 'shop')
const env = {
  PATH: process.env.PATH,
  HOME: home,
  PENV_HOME: join(home, 'state'),
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Demo',
  GIT_AUTHOR_EMAIL: 'demo@example.invalid',
  GIT_COMMITTER_NAME: 'Demo',
  GIT_COMMITTER_EMAIL: 'demo@example.invalid',
}
const servers = []

const say = line => process.stdout.write(`${line}\n`)
const git = (cwd, ...args) => execFileSync('git', args, { cwd, env, encoding: 'utf8' })

/** Runs penv where a person would, shows the call and its answer, and returns the answer. */
function penv(cwd, ...args) {
  say(`\n${cwd.slice(root.length + 1)}$ penv ${args.join(' ')}`)
  const answer = execFileSync(process.execPath, [program, ...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  process.stdout.write(answer)
  return answer.trim()
}

async function startServer(worktree) {
  say(`\n${worktree.slice(root.length + 1)}$ penv exec -- node server.mjs &`)
  const server = spawn(process.execPath, [program, 'exec', '--', 'node', 'server.mjs'], { cwd: worktree, env, stdio: 'inherit' })
  servers.push(server)
  const port = Number(execFileSync(process.execPath, [program, 'get', 'port', 'web'], { cwd: worktree, env, encoding: 'utf8' }))
  const url = `http://127.0.0.1:${port}/notes`
  for (let tries = 0; ; tries++) {
    try {
      await (await fetch(url)).json()
      return { port, url }
    } catch (error) {
      if (tries > 100) throw error
      await delay(50)
    }
  }
}

async function stopServers() {
  await Promise.all(servers.splice(0).map(server => (server.exitCode === null ? new Promise(done => server.once('exit', done) && server.kill('SIGTERM')) : undefined)))
}

const notesOf = async ({ url }) => (await fetch(url)).json()

const isFree = port =>
  new Promise(done => {
    const probe = createServer()
    probe.once('error', () => done(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(true)))
  })

try {
  say(`A repository with a notes app that keeps its data in a file, in ${root}`)
  cpSync(join(import.meta.dirname, 'notes'), shop, { recursive: true })
  git(shop, 'init', '--quiet', '--initial-branch=main')
  git(shop, 'add', '--all')
  git(shop, 'commit', '--quiet', '--message=Notes')

  const login = join(root, 'login')
  const cart = join(root, 'cart')
  for (const worktree of [login, cart]) {
    const branch = worktree.slice(root.length + 1)
    say(`\nshop$ git worktree add ../${branch} -b ${branch}`)
    git(shop, 'worktree', 'add', '--quiet', worktree, '-b', branch)
    penv(worktree, 'up')
  }

  const [loginServer, cartServer] = [await startServer(login), await startServer(cart)]
  assert.notEqual(loginServer.port, cartServer.port)
  say(`\nlogin listens on ${loginServer.port}, cart on ${cartServer.port}. A note for login:`)
  await fetch(loginServer.url, { method: 'POST', body: 'buy milk' })
  assert.deepEqual(await notesOf(loginServer), ['buy milk'])
  assert.deepEqual(await notesOf(cartServer), [])
  say('login has 1 note, cart has 0')

  for (const worktree of [login, cart]) penv(worktree, 'verify')
  assert.equal(JSON.parse(execFileSync(process.execPath, [program, 'list', '--json'], { cwd: shop, env, encoding: 'utf8' })).envs.length, 2)
  penv(shop, 'list')

  await stopServers()
  for (const worktree of [login, cart]) penv(worktree, 'destroy')

  for (const { port } of [loginServer, cartServer]) assert.ok(await isFree(port), `port ${port} is still taken`)
  for (const worktree of [login, cart]) assert.ok(!existsSync(join(worktree, '.env.preview')), '.env.preview is left')
  assert.deepEqual(readdirSync(join(env.PENV_HOME, 'envs')), [], 'files of an environment are left')
  assert.equal(penv(shop, 'list'), '', 'a record is left')

  say(`\nproven in ${((Date.now() - startedAt) / 1000).toFixed(1)} s: two worktrees had their own port and data, and nothing is left: no port, no file, no record`)
} finally {
  await stopServers()
  rmSync(root, { recursive: true, force: true })
}
