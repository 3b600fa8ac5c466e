import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeSandbox } from '../support/sandbox.ts'

it('reads JSON with comments in the built program, and takes its wiring out without a trace', async () => {
  const box = makeSandbox()
  const file = join(box.main, '.claude', 'settings.json')
  const before = '{\n  // the team\'s own\n  "model": "opus", /* kept */\n}\n'
  box.write(box.main, { '.claude/settings.json': before })
  await box.penv(box.main, ['init', '--agents', 'claude'], { stderr: 'any' })
  const after = readFileSync(file, 'utf8')
  expect(after).toContain('penv session')
  expect(after).toContain("// the team's own")
  await box.penv(box.main, ['init', '--uninstall'], { stderr: 'any' })
  expect(readFileSync(file, 'utf8')).toBe(before)
})
