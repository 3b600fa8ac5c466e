// The files of other programs below one root: what is there, and the planned changes carried out.
// It must never write through a link out of the root, nor over a file that is not the one that was read.
import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import type { FileProblem, WiringFacts } from '../core/wiring/wiring-facts.ts'
import { WIRING_PATHS, type WiringChange } from '../core/wiring.ts'
import { removeTemporaries, replaceFileAtomically } from './atomic-file.ts'
import { errnoOf } from './errno.ts'

const MAX_BYTES = 1024 * 1024

/** `path`: where the file is or would be, relative to the root, all links resolved. */
type Place = { path: string; exists: boolean } | FileProblem

const foreign = (reason: string): FileProblem => ({ status: 'foreign', reason })
const isProblem = (value: object): value is FileProblem => 'status' in value

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function locate(root: string, path: string): Place {
  const rest: string[] = []
  for (let at = join(root, path); ; at = dirname(at)) {
    try {
      const real = realpathSync.native(at)
      if (!isBelow(root, real)) return foreign('a link leads out of the repository')
      if (rest.length > 0 && !statSync(real).isDirectory())
        return foreign(`${relative(root, at)} is not a directory`)
      return { path: relative(root, join(real, ...rest)), exists: rest.length === 0 }
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR')
        return { status: 'invalid', reason: `it cannot be reached (${errnoOf(error)})` }
      if (isLink(at)) return foreign('a link leads nowhere')
      rest.unshift(relative(dirname(at), at))
    }
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    // Not there, or below something that is no directory.
    return false
  }
}

/** The text, or why it is none. Bytes that are not UTF-8 would not survive a change. */
function readText(file: string): { text: string } | FileProblem {
  try {
    const stats = statSync(file)
    if (!stats.isFile()) return foreign('it is not a regular file')
    if (stats.size > MAX_BYTES) return { status: 'invalid', reason: 'it is larger than 1 MiB' }
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { text: decoder.decode(readFileSync(file)) }
  } catch (error) {
    const why = error instanceof TypeError ? 'it is not UTF-8 text' : `it cannot be read (${errnoOf(error)})`
    return { status: 'invalid', reason: why }
  }
}

/** Reads what the integrations ask for, and nothing else, below `root`; programs are looked up in `pathVariable`. */
export function readWiringFacts(root: string, pathVariable: string): WiringFacts {
  const base = realpathSync.native(root)
  const files = new Map<string, string>()
  const problems = new Map<string, FileProblem>()
  const links = new Map<string, string>()
  for (const path of WIRING_PATHS.files) {
    const place = locate(base, path)
    const content = isProblem(place) ? place : place.exists ? readText(join(base, place.path)) : undefined
    if (!isProblem(place) && place.path !== path) links.set(path, place.path)
    if (content === undefined) continue
    if (isProblem(content)) problems.set(path, content)
    else files.set(path, content.text)
  }
  const isDirectory = (name: string) =>
    statSync(join(base, name), { throwIfNoEntry: false })?.isDirectory() ?? false
  return {
    files,
    problems,
    links,
    directories: new Set(WIRING_PATHS.directories.filter(isDirectory)),
    commands: new Set(WIRING_PATHS.commands.filter(name => isProgram(name, pathVariable))),
  }
}

function isProgram(name: string, pathVariable: string): boolean {
  return pathVariable
    .split(':')
    .filter(isAbsolute)
    .some(directory => {
      try {
        const file = join(directory, name)
        accessSync(file, constants.X_OK)
        return statSync(file).isFile()
      } catch {
        return false
      }
    })
}

/** Carries out one change, whole or not at all. Errors are those of the system calls, or say why it cannot be made. */
export function applyWiringChange(root: string, { path, before, after }: WiringChange): void {
  const base = realpathSync.native(root)
  const place = locate(base, path)
  if (isProblem(place)) throw new Error(place.reason)
  const file = join(base, place.path)
  const now = place.exists ? readText(file) : undefined
  if (now && isProblem(now)) throw new Error(now.reason)
  if (now?.text !== before) throw new Error('it has changed since it was read')
  if (after !== undefined) replaceFile(file, after)
  else {
    unlinkSync(file)
    removeEmptyDirectories(base, dirname(file))
  }
}

function replaceFile(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0o666 & ~process.umask()
  // Of an init that was killed.
  removeTemporaries(file)
  replaceFileAtomically(file, Buffer.from(text), mode & 0o7777)
}

/** A directory without anything in it is not seen by git, but would count as evidence the next time. */
function removeEmptyDirectories(root: string, directory: string): void {
  for (let at = directory; at !== root && isBelow(root, at); at = dirname(at)) {
    try {
      rmdirSync(at)
    } catch {
      // Not empty, or not ours to remove: it stays.
      return
    }
  }
}
