// What somebody has piped into penv, read to its end. Nothing from a terminal, /dev/null or a closed stdin.

import { fstatSync, readSync, type Stats } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { usageError } from '../errors.ts'
import { errnoOf } from './errno.ts'

const STDIN = 0
const CHUNK_BYTES = 65_536
const POLL_MS = 10

/** The text of a pipe, socket or file on stdin; empty when there is none. */
export async function readPipedText(): Promise<string> {
  const stats = findStdin()
  if (stats === undefined || !(stats.isFIFO() || stats.isFile() || stats.isSocket())) return ''
  const chunks: Buffer[] = []
  for (;;) {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    try {
      const count = readSync(STDIN, chunk, 0, chunk.length, null)
      if (count === 0) return Buffer.concat(chunks).toString('utf8')
      chunks.push(chunk.subarray(0, count))
    } catch (error) {
      if (errnoOf(error) === 'EOF') return Buffer.concat(chunks).toString('utf8')
      // Whoever shares the pipe may have made it non-blocking: empty is not the end.
      if (errnoOf(error) !== 'EAGAIN')
        throw usageError(`the pairs on stdin could not be read (${errnoOf(error)})`)
      await delay(POLL_MS)
    }
  }
}

function findStdin(): Stats | undefined {
  try {
    return fstatSync(STDIN)
  } catch {
    return undefined
  }
}
