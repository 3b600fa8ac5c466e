// A finding of doctor: one thing that was looked at, the verdict on it, and what mends it.
import type { Verdict } from '../verify-checks.ts'

export type Area = 'git' | 'state' | 'environment' | 'scripts' | 'stack' | 'wiring'

export interface Finding {
  area: Area
  verdict: Verdict
  /** One clause; `file` and `line` stand before it. */
  message: string
  /** What kind of finding it is, where there can be several. */
  code?: string
  file?: string
  line?: number
  /** What to do or to write, in words. */
  remedy?: string
  /** A command that mends it, from the directory that doctor was called in. */
  run?: string
}
