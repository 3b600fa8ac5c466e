// Validates answers against the schemas of the contract.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { expect } from 'vitest'

const directory = join(import.meta.dirname, '..', '..', 'contract', 'schema')
const ajv = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true })
;(formats as unknown as (instance: Ajv) => void)(ajv)

export function expectShape(name: string, value: unknown): void {
  const validate =
    ajv.getSchema(name) ??
    ajv
      .addSchema(JSON.parse(readFileSync(join(directory, `${name}.schema.json`), 'utf8')), name)
      .getSchema(name)
  expect(validate?.(value) ? [] : validate?.errors, `${name}: ${JSON.stringify(value)}`).toEqual([])
}
