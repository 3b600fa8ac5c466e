// Prints at the end of a run which servers it ran against and which suites could not run here and why, and removes what
// the servers wrote: a worker that is ended by a signal cannot.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'penv-notes-'))
  const notes = join(directory, 'notes')
  writeFileSync(notes, '')
  process.env.PENV_TEST_SERVER_NOTES = notes
  // The servers run as nobody, who has to pass through.
  const root = mkdtempSync(join(tmpdir(), 'penv-srv-'))
  chmodSync(root, 0o755)
  process.env.PENV_TEST_SERVER_ROOT = root
  return () => {
    const lines = [...new Set(readFileSync(notes, 'utf8').split('\n'))].sort()
    for (const one of [directory, root]) rmSync(one, { recursive: true, force: true, maxRetries: 5 })
    print('Run against real servers:', lines, 'ran ')
    print('Not run on this machine:', lines, 'skipped ')
  }
}

function print(title: string, lines: string[], kind: string): void {
  const texts = lines.filter(line => line.startsWith(kind)).map(line => line.slice(kind.length))
  if (texts.length > 0) process.stdout.write(`\n${title}\n  ${texts.join('\n  ')}\n`)
}
