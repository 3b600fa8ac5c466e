// Decides how the schema of a repository's databases is made: tool, folder, the command that applies all migrations,
// the seed, and the files that shape it. The repository's own command wins; no command is ever invented.
import { groupBy } from '../group-by.ts'
import { type DestructiveCommand, findDestructiveCommands, findDrop } from './destructive.ts'
import type { Evidence, RepoFacts } from './facts.ts'
import type { ServiceKind } from './images.ts'
import {
  type FoundTool,
  type MigrationContext,
  type MigrationTool,
  makeMigrationContext,
  pinnedQuestion,
} from './migration-tool.ts'
import { findCompiledTools } from './migrations-compiled.ts'
import { findJvmTools } from './migrations-jvm.ts'
import { findNodeTools } from './migrations-node.ts'
import { findPythonTools } from './migrations-python.ts'
import { findServerTools } from './migrations-server.ts'
import { findSqlTools } from './migrations-sql.ts'
import type { Ecosystem } from './package-manager.ts'
import { isPinned, overridesOf } from './pinned-command.ts'
import { findPinnedLine } from './pinned-config.ts'
import type { RepoCommand } from './repo-commands.ts'

export interface Migration {
  readonly tool: MigrationTool
  readonly ecosystem: Ecosystem | undefined
  /** Where its commands are called, "" for the root. */
  readonly folder: string
  /** Where the tool itself is called, which a command of the root may do in another folder. */
  readonly project: string
  readonly directory: string | undefined
  readonly config: string | undefined
  /** Applies all migrations, called in `folder`. `"$url"` and `"$name"` stand for those of the slice. */
  readonly command: string | undefined
  /** The command is one that the repository gives a name to. */
  readonly isOwnCommand: boolean
  /** What a person has to say, as a question without its mark. */
  readonly question: string | undefined
  /** The application applies them when it starts, so that nothing needs to be called. */
  readonly isAppliedByApp: boolean
  readonly seed: string | undefined
  /** Git pathspecs of the files that shape the schema. */
  readonly inputs: readonly string[]
  readonly database: ServiceKind | undefined
  /** Of an unknown tool: the names of variables in what its command runs. */
  readonly reads?: ReadonlySet<string>
  /** The repository's commands that drop before they set up: never to be used for an environment. */
  readonly destructive: readonly DestructiveCommand[]
  readonly evidence: readonly Evidence[]
}

export function findMigrations(
  facts: RepoFacts,
  context: MigrationContext = makeMigrationContext(facts),
): Migration[] {
  const found = [
    ...findNodeTools(context),
    ...findServerTools(context),
    ...findPythonTools(context),
    ...findCompiledTools(context),
    ...findJvmTools(context),
    ...findSqlTools(context),
  ]
  const destructive = findDestructiveCommands(context.commands)
  if (found.length === 0) return findUnknown(context.commands, destructive)
  return found.map(tool => {
    const own = findOwnCommand(tool, context.commands)
    const isAppliedByApp = tool.isAppliedByApp ?? false
    const command = own === undefined ? (isAppliedByApp ? undefined : tool.command) : callOf(own)
    const lockFile = context.lockFile(tool.ecosystem, tool.folder)
    const inputs = [tool.directory, ...(tool.schema ?? []), lockFile].filter(one => one !== undefined)
    return {
      tool: tool.tool,
      ecosystem: tool.ecosystem,
      project: tool.folder,
      folder: command === undefined || own === undefined ? tool.folder : own.folder,
      directory: tool.directory,
      config: tool.config,
      command,
      isOwnCommand: own !== undefined,
      question:
        tool.question ??
        pinnedBy(facts, tool, command) ??
        (command === undefined && !isAppliedByApp
          ? `which command applies the ${tool.tool} migrations${tool.directory === undefined ? '' : ` of ${tool.directory}`}`
          : undefined),
      isAppliedByApp,
      seed: findOwnSeed(tool, own, context.commands) ?? tool.seed,
      inputs: [...new Set(inputs)],
      database: tool.database,
      destructive: destructive.filter(one => isNear(one.folder, tool.folder)),
      evidence: own === undefined ? tool.evidence : [...tool.evidence, own.evidence],
    }
  })
}

/** A program of the repository's own, or of a tool that is not known here, by the name of the command alone. */
function findUnknown(
  commands: readonly RepoCommand[],
  destructive: readonly DestructiveCommand[],
): Migration[] {
  const named = commands.filter(command => /migrat/i.test(command.name))
  return [...groupBy(named, command => command.folder)].flatMap(([folder, here]) => {
    const tool = { folder, ecosystem: undefined, applies: /(?:)/ }
    const own = findOwnCommand(tool, here)
    if (own === undefined) return []
    return {
      tool: 'unknown',
      ecosystem: ECOSYSTEMS[own.source],
      folder,
      project: folder,
      directory: undefined,
      config: undefined,
      command: callOf(own),
      isOwnCommand: true,
      question: undefined,
      isAppliedByApp: false,
      seed: findOwnSeed(tool, own, commands),
      inputs: [],
      database: undefined,
      reads: new Set(own.body.match(/\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g)),
      destructive: destructive.filter(one => isNear(one.folder, folder)),
      evidence: [own.evidence],
    }
  })
}

