// Decides which integrations are wired and what becomes of each file. It must not touch the disk, and leaves
// alone, with the reason, whatever it cannot change without loss.
import { usageError } from '../errors.ts'
import { findEvidence, isThere, type WiringFacts } from './wiring/wiring-facts.ts'
import type { WiringOutcome, WiringStatus } from './wiring/wiring-outcome.ts'
import {
  AGENT_COMMANDS,
  AGENTS_FILE,
  CLAUDE_FILE,
  INSTRUCTIONS_NAME,
  INTEGRATIONS,
  type Integration,
} from './wiring/wiring-table.ts'

/** `auto`: what is in use here. Names: these, whether in use or not. */
export type AgentSelection = 'auto' | 'none' | readonly string[]

export interface WiringOptions {
  agents: AgentSelection
  /** Take everything of penv out instead. */
  uninstall?: boolean
  /** Name of the project, where a new file has to state one. */
  project?: string
}

export interface WiringChange {
  /** The integration, as `--agents` names it. */
  name: string
  /** The file, relative to the root; where a link leads there, the file that it leads to. */
  path: string
  /** What says that the integration is used here. */
  evidence: string
  /** As it is now, before the change. */
  status: WiringStatus
  action: 'create' | 'update' | 'delete' | 'keep'
  /** Why it is kept, or how it differs. */
  reason?: string
  before: string | undefined
  /** undefined: the file is deleted, or there is none. */
  after: string | undefined
}

/** Names that `--agents` takes. */
export const WIRING_NAMES: readonly string[] = [...new Set(INTEGRATIONS.map(({ name }) => name))]

/** What the host has to look for. */
export const WIRING_PATHS = {
  files: [...new Set(INTEGRATIONS.flatMap(({ path, evidence }) => [path, ...(evidence.files ?? [])]))],
  directories: [...new Set(INTEGRATIONS.flatMap(({ evidence }) => evidence.directories ?? []))],
  commands: [
    ...new Set([...AGENT_COMMANDS, ...INTEGRATIONS.flatMap(({ evidence }) => evidence.commands ?? [])]),
  ],
}

/** Reads the value of `--agents`. */
export function parseAgents(value: string): AgentSelection {
  if (value === 'auto' || value === 'none') return value
  const names = value.split(',').map(name => name.trim())
  const alone = names.find(name => name === 'auto' || name === 'none')
  if (alone !== undefined)
    throw usageError(`"${alone}" stands alone: "${value}" names other integrations too`)
  const unknown = names.find(name => !WIRING_NAMES.includes(name))
  if (unknown !== undefined)
    throw usageError(
      `"${unknown}" is not an integration: use auto, none, or names of ${WIRING_NAMES.join(', ')}`,
    )
  return [...new Set(names)]
}

function evidenceOf({ path, evidence }: Integration, facts: WiringFacts): string | undefined {
  return isThere(facts, path) ? path : findEvidence(facts, evidence)
}

/** Which agent is at work here, by its files or by its program. */
function findAgent(facts: WiringFacts): string | undefined {
  const command = AGENT_COMMANDS.find(name => facts.commands.has(name))
  const found = INTEGRATIONS.filter(({ isAgent }) => isAgent).map(integration =>
    evidenceOf(integration, facts),
  )
  return found.find(evidence => evidence !== undefined) ?? (command && `${command} on PATH`)
}

/** The instructions go into each file that is there, unless it takes them from the other one by an import. */
function selectInstructions(
  { path }: Integration,
  facts: WiringFacts,
  agentEvidence: string | undefined,
): string | undefined {
  if (!isThere(facts, path))
    return path === AGENTS_FILE && !isThere(facts, CLAUDE_FILE) ? agentEvidence : undefined
  const text = facts.files.get(path) ?? ''
  const isImport =
    path === CLAUDE_FILE && isThere(facts, AGENTS_FILE) && /^\s*@(\.\/)?AGENTS\.md\s*$/m.test(text)
  return isImport && !text.includes('penv:begin') ? undefined : path
}

/** Why an integration is wired now, or undefined when it is not. */
function select(
  integration: Integration,
  facts: WiringFacts,
  { agents, uninstall }: WiringOptions,
): string | undefined {
  const { name, path } = integration
  const exists = isThere(facts, path)
  if (agents === 'none') return undefined
  const isNamed = agents !== 'auto' && agents.includes(name)
  if (uninstall) return exists && (agents === 'auto' || isNamed) ? path : undefined
  if (name === INSTRUCTIONS_NAME) {
    const agent = agents === 'auto' ? findAgent(facts) : agents.find(wanted => isNamedAgent(wanted))
    return agents === 'auto' || isNamed || agent !== undefined
      ? selectInstructions(integration, facts, agent ?? (isNamed ? 'asked for' : undefined))
      : undefined
  }
  if (integration.isReplaced?.(facts)) return undefined
  if (agents !== 'auto') return isNamed && (exists || !integration.needsFile) ? 'asked for' : undefined
  return evidenceOf(integration, facts)
}

function isNamedAgent(name: string): boolean {
  return INTEGRATIONS.some(integration => integration.name === name && integration.isAgent)
}

function actionOf(before: string | undefined, after: string | undefined): WiringChange['action'] {
  if (before === after) return 'keep'
  if (before === undefined) return 'create'
  return after === undefined ? 'delete' : 'update'
}

function planOne(
  integration: Integration,
  evidence: string,
  facts: WiringFacts,
  options: WiringOptions,
): WiringChange {
  const { name } = integration
  const problem = facts.problems?.get(integration.path)
  const path = facts.links?.get(integration.path) ?? integration.path
  const before = facts.files.get(integration.path)
  if (problem !== undefined)
    return { name, path, evidence, ...problem, action: 'keep', before, after: before }
  const outcome: WiringOutcome = integration.edit(before, options.project ?? 'project')
  const after = options.uninstall ? (outcome.removed ?? undefined) : outcome.applied
  const reason = outcome.reason === undefined ? {} : { reason: outcome.reason }
  return {
    name,
    path,
    evidence,
    status: outcome.status,
    action: actionOf(before, after),
    ...reason,
    before,
    after,
  }
}

/** What was asked for by name, and is only wired where its file is there. */
function planAbsent(facts: WiringFacts, { agents, uninstall }: WiringOptions): readonly WiringChange[] {
  if (typeof agents === 'string' || uninstall) return []
  return agents.flatMap(name => {
    const files = INTEGRATIONS.filter(integration => integration.name === name)
    const [first] = files
    if (!first?.needsFile || files.some(({ path }) => isThere(facts, path))) return []
    const reason = `there is no ${files.map(({ path }) => path).join(' or ')}`
    const text = { before: undefined, after: undefined }
    return [
      {
        name,
        path: first.path,
        evidence: 'asked for',
        status: 'missing',
        action: 'keep',
        reason,
        ...text,
      } as const,
    ]
  })
}

/**
 * One change for each file that is wired, or with `uninstall` for each that may hold something of penv; the
 * ones with action `keep` too, which is what doctor lists.
 */
export function planWiring(facts: WiringFacts, options: WiringOptions): readonly WiringChange[] {
  const changes = INTEGRATIONS.flatMap(integration => {
    const evidence = select(integration, facts, options)
    return evidence === undefined ? [] : [planOne(integration, evidence, facts, options)]
  })
  // Two names of one file (CLAUDE.md as a link to AGENTS.md) are one change.
  const single = changes.filter(
    (change, index) => changes.findIndex(({ path }) => path === change.path) === index,
  )
  return [...single, ...planAbsent(facts, options)]
}
