// What the operating system said about a failed call, in words for a message.

/** `ENOENT` and its like; "unknown error" for what has no such code. */
export function errnoOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null | undefined)?.code
  return typeof code === 'string' ? code : 'unknown error'
}

/** "no space left on device (ENOSPC)" */
export function describeErrno(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const match = /^([A-Z][A-Z0-9_]*): ([^,]+)/.exec(text)
  return match === null ? text : `${match[2]} (${match[1]})`
}
