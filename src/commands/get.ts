// `penv get port|index|name`: prints allocated values, allocating them first where that is needed.

import type { Answer, Context } from '../context.ts'
import { requireName, toKebab } from '../core/allocate.ts'
import {
  DEFAULT_PORT_RANGE,
  formatRange,
  looksLikeRange,
  parseIndexRange,
  parsePortRange,
  type Range,
  rangesOverlap,
} from '../core/ranges.ts'
import { quoteForShell } from '../core/shell-words.ts'
import { PenvError, usageError } from '../errors.ts'
import { allocateIndexes, allocateNames } from '../host/allocations.ts'
import { allocatePorts } from '../host/port-allocations.ts'
import { readEphemeralRange } from '../host/ports.ts'

export interface GetOptions {
  renew?: boolean
  pool?: string
  style?: string
  main?: string
  export?: boolean
}

export async function getPort(
  context: Context,
  words: readonly string[],
  options: GetOptions,
): Promise<Answer> {
  const { names, range } = splitRange(words, parsePortRange)
  names.forEach(requireName)
  if (range !== undefined) noteEphemeral(context, range)
  return answerFor(
    names,
    options,
    'ports',
    (name, port) => ({ name, port }),
    () =>
      allocatePorts(context, names, {
        range,
        defaultRange: DEFAULT_PORT_RANGE,
        renew: options.renew === true,
      }),
  )
}

export async function getIndex(
  context: Context,
  words: readonly string[],
  options: GetOptions,
): Promise<Answer> {
  const { names, range } = splitRange(words, parseIndexRange)
  names.forEach(requireName)
  const pool = options.pool === undefined ? undefined : requireName(options.pool)
  if (range?.first === 0)
    context.note(`index 0 is usually the main checkout's: ${formatRange(range)} may hand it out`)
  return answerFor(
    names,
    options,
    'indexes',
    (name, index) => ({ name, index }),
    () => allocateIndexes(context, names, { range, pool, renew: options.renew === true }),
  )
}

export async function getName(
  context: Context,
  suffixes: readonly string[],
  options: GetOptions,
): Promise<Answer> {
  const style = options.style ?? 'snake'
  if (style !== 'snake' && style !== 'kebab')
    throw usageError(`"${style}" is not a style: use snake or kebab`)
  return answerFor(
    suffixes,
    options,
    'names',
    (suffix, value) => ({ suffix, value }),
    async () => {
      const names = await allocateNames(context, suffixes)
      return style === 'kebab' ? names.map(toKebab) : names
    },
  )
}

function splitRange(
  words: readonly string[],
  parse: (word: string) => Range,
): { names: string[]; range: Range | undefined } {
  const last = words.at(-1)
  const hasRange = words.length > 1 && last !== undefined && looksLikeRange(last)
  return { names: hasRange ? words.slice(0, -1) : [...words], range: hasRange ? parse(last) : undefined }
}

function noteEphemeral(context: Context, range: Range): void {
  const ephemeral = readEphemeralRange()
  if (ephemeral !== undefined && rangesOverlap(range, ephemeral))
    context.note(
      `${formatRange(range)} overlaps the ports of outgoing connections (${formatRange(ephemeral)}): one may be taken before it is used`,
    )
}

async function answerFor<T extends string | number>(
  names: readonly string[],
  options: GetOptions,
  plural: string,
  describe: (name: string, value: T | string) => unknown,
  allocate: () => Promise<T[]>,
): Promise<Answer> {
  if (options.main !== undefined && names.length > 1)
    throw usageError('--main is the value of one name, and several were given')
  let values: (T | string)[]
  try {
    values = await allocate()
  } catch (error) {
    if (options.main === undefined || !isOnMainCheckout(error)) throw error
    values = [options.main]
  }
  const items = names.map((name, at) => ({ name, value: values[at] as T | string }))
  return {
    json:
      items.length === 1 && items[0]
        ? describe(items[0].name, asNumber(items[0].value))
        : { [plural]: items.map(item => describe(item.name, item.value)) },
    text: items
      .map(({ name, value }) =>
        options.export ? `${toVariable(name)}=${quoteForShell(String(value))}` : String(value),
      )
      .join('\n'),
  }

  /** `--main 3000` is a port like any other. */
  function asNumber(value: T | string): T | string {
    return plural !== 'names' && typeof value === 'string' && /^\d+$/.test(value)
      ? (Number(value) as T)
      : value
  }
}

function isOnMainCheckout(error: unknown): boolean {
  return error instanceof PenvError && error.code === 'NOT_A_WORKTREE' && error.details.place === 'main'
}

function toVariable(name: string): string {
  return name
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_')
    .toUpperCase()
}
