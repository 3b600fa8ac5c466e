// What one integration's file is worth now, and its text with and without penv's part. Types and their
// combination only; it must not know any format.

/**
 * `foreign`: something stands there that cannot be merged with. `invalid`: the file cannot be understood.
 * Of both the file is left alone, and the reason says what to do.
 */
export type WiringStatus = 'current' | 'stale' | 'double' | 'missing' | 'foreign' | 'invalid'

export interface WiringOutcome {
  status: WiringStatus
  reason?: string
  /** The text with penv's part; the text as it is where nothing is to be done or can be. */
  applied: string
  /** The text without penv's part; null where the file is penv's own and goes as a whole. */
  removed: string | null
}

/** An outcome that leaves `text` alone. */
export function leaveAlone(status: WiringStatus, text: string, reason?: string): WiringOutcome {
  return { status, ...(reason === undefined ? {} : { reason }), applied: text, removed: text }
}

/** The status of a file from those of its entries: half of them is an older form of the whole. */
export function combineStatuses(statuses: readonly WiringStatus[]): WiringStatus {
  for (const status of ['double', 'stale'] as const) if (statuses.includes(status)) return status
  if (statuses.every(status => status === 'missing')) return 'missing'
  return statuses.every(status => status === 'current') ? 'current' : 'stale'
}
