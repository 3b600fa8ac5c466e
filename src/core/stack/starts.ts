// Decides how a repository's programs are started in development, and for each which ports it listens on: from which
// variable, by which argument, or hard-coded where. The repository's own commands first; nothing is ever run.
import type { Evidence, RepoFacts } from './facts.ts'
import { findFrameworkStarts } from './framework-starts.ts'
import { findListenPorts, isListenKey, type ListenPort, portsByFolder } from './listen-ports.ts'
import { findRepoCommands, type RepoCommand } from './repo-commands.ts'
import { findServerCommand, findWrittenPort, isOnlyWatcher, type ServerCommand } from './start-servers.ts'

export interface Start {
  /** What it is called: `dev`, `web`, the folder of a program. */
  readonly name: string
  readonly source: RepoCommand['source'] | 'framework' | 'compose'
  readonly folder: string
  /** Called in `folder`. */
  readonly command: string
  /** What a developer would type first; one for each folder. */
  readonly isDefault: boolean
  readonly ports: readonly ListenPort[]
  /** How another port is given in the call, where no variable does it. */
  readonly portFlag: string | undefined
  readonly evidence: Evidence
}

/** Names that start a developer's run, the plainest first. */
const NAMES: readonly RegExp[] = [
  /^dev$/,
  /^(start|serve|run)[:_.-]?dev(elopment)?$|^dev(elop(ment)?)?[:_.-](start|server|serve|run|app|all)$/,
  /^(develop|development)$/,
  /^(runserver|run-server|server|serve)$/,
  /^(start|run)$/,
  /^(start|dev|serve|run)[:_.-](local|web|api|server|client|app|frontend|backend|admin|ui|all|full|site|worker)$/,
  /^web$/,
  /^(up|watch)$/,
]
const PACKAGED =
  /\b(?:node|tsx|ts-node(?:-dev)?|nodemon|bun|deno|pm2|concurrently|npm-run-all|run-p|run-s|turbo|nx|lerna|wireit|foreman|overmind|hivemind|honcho|air|cargo|go run|dotnet|java|ruby|php|python3?|uvicorn|flask|electron|npm|pnpm|yarn|nest|sls|serverless|docker[- ]compose|mix|encore|ndx|vinxi|waku|vike|rw|redwood|tauri|vercel|netlify|supabase|air|reflex|watchexec|make|sh|bash|\.\/\S+)\b/

export function findStarts(
  facts: RepoFacts,
  commands: readonly RepoCommand[] = findRepoCommands(facts),
): Start[] {
  const own = commands.flatMap(command => {
    const rank = rankOf(command)
    return rank === undefined ? [] : [{ command, rank }]
  })
  const frameworks = findFrameworkStarts(facts)
  const folders = [...own.map(one => one.command.folder), ...frameworks.map(one => one.folder)]
  const ports = portsByFolder(findListenPorts(facts), folders)
  const starts: { rank: number; start: Omit<Start, 'isDefault'> }[] = own.map(({ command, rank }) => ({
    rank,
    start: {
      name: command.name,
      source: command.source,
      folder: command.folder,
      command: command.run,
      ...portsOf(command.chain, ports.get(command.folder) ?? [], command.evidence),
      evidence: command.evidence,
    },
  }))
  const served = new Set(starts.map(one => one.start.folder))
  for (const one of frameworks) {
    // A repository that gives the start a name means that one.
    if (served.has(one.folder) && one.source !== 'compose') continue
    if (one.source === 'compose' && starts.length > 0) continue
    const { rank, ...start } = one
    starts.push({
      rank,
      start: { ...start, ...portsOf(one.command, ports.get(one.folder) ?? [], one.evidence, one.ports) },
    })
  }
  const best = new Map<string, number>()
  for (const { start, rank } of starts) best.set(start.folder, Math.min(best.get(start.folder) ?? rank, rank))
  return starts
    .map(({ start, rank }) => ({ ...start, isDefault: best.get(start.folder) === rank }))
    .sort((a, b) => Number(b.isDefault) - Number(a.isDefault) || a.folder.localeCompare(b.folder))
}

