// The table of integrations: whose file, by what it is recognised, and what penv has in it.
// A row is a thin adapter to one idempotent command. Servers for MCP, the git hook and the hooks that replace
// `git worktree add` have no row: they come with the commands that they would call.
import { editBlock, HASH_MARKS, HTML_MARKS } from './marked-block.ts'
import {
  claudeSession,
  codexEnvironment,
  codexSession,
  conductorScripts,
  conductorSettings,
  cursorSetup,
  geminiSession,
  miseEnv,
  phantomCommands,
  supersetCommands,
  t3Script,
  vscodeTask,
  worktrunkHooks,
  wtCommands,
} from './wiring-entries.ts'
import { type Evidence, isThere, type WiringFacts } from './wiring-facts.ts'
import { editJson, type JsonWants } from './wiring-json.ts'
import { leaveAlone, type WiringOutcome } from './wiring-outcome.ts'
import { ENVRC_LINE, GTR_HOOKS, INSTRUCTIONS, OPENCODE_PLUGIN, PLUGIN_MARK } from './wiring-text.ts'
import { editToml, type TomlFile } from './wiring-toml.ts'

export interface Integration {
  name: string
  path: string
  /** A coding agent or a host of agents: the instructions are for it. */
  isAgent: boolean
  /** Any of these means that the integration is used here. Its own file always does. */
  evidence: Evidence
  /** Only an existing file is wired: without it nobody here uses the program. */
  needsFile?: boolean
  /** Another form of the same configuration is in use. */
  isReplaced?: (facts: WiringFacts) => boolean
  edit: (text: string | undefined, project: string) => WiringOutcome
}

const json = (wants: JsonWants, strict = false) => ({
  edit: (text: string | undefined) => editJson(text, wants, strict),
})
const toml = (file: TomlFile) => ({ edit: (text: string | undefined) => editToml(text, file) })
const agent = { isAgent: true }
const tool = { isAgent: false }

export const INSTRUCTIONS_NAME = 'instructions'
export const AGENTS_FILE = 'AGENTS.md'
export const CLAUDE_FILE = 'CLAUDE.md'

const instructions = (path: string): Integration => ({
  ...tool,
  name: INSTRUCTIONS_NAME,
  path,
  evidence: {},
  edit: text => editBlock(text, INSTRUCTIONS, HTML_MARKS),
})

const mise = (path: string): Integration => ({
  ...tool,
  name: 'mise',
  path,
  evidence: {},
  needsFile: true,
  ...toml(miseEnv),
})

function editPlugin(text: string | undefined): WiringOutcome {
  if (text === undefined) return { status: 'missing', applied: OPENCODE_PLUGIN, removed: null }
  const isOurs = text.split(/\r?\n/, 1)[0] === PLUGIN_MARK
  if (!isOurs) return leaveAlone('foreign', text, `its first line is not "${PLUGIN_MARK}"`)
  const isCurrent = text.replaceAll('\r\n', '\n') === OPENCODE_PLUGIN
  return {
    status: isCurrent ? 'current' : 'stale',
    applied: isCurrent ? text : OPENCODE_PLUGIN,
    removed: null,
  }
}

const holdsLine = (line: string) => (rest: string) => rest.split(/\r?\n/).some(other => other.trim() === line)

export const INTEGRATIONS: readonly Integration[] = [
  instructions(AGENTS_FILE),
  instructions(CLAUDE_FILE),
  {
    ...agent,
    name: 'claude',
    path: '.claude/settings.json',
    evidence: { directories: ['.claude'], files: [CLAUDE_FILE], commands: ['claude'] },
    ...json(claudeSession),
  },
  {
    ...agent,
    name: 'codex',
    path: '.codex/hooks.json',
    evidence: { directories: ['.codex'], commands: ['codex'] },
    ...json(codexSession),
  },
  {
    ...agent,
    name: 'codex',
    path: '.codex/environments/environment.toml',
    evidence: { directories: ['.codex'], commands: ['codex'] },
    edit: (text, project) => editToml(text, codexEnvironment(project)),
  },
  {
    ...agent,
    name: 'cursor',
    path: '.cursor/worktrees.json',
    evidence: { directories: ['.cursor'], files: ['.cursorrules'], commands: ['cursor', 'cursor-agent'] },
    // Cursor's page on worktrees: the file is plain JSON.
    ...json(cursorSetup, true),
  },
  {
    ...tool,
    name: 'wt',
    path: '.wt/worktrees.json',
    evidence: { directories: ['.wt'], commands: ['wt'] },
    // worktrunk installs a `wt` too; its own file says that this is the one that is meant.
    isReplaced: facts => !facts.directories.has('.wt') && isThere(facts, '.config/wt.toml'),
    ...json(wtCommands),
  },
  { ...tool, name: 'worktrunk', path: '.config/wt.toml', evidence: {}, ...toml(worktrunkHooks) },
  {
    ...agent,
    name: 'conductor',
    path: '.conductor/settings.toml',
    evidence: {},
    isReplaced: usesConductorJson,
    ...toml(conductorSettings),
  },
  {
    ...agent,
    name: 'conductor',
    path: 'conductor.json',
    evidence: {},
    isReplaced: facts => !usesConductorJson(facts),
    ...json(conductorScripts),
  },
  {
    ...agent,
    name: 'superset',
    path: '.superset/config.json',
    evidence: { directories: ['.superset'] },
    ...json(supersetCommands),
  },
  { ...agent, name: 't3code', path: 't3.json', evidence: {}, ...json(t3Script) },
  {
    ...agent,
    name: 'gemini',
    path: '.gemini/settings.json',
    evidence: { directories: ['.gemini'] },
    ...json(geminiSession),
  },
  {
    ...agent,
    name: 'opencode',
    path: '.opencode/plugins/penv.js',
    evidence: { directories: ['.opencode'], files: ['opencode.json', 'opencode.jsonc'] },
    edit: editPlugin,
  },
  {
    ...tool,
    name: 'gtr',
    path: '.gtrconfig',
    evidence: {},
    edit: text =>
      editBlock(text, GTR_HOOKS, HASH_MARKS, rest => /^[ \t]*postCreate[ \t]*=.*\bpenv up\b/m.test(rest)),
  },
  { ...tool, name: 'phantom', path: 'phantom.config.json', evidence: {}, ...json(phantomCommands) },
  {
    ...tool,
    name: 'direnv',
    path: '.envrc',
    evidence: {},
    needsFile: true,
    edit: text => editBlock(text, ENVRC_LINE, HASH_MARKS, holdsLine(ENVRC_LINE)),
  },
  mise('mise.toml'),
  mise('.mise.toml'),
  { ...tool, name: 'vscode', path: '.vscode/tasks.json', evidence: {}, needsFile: true, ...json(vscodeTask) },
]

/** "write to the one that exists": the older file only where the newer one is not there. */
function usesConductorJson(facts: WiringFacts): boolean {
  return isThere(facts, 'conductor.json') && !isThere(facts, '.conductor/settings.toml')
}

/** Their mere presence on PATH means that somebody here works with an agent, and instructions are worth making. */
export const AGENT_COMMANDS = ['claude', 'codex', 'cursor', 'cursor-agent', 'gemini', 'opencode'] as const
