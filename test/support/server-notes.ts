// Prints at the end of a run which servers it ran against and which suites could not run here and why.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'penv-notes-'))
  const notes = join(directory, 'notes')
  writeFileSync(notes, '')
  process.env.PENV_TEST_SERVER_NOTES = notes
  return () => {
    const lines = [...new Set(readFileSync(notes, 'utf8').split('\n'))].sort()
    rmSync(directory, { recursive: true, force: true })
    print('Run against real servers:', lines, 'ran ')
    print('Not run on this machine:', lines, 'skipped ')
  }
}

function print(title: string, lines: string[], kind: string): void {
  const texts = lines.filter(line => line.startsWith(kind)).map(line => line.slice(kind.length))
  if (texts.length > 0) process.stdout.write(`\n${title}\n  ${texts.join('\n  ')}\n`)
}
