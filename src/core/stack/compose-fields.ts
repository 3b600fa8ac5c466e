// Reads the fields of a compose service that can be written in several ways: build, environment, labels, volumes.
import { asRecord, resolveFrom } from './facts.ts'
import { interpolate, type Variables } from './interpolate.ts'

export interface ComposeEntry {
  readonly key: string
  /** Absent for `KEY:` and `- KEY`, which pass the caller's value through. */
  readonly value: string | undefined
  readonly line: number | undefined
  /** The file that the line is in: extends and overlays mix files in one service. */
  readonly file?: string
  /** A variable has a part in it, so that it can differ between environments. */
  readonly hasVariable?: true
}

export interface ComposeBuild {
  /** Folder relative to the root, "" for the root itself. */
  readonly context: string
  readonly dockerfile: string
  readonly inline?: string
}

export function readBuild(
  value: unknown,
  path: string,
  text: (value: unknown) => string,
): ComposeBuild | undefined {
  const long = asRecord(value)
  const context =
    typeof value === 'string' ? text(value) : long === undefined ? undefined : text(long.context ?? '.')
  if (context === undefined) return undefined
  const folder = resolveFrom(path, context || '.')
  if (folder === undefined) return { context: '', dockerfile: 'Dockerfile' }
  return {
    context: folder === '.' ? '' : folder.replace(/\/$/, ''),
    dockerfile: text(long?.dockerfile) || 'Dockerfile',
    ...(typeof long?.dockerfile_inline === 'string' ? { inline: long.dockerfile_inline } : {}),
  }
}

/** `- KEY=value`, `- KEY` and mappings, null included. */
export function readEntries(
  value: unknown,
  section: string,
  at: (...keys: (string | number)[]) => number | undefined,
  known: Variables,
): ComposeEntry[] {
  const text = (one: unknown) =>
    one === null || one === undefined ? undefined : interpolate(String(one), known).text
  const map = asRecord(value)
  if (map !== undefined)
    return Object.entries(map).map(([key, one]) => ({
      key,
      value: text(one),
      line: at(section, key),
      ...varying(one),
    }))
  return asList(value).map((one, index) => {
    const [key, ...rest] = String(one).split('=')
    return {
      key: (key as string).trim(),
      value: rest.length === 0 ? undefined : text(rest.join('=')),
      line: at(section, index),
      ...varying(one),
    }
  })
}

/** Key: the volume's name or host path, empty for anonymous ones; value: the path inside. */
export function readVolumes(
  value: unknown,
  at: (...keys: (string | number)[]) => number | undefined,
  text: (value: unknown) => string,
): ComposeEntry[] {
  return asList(value).map((one, index) => {
    const long = asRecord(one)
    const line = at('volumes', index)
    if (long !== undefined) return { key: text(long.source), value: text(long.target), line }
    const parts = text(one).split(':')
    return parts.length === 1
      ? { key: '', value: parts[0], line }
      : { key: parts[0] as string, value: parts[1], line }
  })
}

export function asList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null ? [] : [value]
}

function varying(raw: unknown): { hasVariable?: true } {
  return typeof raw === 'string' && /(?<!\$)\$[{\w]/.test(raw) ? { hasVariable: true } : {}
}
