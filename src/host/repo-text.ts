// Reads the beginning of one text file of a checkout. It opens nothing but regular files inside the root, so that a
// pipe, a device or a link that leads out is never read, and turns every encoding into plain lines.
import { closeSync, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { FactFile, Problem } from '../core/stack/facts.ts'

/**
 * The text of a regular file inside the root, or undefined: a link that leads out, a pipe, a binary.
 * A binary is a problem only where the name promises text (`isText`): programs lie in bin/ too.
 */
export function readFactFile(
  root: string,
  path: string,
  limit: number,
  isText: boolean,
  problems: Problem[],
): FactFile | undefined {
  const full = join(root, path)
  try {
    const status = lstatSync(full)
    if (status.isSymbolicLink()) {
      const target = realpathSync.native(full)
      if (!target.startsWith(root + sep)) return undefined
      // Opening a pipe or device would wait for ever.
      if (!lstatSync(target).isFile()) return undefined
    } else if (!status.isFile()) return undefined
    const buffer = readBeginning(full, limit + 1)
    const text = decode(buffer.subarray(0, limit))
    if (text === undefined) {
      if (isText) problems.push({ file: path, reason: 'not a text file' })
      return undefined
    }
    const truncated = buffer.length > limit
    const plain = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
    return { path, text: plain, truncated, ...(text.includes('\r\n') ? { hasCrlf: true as const } : {}) }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error'
    // Deleted but still in git's index, or a link to nothing: no such file, so nothing to report.
    if (code !== 'ENOENT') problems.push({ file: path, reason: `cannot be read: ${code}` })
    return undefined
  }
}

function readBeginning(path: string, limit: number): Buffer {
  const descriptor = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(Math.min(limit, fstatSync(descriptor).size))
    let length = 0
    while (length < buffer.length) {
      const got = readSync(descriptor, buffer, length, buffer.length - length, length)
      if (got === 0) break
      length += got
    }
    return buffer.subarray(0, length)
  } finally {
    closeSync(descriptor)
  }
}

function decode(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  if (bytes.subarray(0, 8_000).includes(0)) return undefined
  // TextDecoder drops the mark that some editors put in front.
  return new TextDecoder('utf-8').decode(bytes)
}
