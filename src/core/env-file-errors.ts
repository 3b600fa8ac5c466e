// The errors about `.env.preview` and the words they use. They name files, keys and ids, never a value.

import { PenvError } from '../errors.ts'
import { quoteForShell } from './shell-words.ts'

export function unusableFile(
  verb: 'read' | 'write' | 'remove',
  file: string,
  why: string,
  errno?: string,
  cause?: unknown,
): PenvError {
  return new PenvError({
    code: 'ENV_FILE',
    message: `cannot ${verb} "${file}": ${why}`,
    details: { file, ...(errno === undefined ? {} : { errno }) },
    cause,
  })
}

/** The file cannot take this variable, because of a line that was there before. */
export function unclosedQuote(key: string): PenvError {
  return new PenvError({
    code: 'ENV_FILE',
    message: `cannot set "${key}" in .env.preview: a quote that an earlier line opens is not closed`,
    details: { key },
  })
}

export function foreignFile(file: string, owner: string, id: string): PenvError {
  return new PenvError({
    code: 'ENV_FOREIGN',
    message: `cannot use "${file}": it is a copy of the file of ${owner}, and this is ${id}`,
    hint: `To start it afresh, run: rm ${quoteForShell(file)}`,
    details: { file, owner, id },
  })
}

export function busyFile(file: string): PenvError {
  return new PenvError({
    code: 'BUSY',
    message: `cannot change "${file}": other processes have been changing it all the time`,
    details: { file },
  })
}
