import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RepoFacts } from '../../src/core/stack/facts.ts'
import { describeStack } from '../../src/core/stack.ts'
import { readRepoFacts } from '../../src/host/repo-facts.ts'
import type { AskGit } from '../../src/host/repo-walk.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'repo-facts-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

const git: AskGit = async args => {
  const env = { PATH: process.env.PATH ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' }
  try {
    return execFileSync('git', [...args], {
      cwd: root,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return undefined
  }
}

const required = (facts: RepoFacts) =>
  describeStack(facts)
    .services.filter(service => service.need === 'required')
    .map(service => service.kind)
const reasons = (facts: RepoFacts) => facts.problems.map(problem => `${problem.file}: ${problem.reason}`)
const compose = 'services:\n  db:\n    image: mysql:8\n'

describe('reading a repository', () => {
  it('asks git, and sees what git ignores only where a default run depends on it', async () => {
    write('.gitignore', '.env\nout/\n*.override.yml\n')
    write('.env', 'SECRET=hunter2\nREDIS_URL=redis://:hunter2@localhost\n')
    write('apps/web/.env.local', 'API_URL=http://localhost\n')
    write('out/docker-compose.yml', compose)
    write('compose.yml', compose)
    write('compose.override.yml', 'services:\n  cache:\n    image: redis\n')
    write('node_modules/x/docker-compose.yml', compose)
    write('apps/web/index.js', '')
    await git(['init', '--quiet'])
    await git(['add', 'compose.yml', 'apps/web/index.js', '.gitignore'])
    const facts = await readRepoFacts(root, git)
    expect(facts.paths).toEqual(
      expect.arrayContaining(['compose.yml', 'compose.override.yml', '.env', 'apps/web/.env.local']),
    )
    expect(facts.paths.filter(path => /out\/|node_modules/.test(path))).toEqual([])
    expect([...(facts.tracked ?? [])].sort()).toEqual(['.gitignore', 'apps/web/index.js', 'compose.yml'])
    expect(required(facts).sort()).toEqual(['mysql', 'redis'])
  })

  it('never holds a value of a real env file, nor of a secret key of an example', async () => {
    write('.env', 'DATABASE_URL=postgres://u:hunter2@db/x\nMULTI="one\nFAKE=hunter2\nend"\nLAST=hunter2\n')
    write('.env.example', 'JWT_SECRET=hunter2\nDATABASE_URL=postgres://u:hunter2@db/x\n# API_TOKEN=hunter2\n')
    write(
      'compose.yml',
      'services:\n  db:\n    image: postgres\n    environment:\n      POSTGRES_PASSWORD: hunter2\n',
    )
    write('package.json', '{ "token": hunter2 }')
    const facts = await readRepoFacts(root)
    expect(facts.envFiles.get('.env')?.entries.map(entry => entry.key)).toEqual([
      'DATABASE_URL',
      'MULTI',
      'LAST',
    ])
    expect(facts.envFiles.get('.env')?.entries.every(entry => entry.value === undefined)).toBe(true)
    expect(JSON.stringify([...facts.envFiles])).not.toContain('hunter2')
    expect(JSON.stringify(facts.problems)).not.toContain('hunter2')
    expect(JSON.stringify(describeStack(facts))).not.toContain('hunter2')
  })

  it('takes a tracked .env for defaults, without its secrets', async () => {
    write('.env', 'DATABASE_URL="mysql://app:hunter2@127.0.0.1/app"\nAPP_SECRET=hunter2\n')
    await git(['init', '--quiet'])
    await git(['add', '.env'])
    const facts = await readRepoFacts(root, git)
    expect(facts.envFiles.get('.env')?.kind).toBe('committed')
    expect(JSON.stringify([...facts.envFiles])).not.toContain('hunter2')
    expect(required(facts)).toEqual(['mysql'])
  })

  it.each<[string, Buffer]>([
    ['a byte order mark', Buffer.from(`\uFEFF${compose}`)],
    ['CRLF', Buffer.from(compose.replaceAll('\n', '\r\n'))],
    ['lone CR', Buffer.from(compose.replaceAll('\n', '\r'))],
    ['UTF-16 LE', Buffer.from(`\uFEFF${compose}`, 'utf16le')],
    ['UTF-16 BE', Buffer.from(`\uFEFF${compose}`, 'utf16le').swap16()],
    ['Latin-1 in a comment', Buffer.concat([Buffer.from('# caf\xe9\n', 'latin1'), Buffer.from(compose)])],
  ])('reads a compose file with %s', async (_, bytes) => {
    write('compose.yaml', bytes)
    expect(required(await readRepoFacts(root))).toEqual(['mysql'])
  })

  it.each<[string, string, string | Buffer]>([
    ['a binary', 'compose.yaml', Buffer.from([0, 1, 2, 0, 255])],
    ['tabs', 'compose.yaml', 'services:\n\tdb:\n\t\timage: mysql\n'],
    ['an unknown alias', 'compose.yaml', 'services: *nowhere\n'],
    ['an unclosed bracket', 'compose.yaml', 'services: [\n'],
    ['half a JSON', 'package.json', '{"scripts": {'],
    ['no TOML', 'pyproject.toml', '[tool\n'],
  ])('names %s as a problem and goes on', async (_, path, content) => {
    write(path, content)
    write('docker/compose.yml', compose)
    const facts = await readRepoFacts(root)
    expect(facts.problems.map(problem => problem.file)).toContain(path)
    expect(required(facts)).toEqual(['mysql'])
  })

  it('does not multiply a document that is built to explode', async () => {
    const levels = Array.from(
      { length: 30 },
      (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(9)}*l${n}]`,
    )
    write(
      'compose.yaml',
      `l0: &l0 [x, x, x, x, x, x, x, x, x]\n${levels.join('\n')}\nservices:\n  db: { image: mysql }\n`,
    )
    write('docker/compose.yml', compose)
    const facts = await readRepoFacts(root)
    expect(reasons(facts)[0]).toMatch(/^compose\.yaml: not valid YAML/)
    expect(required(facts)).toEqual(['mysql'])
  })

  it('survives a document nested a hundred thousand times', async () => {
    write('compose.yaml', '['.repeat(100_000))
    write('package.json', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)
    write('pyproject.toml', `a = ${'['.repeat(100_000)}`)
    const facts = await readRepoFacts(root)
    expect(facts.problems.map(problem => problem.file).sort()).toEqual([
      'compose.yaml',
      'package.json',
      'pyproject.toml',
    ])
  })

  it('reads only the beginning of a file of 100 MB, and says so', async () => {
    write('compose.yml', compose)
    write('docker/docker-compose.yml', `${compose}#`)
    truncateSync(join(root, 'compose.yml'), 100_000_000)
    writeFileSync(
      join(root, 'docker', 'docker-compose.yml'),
      Buffer.concat([Buffer.from(`${compose}#`), Buffer.alloc(100_000_000, 'x')]),
    )
    const facts = await readRepoFacts(root)
    expect(reasons(facts)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^docker\/docker-compose\.yml: longer than/)]),
    )
    expect(facts.files.get('docker/docker-compose.yml')?.truncated).toBe(true)
  })

  it('ends in loops of links, and reads no link that leads out', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'outside-'))
    try {
      writeFileSync(join(outside, 'compose.yml'), compose)
      symlinkSync('.', join(root, 'loop'))
      symlinkSync('b', join(root, 'a'))
      symlinkSync('a', join(root, 'b'))
      symlinkSync('compose.yaml', join(root, 'compose.yaml'))
      symlinkSync('gone', join(root, '.env.example'))
      symlinkSync(join(outside, 'compose.yml'), join(root, 'compose.yml'))
      symlinkSync(outside, join(root, 'docker'))
      const facts = await readRepoFacts(root)
      expect(facts.yaml.size).toBe(0)
    } finally {
      rmSync(outside, { recursive: true, force: true })
    }
  })

  it('reads a link to a compose file inside the repository', async () => {
    write('docker/dev.yml', compose)
    symlinkSync('docker/dev.yml', join(root, 'compose.yml'))
    expect(required(await readRepoFacts(root))).toEqual(['mysql'])
  })

  it('does not wait for a pipe, and takes no folder for a file', async () => {
    execFileSync('mkfifo', [join(root, 'compose.yaml')])
    mkdirSync(join(root, 'package.json'))
    write('compose.yml', compose)
    expect(required(await readRepoFacts(root))).toEqual(['mysql'])
  })

  it('goes on past a folder and a file that cannot be opened', async () => {
    write('compose.yml', compose)
    write('package.json', '{}')
    write('docker/compose.yml', compose)
    chmodSync(join(root, 'package.json'), 0)
    chmodSync(join(root, 'docker'), 0)
    try {
      expect(required(await readRepoFacts(root))).toEqual(['mysql'])
    } finally {
      chmodSync(join(root, 'docker'), 0o755)
    }
  })

  it('reads names with spaces, quotes, newlines and other scripts', async () => {
    write('my app/docker-compose.yml', compose)
    write('naïve "q"\n/日本/compose.yml', 'services:\n  kv:\n    image: redis\n')
    await git(['init', '--quiet'])
    await git(['add', '--all'])
    const facts = await readRepoFacts(root, git)
    expect(facts.tracked?.has('naïve "q"\n/日本/compose.yml')).toBe(true)
    expect(required(facts)).toContain('mysql')
  })

  it('walks where git fails, and leaves out what others wrote', async () => {
    write('compose.yml', compose)
    write('vendor/x/docker-compose.yml', compose)
    write('.venv/lib/docker-compose.yml', compose)
    write('target/docker-compose.yml', compose)
    const facts = await readRepoFacts(root, async () => undefined)
    expect(facts.tracked).toBeUndefined()
    expect(facts.paths).toEqual(['compose.yml'])
  })

  it('is empty for a folder that does not exist', async () => {
    const facts = await readRepoFacts(join(root, 'gone'))
    expect(facts.paths).toEqual([])
    expect(describeStack(facts)).toMatchObject({ services: [], tier: { tier: 0 }, blockers: [] })
  })
})
