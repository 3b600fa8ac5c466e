import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { readInitSources } from '../../src/core/init/init-sources.ts'
import { composeInitScripts, type InitScripts } from '../../src/core/init-scripts.ts'
import { describeStack } from '../../src/core/stack.ts'
import { readRepoFacts } from '../../src/host/repo-facts.ts'
import { makeStubBox } from '../support/stub-scripts.ts'

const fixtures = join(import.meta.dirname, '..', 'fixtures', 'repos')
const hasShellcheck = spawnSync('shellcheck', ['--version']).status === 0
const scratch = mkdtempSync(join(tmpdir(), 'init-fixtures-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Each with the reason that STYLE gives. */
const BANNED: [RegExp, string][] = [
  [/^\s*local\s/m, 'local is not POSIX'],
  [/\[\[/, '[[ is not POSIX'],
  [/\beval\b/, 'eval runs data'],
  [/\bsed -i\b/, 'sed -i differs between systems'],
  [/\breadlink -f\b/, 'readlink -f differs between systems'],
  [/\bgrep -P\b/, 'grep -P differs between systems'],
  [/\becho -e\b/, 'echo -e differs between shells'],
  [/\bwhich\s/, 'which differs between systems'],
  [/\|\|\s*(true|:)\s*$/m, 'a failure is hidden'],
  [/FLUSHALL|FLUSHDB/i, 'a flush goes through the adapter'],
]

/** What is installed whether or not migrations run. */
const INSTALL = /^exec (npm|pnpm|yarn|bun|deno|composer) (ci|install)\b/

interface Expected {
  migrations?: { tool: string; folder: string; directory: string | null; command: string | null }[]
  starts?: { folder: string; command: string; ports: string[] }[]
  envKeys?: string[]
}

const names = readdirSync(fixtures)

describe('the scripts that init composes', () => {
  for (const name of names) {
    const root = join(fixtures, name)
    const expected = JSON.parse(readFileSync(join(root, 'expected.json'), 'utf8')) as Expected

    it(`finds migrations, starts and keys of ${name}`, async () => {
      const stack = describeStack(await readRepoFacts(root))
      if (expected.migrations !== undefined)
        expect(
          stack.migrations.map(({ tool, folder, directory, command }) => ({
            tool,
            folder,
            directory: directory ?? null,
            command: command ?? null,
          })),
        ).toEqual(expected.migrations)
      if (expected.starts !== undefined)
        expect(
          stack.starts
            .filter(start => start.isDefault)
            .map(({ folder, command, ports }) => ({
              folder,
              command,
              ports: ports.map(
                port =>
                  `${port.variable ?? '-'}=${port.port ?? '-'} ${port.evidence.file}:${port.evidence.line}`,
              ),
            })),
        ).toEqual(expected.starts)
      if (expected.envKeys !== undefined)
        expect(
          stack.envKeys
            .filter(key => key.isActive)
            .map(key => `${key.key} ${key.service} ${key.part}`)
            .sort(),
        ).toEqual([...expected.envKeys].sort())
    })

    for (const mode of ['shared', 'own'] as const)
      it(`are sound for ${name} with compose ${mode}`, async () => {
        const facts = await readRepoFacts(root)
        const stack = describeStack(facts)
        const sources = readInitSources(facts)
        if (mode === 'own' && sources.compose === undefined) {
          expect(() => composeInitScripts(stack, sources, { compose: mode })).toThrow(
            expect.objectContaining({ code: 'USAGE' }),
          )
          return
        }
        const result = composeInitScripts(stack, sources, { compose: mode })
        expect([...result.files.keys()]).toEqual(
          expect.arrayContaining(['provision.sh', 'verify.sh', 'teardown.sh']),
        )
        checkText(name, mode, result)
        const again = composeInitScripts(describeStack(facts), readInitSources(facts), { compose: mode })
        expect([...again.files]).toEqual([...result.files])
        checkRun(root, result)
      })
  }
})

function checkText(name: string, mode: string, { files, questions }: InitScripts): void {
  const folder = mkdtempSync(join(scratch, `${name}-${mode}-`))
  const scripts: string[] = []
  for (const [file, text] of files) {
    const path = join(folder, file)
    writeFileSync(path, text)
    expect(text.endsWith('\n') && !text.endsWith('\n\n'), file).toBe(true)
    for (const line of text.split('\n').filter(one => one.includes('# QUESTION:')))
      expect(line).toMatch(/^\s*# QUESTION: \S.*\?$/)
    if (!file.endsWith('.sh')) continue
    scripts.push(path)
    expect(text.startsWith('#!/bin/sh\n# '), file).toBe(true)
    if (file !== 'servers.sh') expect(text, file).toMatch(/^set -eu$/m)
    const code = text.replace(/^\s*#.*$/gm, '')
    for (const [pattern, why] of BANNED) expect(code, `${file}: ${why}`).not.toMatch(pattern)
    execFileSync('dash', ['-n', path])
  }
  expect(new Set(questions).size).toBe(questions.length)
  if (hasShellcheck) expect(spawnSync('shellcheck', scripts, { encoding: 'utf8' }).stdout).toBe('')
  for (const file of ['compose.yaml']) {
    const text = files.get(file)
    if (text !== undefined) expect(parseDocument(text, { logLevel: 'silent' }).errors).toEqual([])
  }
}

/** Run with `set -u`, every variable that a script uses has been set. */
function checkRun(root: string, { files, mode }: InitScripts): void {
  const box = makeStubBox(files, root)
  try {
    const { log, env } = box.run('provision.sh')
    expect(log.length).toBeGreaterThan(0)
    for (const [key, value] of env) expect(value, key).not.toContain('$')
    const quiet = box.run('provision.sh', [], { PENV_NO_MIGRATE: '1' })
    expect(quiet.log.filter(line => line.startsWith('exec ') && !INSTALL.test(line))).toEqual([])
    const taken = log
      .filter(line => /^\w+_create /.test(line))
      .map(line => line.replace(/_create (\S+).*/, ' $1'))
    box.run('verify.sh')
    const dropped = box.run('teardown.sh').log
    expect(
      dropped.filter(line => /^\w+_drop /.test(line)).map(line => line.replace('_drop ', ' ').trim()),
    ).toEqual(taken)
    if (mode === 'own') {
      expect(log.find(line => line.includes(' up '))).toMatch(
        /^docker compose .*-p preview-wt_abc123 .*--env-file .*\.env\.preview .*up -d --wait/,
      )
      expect(dropped).toContain('docker compose -p preview-wt_abc123 down -v --remove-orphans')
      expect(env.get('COMPOSE_PROJECT_NAME')).toBe('preview-wt_abc123')
    }
    if (files.has('bootstrap.sh')) {
      const built = box.run('bootstrap.sh', ['build'], { PENV_TEMPLATE: 'penv_tpl_x' }).log
      expect(built[0]).toMatch(/_create penv_tpl_x/)
      expect(built.at(-1)).toMatch(/_freeze penv_tpl_x$/)
      expect(built.length, 'nothing migrates the template').toBeGreaterThan(2)
      for (const call of built.slice(1, -1).filter(call => !/^(venv_use|penv get)/.test(call)))
        expect(call).toContain('@template')
      expect(box.run('bootstrap.sh', ['drop'], { PENV_TEMPLATE: 'penv_tpl_x' }).log).toHaveLength(1)
    }
    if (files.has('seed.sh')) box.run('seed.sh')
  } finally {
    box.remove()
  }
}
