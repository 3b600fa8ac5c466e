// The error of an exhausted pool: who holds its values, since when, and whether their worktree is gone.

import { type Holder, holdersOf } from '../core/allocate.ts'
import { type Ledger, lookUp } from '../core/ledger.ts'
import { formatRange, type Range, sizeOfRange } from '../core/ranges.ts'
import { PenvError } from '../errors.ts'
import { findEnvironment, findWorktreeToShow } from './environments.ts'
import type { Here } from './paths.ts'

const SHOWN_HOLDERS = 3

/** What to throw when no value is left: names the holders, oldest first, and whether their path is gone. */
export async function poolExhausted(
  here: Here,
  kind: 'port' | 'index',
  name: string,
  range: Range,
  pool: string,
  busy: number,
): Promise<PenvError> {
  const found = await findEnvironment(here)
  const ledger = found.kind === 'environment' ? found.ledger : undefined
  const holders = ledger === undefined ? [] : holdersOf(ledger, kind, range, pool)
  const described = holders.map(holder => ({ ...holder, gone: isGone(ledger, holder) }))
  const size = sizeOfRange(range)
  const why = [
    holders.length === size ? `all ${size} are held` : `${holders.length} of ${size} are held`,
    ...(busy > 0 ? [`${busy} are in use by other programs`] : []),
    ...(kind === 'port' && holders.length + busy < size ? ['the rest are refused by browsers'] : []),
  ]
  return new PenvError({
    code: 'POOL_EXHAUSTED',
    message: `no free value for ${kind} "${name}" in ${formatRange(range)}: ${why.join(', ')}`,
    facts: described
      .slice(0, SHOWN_HOLDERS)
      .map(
        ({ id, value, since, root, gone }) =>
          `${value}: ${id}, since ${since.slice(0, 10)}, ${root}${gone ? ' (gone)' : ''}`,
      ),
    hint:
      described.length > 0
        ? 'To release one, run: penv destroy <id>'
        : `To use another range, run: penv get ${kind} ${name} <first>-<last>`,
    details: { name, range: formatRange(range), holders: described, busy },
  })
}

function isGone(ledger: Ledger | undefined, holder: Holder): boolean {
  const record = ledger && lookUp(ledger.environments, holder.id)
  return record !== undefined && findWorktreeToShow(record) === undefined
}
