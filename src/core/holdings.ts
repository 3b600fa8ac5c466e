// What an environment holds, in its two renderings: JSON and the lines of a small table. Pure.

import type { EnvironmentRecord } from './ledger.ts'

/** The allocations of a record, for JSON and as the lines of a small table. */
export function describeHoldings(record: EnvironmentRecord | undefined): {
  json: { ports: Record<string, number>; indexes: Record<string, number>; names: Record<string, string> }
  lines: string[]
} {
  const ports = record?.ports ?? {}
  const indexes = Object.fromEntries(
    Object.entries(record?.indexes ?? {}).map(([name, { value }]) => [name, value]),
  )
  const names = record?.names ?? {}
  return {
    json: { ports, indexes, names },
    lines: [
      ...Object.entries(ports).map(([name, port]) => `  port    ${name} ${port}`),
      ...Object.entries(indexes).map(([name, index]) => `  index   ${name} ${index}`),
      ...Object.values(names).map(name => `  name    ${name}`),
    ],
  }
}
