// The `.env*` files of the main checkout, for comparison only. Never writes there.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readEnvVariables } from '../core/env-file.ts'
import { readEnvFile } from './env-file.ts'
import { ENV_FILE_NAME, isFile } from './paths.ts'

// Examples document keys; nothing runs with their values.
const NOT_IN_USE = /\.(example|sample|template|dist|defaults?|vault|schema|enc|bak|orig)$/i

export interface MainVariables {
  files: string[]
  /** The last file that sets a key wins, in alphabetical order, as `.env.local` does over `.env`. */
  variables: Map<string, { value: string; file: string }>
}

export async function readMainVariables(root: string): Promise<MainVariables> {
  const files = readdirSync(root)
    .filter(
      name =>
        /^\.env(\.|$)/.test(name) &&
        name !== ENV_FILE_NAME &&
        !NOT_IN_USE.test(name) &&
        isFile(join(root, name)),
    )
    .sort()
  const variables = new Map<string, { value: string; file: string }>()
  for (const file of files)
    for (const [key, value] of await readEnvVariables(readEnvFile(join(root, file)) ?? ''))
      variables.set(key, { value, file })
  return { files, variables }
}
