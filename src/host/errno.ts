// What the operating system said about a failed call, in words for a message.

export function errnoOf(error: unknown): string | undefined {
  const code = (error as NodeJS.ErrnoException | null)?.code
  return typeof code === 'string' ? code : undefined
}

/** "no space left on device (ENOSPC)" */
export function describeErrno(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const match = /^([A-Z][A-Z0-9_]*): ([^,]+)/.exec(text)
  return match === null ? text : `${match[2]} (${match[1]})`
}
