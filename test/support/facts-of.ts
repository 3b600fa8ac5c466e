// Facts of a repository that a test writes down inline: real files in a temporary folder, read by the real reader.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { RepoFacts } from '../../src/core/stack/facts.ts'
import { readRepoFacts } from '../../src/host/repo-facts.ts'

/** @param tracked what git's index has, where a test is about that. */
export async function factsOf(
  files: Readonly<Record<string, string>>,
  tracked?: readonly string[],
): Promise<RepoFacts> {
  const root = mkdtempSync(join(tmpdir(), 'penv-facts-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    return await readRepoFacts(
      root,
      tracked &&
        (async args => (args.includes('ls-files') ? tracked.map(path => `H ${path}`).join('\0') : '')),
    )
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** A package.json with these scripts and dependencies. */
export function manifest(scripts: Record<string, string>, dependencies: readonly string[] = []): string {
  return `${JSON.stringify({ name: 'app', scripts, dependencies: Object.fromEntries(dependencies.map(name => [name, '^1.0.0'])) }, null, 2)}\n`
}