const ECOSYSTEMS: Partial<Record<RepoCommand['source'], Ecosystem>> = {
  package: 'node',
  composer: 'php',
  python: 'python',
  mix: 'elixir',
}

/** A configuration of a Node tool that names its database leaves no way to point it at another. */
function pinnedBy(facts: RepoFacts, tool: FoundTool, command: string | undefined): string | undefined {
  if (tool.ecosystem !== 'node' || tool.config === undefined || command?.includes('"$url"') === true)
    return undefined
  const file = facts.files.get(tool.config)
  const line = file === undefined ? undefined : findPinnedLine(file)
  return line === undefined ? undefined : pinnedQuestion(tool.tool, tool.config, line)
}

/** Words in a name that promise something else than "apply what is there, here, now". */
const OTHER_WORDS =
  /^(generate|gen|create|new|make|add|status|list|info|check|validate|lint|test|tests|e2e|down|rollback|revert|undo|reset|drop|fresh|refresh|redo|force|prod|production|staging|stage|studio|seed|diff|ci|docker|compose|heroku|baseline|resolve|repair|clean|remote|k8s|cloud|preview|watch|build|start|serve|rails7|pull|introspect|to|version|goto|step|one|squash|dump|init|data|backfill|es|elastic|elasticsearch|clickhouse|search|container)$/
const GENERATES =
  /\bmakemigrations\b|\bmigrate dev\b|\bmigration:(generate|create)\b|\bmigrate:make\b|--autogenerate\b|\bdrizzle-kit generate\b|\bflask db migrate\b|\bmake:migration\b|\bmigrations:diff\b|\bmigrations add\b/
const SEEDS =
  /\bdb:seed\b|\bseed:run\b|\bdb seed\b|\bseeders?\b|\bseeds?\.(ts|js|rb|exs|py|sql)\b|\bloaddata\b|\bfixtures:load\b|\bseeder:run\b/
const IN_CONTAINER =
  /\bdocker(?:[- ]compose)?\b[^\n;&|]*\b(?:exec|run)\b|\bkubectl exec\b|\bheroku run\b|\bfly ssh\b|\bsail (?:artisan|php)\b/
const MIGRATION_NAME =
  /migrat|^(db|database|schema)([:_.-](up|update|upgrade|deploy|apply|push|sync|latest))?$|(^|[:_.-])upgrade$/i

type Wanted = Pick<FoundTool, 'folder' | 'applies'> & { readonly ecosystem: Ecosystem | undefined }

function findOwnCommand(tool: Wanted, commands: readonly RepoCommand[]): RepoCommand | undefined {
  const fitting = commands.filter(
    command =>
      isNear(command.folder, tool.folder) &&
      command.source !== 'procfile' &&
      MIGRATION_NAME.test(command.name) &&
      !wordsOf(command.name).some(word => OTHER_WORDS.test(word)) &&
      !/^_|^(pre|post)(?!gres)/.test(command.name) &&
      tool.applies.test(command.body) &&
      findDrop(command.body) === undefined &&
      !GENERATES.test(command.body) &&
      !SEEDS.test(command.body) &&
      !IN_CONTAINER.test(command.body) &&
      !isPinned(command) &&
      !(
        command.source === 'file' &&
        (/\$[1@*]|sys\.argv/.test(command.direct) || !/migrat/.test(command.name))
      ),
  )
  return fitting.sort((a, b) => rankOf(a, tool) - rankOf(b, tool))[0]
}

function findOwnSeed(
  tool: Wanted,
  own: RepoCommand | undefined,
  commands: readonly RepoCommand[],
): string | undefined {
  const folder = own?.folder ?? tool.folder
  const fitting = commands.filter(
    command =>
      command.folder === folder &&
      command.source !== 'procfile' &&
      command.source !== 'file' &&
      /^((db|database|prisma|data|knex|drizzle|mix)[:_.-])?(seed|seeds|populate)([:_.-](dev|run|all|local|development))?$/i.test(
        command.name,
      ) &&
      findDrop(command.body) === undefined &&
      !IN_CONTAINER.test(command.body) &&
      !isPinned(command),
  )
  const best = fitting.sort((a, b) => rankOf(a, tool) - rankOf(b, tool))[0]
  return best === undefined ? undefined : callOf(best)
}

function callOf(command: RepoCommand): string {
  return [command.run, ...overridesOf(command)].join(' ')
}

function isNear(folder: string, other: string): boolean {
  return folder === '' || folder === other
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
}

/** The manifest of the tool's own ecosystem, near the tool, with the plainest name. */
function rankOf(command: RepoCommand, tool: Wanted): number {
  const home: Partial<Record<FoundTool['ecosystem'], RepoCommand['source']>> = {
    node: 'package',
    php: 'composer',
    elixir: 'mix',
    python: 'python',
  }
  const order: readonly RepoCommand['source'][] = [
    'make',
    'task',
    'just',
    'mise',
    'package',
    'composer',
    'python',
    'mix',
    'nx',
    'file',
  ]
  const isHome = tool.ecosystem !== undefined && home[tool.ecosystem] === command.source
  const bySource = isHome ? 0 : order.indexOf(command.source) + 1
  const words = wordsOf(command.name).length + command.name.length / 100
  return (command.folder === tool.folder ? 0 : 1_000) + bySource * 10 + words
}
