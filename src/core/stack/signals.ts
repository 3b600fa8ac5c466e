// A signal: one place of a repository that speaks of a server, with what it says about a developer's default run.
// Signals are gathered by kind of source (core/stack/signals-*.ts) and weighed together in core/stack/services.ts.
import type { ComposePort } from './compose-ports.ts'
import type { Evidence, RepoFacts } from './facts.ts'
import { evidenceAt } from './facts.ts'
import type { ServiceKind } from './images.ts'

/**
 * run: the default run starts it, or cannot do without it. fallback: production's compose file starts it.
 * named: settings or an env example point at it. code: the program connects to it. ci: a workflow starts it.
 * client: the manifest has its client. optional: behind a profile, another choice, an example.
 */
export type SignalWeight = 'run' | 'fallback' | 'named' | 'code' | 'ci' | 'client' | 'optional'

export type SignalSource =
  | 'compose'
  | 'framework'
  | 'selector'
  | 'command'
  | 'env'
  | 'configuration'
  | 'source'
  | 'workflow'
  | 'manifest'

export interface Signal {
  readonly kind: ServiceKind
  readonly product: string
  readonly source: SignalSource
  readonly weight: SignalWeight
  readonly why: string
  readonly evidence: Evidence
  /** The address holds as it stands: a setting or a default of the program, not a sample that one may copy. */
  readonly inEffect?: true
  /** The service's name in a compose file. */
  readonly name?: string
  readonly image?: string
  readonly ports?: readonly ComposePort[]
  readonly envKeys?: readonly string[]
  /** Compose only: a program of the same file is pointed at it, or waits for it. */
  readonly isReached?: true
}

/** A signal with evidence at a line of a file. */
export function signalAt(
  facts: RepoFacts,
  at: { readonly file: string; readonly line: number },
  parts: Omit<Signal, 'evidence'>,
): Signal {
  return { ...parts, evidence: evidenceAt(facts, at.file, at.line) }
}
