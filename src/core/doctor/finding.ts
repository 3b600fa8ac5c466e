// A finding of doctor: one thing that was looked at, the verdict on it, and what mends it.
import type { Verdict } from '../verify-checks.ts'

export type Area = 'git' | 'state' | 'environment' | 'scripts' | 'stack' | 'wiring'

export interface Finding {
  area: Area
  verdict: Verdict
  message: string
  /** The kind of a blocker. */
  code?: string
  file?: string
  line?: number
  /** A command, or what to write. */
  remedy?: string
}
