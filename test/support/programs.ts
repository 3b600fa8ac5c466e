// Suites that need a program which a machine may lack (a shell, a linter, a database client). Such a suite is
// never skipped silently: it is listed at the end of the run, and fails under PENV_TEST_REQUIRE_SERVERS=1.
import { accessSync, appendFileSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, it } from 'vitest'

/** The first executable file of that name on PATH. */
export function findOnPath(name: string): string | undefined {
  const candidates = (process.env.PATH ?? '').split(delimiter).map(directory => join(directory, name))
  return candidates.find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export function describeWith(program: string, name: string, body: () => void): void {
  if (findOnPath(program) !== undefined) {
    describe(name, body)
    return
  }
  const reason = `${name}: no ${program} on PATH`
  const isRequired = process.env.PENV_TEST_REQUIRE_SERVERS === '1'
  describe(name, () => {
    it.runIf(isRequired)(`has ${program} on this machine`, () => {
      throw new Error(reason)
    })
  })
  const list = process.env.PENV_TEST_SKIPPED_LIST
  if (list !== undefined) appendFileSync(list, `${reason}\n`)
  else process.stderr.write(`not run on this machine: ${reason}\n`)
}
