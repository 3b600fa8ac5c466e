// Prints at the end of a run which server suites could not run here and why, so that no skip goes unseen.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'penv-skipped-'))
  const list = join(directory, 'list')
  writeFileSync(list, '')
  process.env.PENV_TEST_SKIPPED_LIST = list
  return () => {
    const lines = [...new Set(readFileSync(list, 'utf8').split('\n'))].filter(line => line !== '').sort()
    rmSync(directory, { recursive: true, force: true })
    if (lines.length > 0) process.stdout.write(`\nNot run on this machine:\n  ${lines.join('\n  ')}\n`)
  }
}
