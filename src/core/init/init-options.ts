// The options of `penv init` as typed, and which of them exclude each other. Pure.
import { usageError } from '../../errors.ts'
import type { ComposeMode } from '../init-scripts.ts'
import { type AgentSelection, parseAgents } from '../wiring.ts'

export interface InitOptions {
  dryRun?: boolean
  print?: string
  compose?: string
  agents?: string
  uninstall?: boolean
}

export interface InitWishes {
  agents: AgentSelection
  compose: ComposeMode | undefined
}

/** @throws USAGE for words that mean nothing, and for options that ask for different answers. */
export function parseInitOptions(options: InitOptions): InitWishes {
  const { print, dryRun, uninstall, compose } = options
  const agents = parseAgents(options.agents ?? 'auto')
  const given = [
    ...(print === undefined ? [] : ['--print']),
    ...(dryRun ? ['--dry-run'] : []),
    ...(uninstall ? ['--uninstall'] : []),
  ]
  if (print !== undefined && given.length > 1) throw usageError(`${given.join(' and ')} exclude each other`)
  if (uninstall && compose !== undefined) throw usageError('--uninstall and --compose exclude each other')
  if (uninstall && agents === 'none') throw usageError('--uninstall and --agents none exclude each other')
  return { agents, compose: parseComposeMode(compose) }
}

function parseComposeMode(value: string | undefined): ComposeMode | undefined {
  if (value === undefined || value === 'shared' || value === 'own') return value
  throw usageError(`"${value}" is not a way to use compose: use shared or own`)
}

/** The call as it was typed, for messages. Its words have been parsed, so none has to be quoted. */
export function composeInitCall({ compose, agents, uninstall }: InitOptions, isForced: boolean): string {
  return [
    'penv init',
    ...(compose === undefined ? [] : [`--compose ${compose}`]),
    ...(agents === undefined ? [] : [`--agents ${agents.replace(/\s/g, '')}`]),
    ...(uninstall ? ['--uninstall'] : []),
    ...(isForced ? ['--force'] : []),
  ].join(' ')
}
