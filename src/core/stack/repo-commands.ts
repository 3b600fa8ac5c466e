// The commands that a repository gives names to: package scripts, Makefile targets, Taskfile, just, Composer, mise,
// Poe, Mix aliases, Procfile, scripts in bin/. It says how each is called and what it does, followed through calls.
import { bodyOf, indexCommands, type NamedCommand } from './command-body.ts'
import { commandText, lineOfKey, readMixAliases, taskText } from './command-text.ts'
import { asRecord, evidenceAt, findLine, folderOf, nameOf, type RepoFacts, valueAt } from './facts.ts'
import { parseLooseJson } from './loose-json.ts'
import { findMissingInclude, readJustRecipes, readMakeTargets } from './make-targets.ts'
import { makePackageManagerLookup, type PackageManagerLookup } from './package-manager.ts'

export interface RepoCommand extends NamedCommand {
  /** How it is called there: `npm run db:migrate`. */
  readonly run: string
  /** `direct` with the commands that it calls. */
  readonly chain: string
  /** `chain` with the program files that it runs, as far as they are known. */
  readonly body: string
  readonly source:
    | 'package'
    | 'make'
    | 'task'
    | 'just'
    | 'composer'
    | 'mise'
    | 'python'
    | 'mix'
    | 'procfile'
    | 'file'
    | 'nx'
  /** Variables a Makefile sets itself; to give another value they must stand in the call. */
  readonly fixed: readonly string[]
  /** A file that the command cannot do without, and that a new worktree does not have. */
  readonly needsFile?: string
}

export type DirectCommand = Omit<RepoCommand, 'body' | 'chain'>

const MAX_COMMANDS = 5_000

/** Folders whose commands are about other things than a developer's run. */
const ASIDE =
  /(^|\/)(tests?|specs?|__tests__|fixtures?|testdata|examples?|samples?|templates?|docs?|website|e2e|benchmarks?)(\/|$)/i

export function findRepoCommands(facts: RepoFacts): RepoCommand[] {
  const managerOf = makePackageManagerLookup(facts)
  const direct = nearest(
    [...facts.files.values()]
      .filter(file => !ASIDE.test(folderOf(file.path)))
      .flatMap(file => readCommands(facts, file.path, managerOf)),
  )
  const index = indexCommands(direct)
  return direct.map(one => ({
    ...one,
    chain: bodyOf(facts, one, index, false),
    body: bodyOf(facts, one, index, true),
  }))
}

/** Following calls takes time: of more commands than anybody knows by name those nearest to the root count. */
function nearest(commands: DirectCommand[]): DirectCommand[] {
  if (commands.length <= MAX_COMMANDS) return commands
  const depthOf = ({ folder }: DirectCommand) => (folder === '' ? 0 : folder.split('/').length)
  return commands.sort((a, b) => depthOf(a) - depthOf(b)).slice(0, MAX_COMMANDS)
}