/** Lower is what a person would use first; undefined where the command starts nothing. */
function rankOf(command: RepoCommand): number | undefined {
  if (command.source === 'procfile') {
    const isDevelopment = /procfile\.(dev|development|local)/i.test(command.evidence.file)
    return command.name === 'release'
      ? undefined
      : (isDevelopment ? 15 : 55) + (command.name === 'web' ? 0 : 3)
  }
  const byName = NAMES.findIndex(pattern => pattern.test(command.name.toLowerCase()))
  if (byName < 0) return undefined
  if (command.source === 'file') return command.name === 'dev' ? 8 : byName < 5 ? 45 : undefined
  const serves = findServerCommand(command.chain) !== undefined
  if (!serves && (isOnlyWatcher(command.direct) || !PACKAGED.test(command.chain))) return undefined
  // A target called `up` or `watch` says too little by itself.
  if (byName >= 7 && !serves && !/docker[- ]compose\b[^\n]*\bup\b/.test(command.chain)) return undefined
  const order: readonly RepoCommand['source'][] = [
    'package',
    'make',
    'task',
    'just',
    'mise',
    'composer',
    'python',
    'mix',
    'nx',
  ]
  return byName * 10 + order.indexOf(command.source)
}

function portsOf(
  text: string,
  near: readonly ListenPort[],
  evidence: Evidence,
  given: readonly ListenPort[] = [],
): Pick<Start, 'ports' | 'portFlag'> {
  const server = findServerCommand(text)
  const written = findWrittenPort(text)
  const found: ListenPort[] = [...given]
  if (written !== undefined && (written.variable === undefined || isListenKey(written.variable)))
    // A number in the command is hard-coded even when it is assigned to a variable there.
    found.push({
      port: written.port,
      variable: written.isFixed ? undefined : written.variable,
      source: 'command',
      evidence,
    })
  const said = near.filter(port => port.source === 'config' && fits(port, server))
  const code = near.filter(port => port.source === 'code')
  if (found.length === 0) found.push(...said)
  if (found.length === 0) found.push(...ofServer(server, near, evidence))
  if (server === undefined || found.length === 0) found.push(...code)
  if (found.length === 0) found.push(...near.filter(port => port.source === 'env'))
  if (found.length === 0) found.push(...near.filter(port => port.source === 'dockerfile').slice(0, 1))
  const needsFlag = found.some(port => port.variable === undefined)
  return {
    ports: unique(found.map(port => withUsual(port, near))),
    portFlag: needsFlag ? server?.flag : undefined,
  }
}

/** Configuration that a start reads: a bundler's only counts where that bundler serves. */
function fits(port: ListenPort, server: ServerCommand | undefined): boolean {
  const file = port.evidence.file
  if (/vite\.config/.test(file)) return server === undefined || /vite|react-router|astro/.test(server.tool)
  if (/webpack|vue\.config/.test(file)) return server === undefined || /webpack|vue-cli/.test(server.tool)
  if (/nuxt\.config/.test(file)) return server?.tool === 'nuxt'
  if (/angular\.json$/.test(file)) return server?.tool === 'angular'
  return true
}

/** What the tool does by itself; an env file of the repository may name the variable with its usual number. */
function ofServer(
  server: ServerCommand | undefined,
  near: readonly ListenPort[],
  evidence: Evidence,
): ListenPort[] {
  if (server === undefined) return []
  if (server.variable === undefined)
    return [{ port: server.port, variable: undefined, source: 'tool', evidence }]
  const named = near.find(port => port.source === 'env' && port.variable === server.variable)
  return [named ?? { port: server.port, variable: server.variable, source: 'tool', evidence }]
}

/** A program that reads a variable without a default of its own has the one that an env file names. */
function withUsual(port: ListenPort, near: readonly ListenPort[]): ListenPort {
  if (port.port !== undefined || port.variable === undefined) return port
  const named = near.find(one => one.source === 'env' && one.variable === port.variable)
  return named?.port === undefined
    ? port
    : { ...port, port: named.port, ...(named.before === undefined ? {} : { before: named.before }) }
}

/** One entry for each variable, with the number where any place gives it, and one for each number without variable. */
function unique(ports: readonly ListenPort[]): ListenPort[] {
  const byKey = new Map<string, ListenPort>()
  for (const port of ports) {
    const key = port.variable ?? String(port.port)
    const held = byKey.get(key)
    if (held === undefined || (held.port === undefined && port.port !== undefined))
      byKey.set(key, held === undefined ? port : { ...held, port: port.port })
  }
  return [...byKey.values()]
}
