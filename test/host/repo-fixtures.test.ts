import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { serviceKey } from '../../src/core/stack/store-names.ts'
import { describeStack } from '../../src/core/stack.ts'
import { readRepoFacts } from '../../src/host/repo-facts.ts'
import type { AskGit } from '../../src/host/repo-walk.ts'

const fixtures = join(import.meta.dirname, '..', 'fixtures', 'repos')

interface Expected {
  promise: string
  required: string[]
  optional: string[]
  tier: number
  blockers: { code: string; file: string; line?: number }[]
  problems: string[]
  /** Files that are left out of git's index, as a developer's own are. */
  untracked?: string[]
  hooksPath?: string
}

const scratch = mkdtempSync(join(tmpdir(), 'repo-fixtures-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const gitEnv = { PATH: process.env.PATH ?? '', HOME: scratch, GIT_CONFIG_NOSYSTEM: '1' }

function checkOut(name: string, expected: Expected): { root: string; askGit: AskGit } {
  const root = join(scratch, name)
  cpSync(join(fixtures, name), root, {
    recursive: true,
    filter: source => basename(source) !== 'expected.json',
  })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, env: gitEnv, encoding: 'utf8' })
  git('init', '--quiet')
  git('add', '--all', '--force')
  if (expected.hooksPath !== undefined) git('config', 'core.hooksPath', expected.hooksPath)
  for (const path of expected.untracked ?? []) git('rm', '--quiet', '--cached', path)
  return {
    root,
    askGit: async args => {
      try {
        return git(...args)
      } catch {
        return undefined
      }
    },
  }
}

const names = readdirSync(fixtures)

describe('the description of a repository', () => {
  it('has at least 25 fixtures', () => {
    expect(names.length).toBeGreaterThanOrEqual(25)
  })

  for (const name of names) {
    const expected = JSON.parse(readFileSync(join(fixtures, name, 'expected.json'), 'utf8')) as Expected
    it(`${expected.promise} (${name})`, async () => {
      const { root, askGit } = checkOut(name, expected)
      const stack = describeStack(await readRepoFacts(root, askGit))
      const named = (need: string) =>
        stack.services
          .filter(service => service.need === need)
          .map(serviceKey)
          .sort()
      expect({
        required: named('required'),
        optional: named('optional'),
        tier: stack.tier.tier,
        blockers: stack.blockers.map(({ code, file, line }) => `${code} ${file}:${line ?? ''}`).sort(),
        problems: [...new Set(stack.problems.map(problem => problem.file))].sort(),
      }).toEqual({
        required: [...expected.required].sort(),
        optional: [...expected.optional].sort(),
        tier: expected.tier,
        blockers: expected.blockers.map(({ code, file, line }) => `${code} ${file}:${line ?? ''}`).sort(),
        problems: [...expected.problems].sort(),
      })
      for (const service of stack.services) {
        expect(service.evidence.length, service.name).toBeGreaterThan(0)
        expect(service.reason, service.name).not.toBe('')
      }
    })
  }
})