function readCommands(facts: RepoFacts, path: string, managerOf: PackageManagerLookup): DirectCommand[] {
  const name = nameOf(path)
  const folder = folderOf(path)
  const file = facts.files.get(path)
  if (file === undefined) return []
  const json = facts.json.get(path) ?? (name === 'project.json' ? parseQuietly(file.text) : undefined)
  const toml = facts.toml.get(path)
  const fromTable = (
    table: unknown,
    source: RepoCommand['source'],
    call: string,
    textOf: (entry: unknown) => string | undefined = commandText,
  ): DirectCommand[] =>
    Object.entries(asRecord(table) ?? {}).flatMap(([key, entry]) => {
      const direct = textOf(entry)
      if (direct === undefined) return []
      return [
        command(facts, {
          name: key,
          folder,
          run: `${call}${key}`,
          direct,
          source,
          path,
          line: lineOfKey(file.text, key),
        }),
      ]
    })
  if (name === 'package.json') {
    const run = managerOf('node', folder)?.run ?? 'npm run '
    return fromTable(valueAt(json, 'scripts'), 'package', run)
  }
  if (name === 'composer.json') return fromTable(valueAt(json, 'scripts'), 'composer', 'composer run-script ')
  if (/^deno\.jsonc?$/.test(name)) return fromTable(valueAt(json, 'tasks'), 'package', 'deno task ')
  if (/^\.?mise\.toml$/.test(name)) return fromTable(valueAt(toml, 'tasks'), 'mise', 'mise run ')
  if (name === 'Pipfile') return fromTable(valueAt(toml, 'scripts'), 'python', 'pipenv run ')
  if (name === 'pyproject.toml') {
    const exec = managerOf('python', folder)?.exec ?? ''
    return [
      ...fromTable(valueAt(toml, 'tool', 'poe', 'tasks'), 'python', `${exec}poe `),
      ...fromTable(valueAt(toml, 'tool', 'taskipy', 'tasks'), 'python', `${exec}task `),
      ...fromTable(valueAt(toml, 'tool', 'pdm', 'scripts'), 'python', 'pdm run '),
      ...fromTable(valueAt(toml, 'tool', 'rye', 'scripts'), 'python', 'rye run '),
      ...fromTable(valueAt(toml, 'tool', 'hatch', 'envs', 'default', 'scripts'), 'python', 'hatch run '),
    ]
  }
  if (name === 'project.json') {
    const project = valueAt(json, 'name') ?? nameOf(folder)
    return fromTable(valueAt(json, 'targets'), 'nx', 'nx run ', entry =>
      commandText(
        valueAt(entry, 'options', 'command') ??
          valueAt(entry, 'options', 'commands') ??
          valueAt(entry, 'command'),
      ),
    ).map(one => ({ ...one, folder: '', run: `npx nx run ${String(project)}:${one.name}` }))
  }
  if (/^(GNU)?makefile$/i.test(name)) {
    const needsFile = findMissingInclude(facts, file)
    return readMakeTargets(file).map(target => ({
      ...command(facts, {
        name: target.name,
        folder,
        run: `make ${target.name}`,
        direct: [...target.needs.map(need => `make ${need}`), target.recipe].join('\n'),
        source: 'make',
        path,
        line: target.line,
        fixed: target.fixed,
      }),
      ...(needsFile === undefined ? {} : { needsFile }),
    }))
  }
  if (/^\.?justfile$/i.test(name))
    return readJustRecipes(file).map(recipe =>
      command(facts, {
        name: recipe.name,
        folder,
        run: `just ${recipe.name}`,
        direct: [...recipe.needs.map(need => `just ${need}`), recipe.recipe].join('\n'),
        source: 'just',
        path,
        line: recipe.line,
      }),
    )
  if (/^taskfile(\.dist)?\.ya?ml$/i.test(name))
    return (facts.yaml.get(path) ?? []).flatMap(document =>
      fromTable(valueAt(document.value, 'tasks'), 'task', 'task ', taskText),
    )
  if (name === 'mix.exs')
    return readMixAliases(file.text).map(({ name: alias, direct, line }) =>
      command(facts, { name: alias, folder, run: `mix ${alias}`, direct, source: 'mix', path, line }),
    )
  if (/^procfile(\.[\w.-]+)?$/i.test(name))
    return [...file.text.matchAll(/^([\w-]+):[ \t]*(.+)$/gm)].map(match => {
      const [, key, direct] = match as unknown as [string, string, string]
      return command(facts, {
        name: key,
        folder,
        run: direct,
        direct,
        source: 'procfile',
        path,
        line: findLine(file, `${key}:`),
      })
    })
  if (/(^|\/)(bin|scripts?|dev|tools|hack)\/[\w.-]+$/.test(path) && /^#!/.test(file.text))
    return [readScriptFile(facts, path, file.text)]
  return []
}

/** Nx's project.json is read as text: the name is too common to be read as configuration. */
function parseQuietly(text: string): unknown {
  try {
    return parseLooseJson(text)
  } catch {
    return undefined
  }
}

interface Parts {
  name: string
  folder: string
  run: string
  direct: string
  source: RepoCommand['source']
  path: string
  line: number | undefined
  fixed?: readonly string[]
}

function command(facts: RepoFacts, { path, line, fixed, ...parts }: Parts): DirectCommand {
  return { ...parts, fixed: fixed ?? [], evidence: evidenceAt(facts, path, line ?? 1) }
}

/** Called through its interpreter when that is a plain shell, since a checkout may have lost the executable bit. */
function readScriptFile(facts: RepoFacts, path: string, text: string): DirectCommand {
  const shell = /^#!\s*(?:\/usr)?\/bin\/(?:env\s+)?(sh|bash)\b/.exec(text)?.[1]
  const run = shell === undefined ? path : `${shell} ${path}`
  return command(facts, {
    name: nameOf(path),
    folder: '',
    run,
    direct: text.slice(0, 20_000),
    source: 'file',
    path,
    line: 1,
  })
}
