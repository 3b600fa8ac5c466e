// The pieces that all generated scripts are made of: the header, questions, here-documents, installs, migrations.
// Everything a script says stands in one of the functions here or beside the decision that asks for it.

import type { Slice } from './init-slices.ts'
import type { InitSources } from './init-sources.ts'
import { sliceValue } from './init-values.ts'
import type { Migration } from './migrations.ts'
import type { PackageManager } from './package-manager.ts'
import type { Stack } from './stack.ts'

/** Opens the one line that says what init could not know. doctor counts these. */
export const QUESTION_MARK = '# QUESTION:'

export function question(text: string): string {
  return `${QUESTION_MARK} ${text.replace(/\s+/g, ' ').trim()}?`
}

/** The first lines, which are the script's help. `sources` says that it reads files found at run time. */
export function header(about: readonly string[], sources: readonly string[] = []): string[] {
  const directive =
    sources.length === 0 ? [] : ['# shellcheck disable=SC1091 # these files are found when it runs']
  return [
    '#!/bin/sh',
    ...about.map(line => `# ${line}`),
    ...directive,
    'set -eu',
    ...sources.map(file => `. "${file}"`),
  ]
}

/** Joins blocks with an empty line between them. */
export function scriptText(...blocks: readonly (readonly string[])[]): string {
  return `${blocks
    .filter(block => block.length > 0)
    .map(block => block.join('\n'))
    .join('\n\n')}\n`
}

/** `penv env` through stdin, since the arguments of a process can be seen by others. */
export function envBlock(values: readonly (readonly [key: string, value: string])[]): string[] {
  if (values.length === 0) return []
  return ['penv env <<EOT', ...values.map(([key, value]) => `${key}=${value}`), 'EOT']
}

/** Assignments whose variable is used, in the text or by an assignment that is kept. */
export function usedAssignments(lines: readonly string[], text: string): string[] {
  const kept: string[] = []
  let seen = text
  for (const line of [...lines].reverse()) {
    const name = /^(?:export )?(\w+)=/.exec(line)?.[1]
    if (name !== undefined && !new RegExp(`\\$\\{?${name}\\b`).test(seen)) continue
    kept.unshift(line)
    seen += `\n${line}`
  }
  return kept
}

export interface Step {
  readonly folder: string
  readonly command: string
}

/** A command in its folder, with the variables of .env.preview where `inEnvironment`. */
export function callStep({ folder, command }: Step, inEnvironment: boolean): string {
  const [, assignments, rest] = /^((?:[A-Z_]+=(?:"[^"]*"|\S+) )*)([\s\S]*)$/.exec(command) as unknown as [
    string,
    string,
    string,
  ]
  const call = inEnvironment ? `${assignments}penv exec -- ${rest}` : command
  return folder === '' ? call : `(cd ${quoteWord(folder)} && ${call})`
}

export function quoteWord(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** The migrations that the slices of a default run need, each command once. */
export function migrationSteps(stack: Stack, slices: readonly Slice[]): Step[] {
  return unique(
    usedMigrations(stack).flatMap(({ command, folder, database }) =>
      command === undefined ? [] : [{ folder, command: withSlice(command, database, slices) }],
    ),
  )
}

export function seedSteps(stack: Stack, slices: readonly Slice[]): Step[] {
  return unique(
    usedMigrations(stack).flatMap(({ seed, folder, database }) =>
      seed === undefined ? [] : [{ folder, command: withSlice(seed, database, slices) }],
    ),
  )
}

/** Migrations of a server that the default run does not use are somebody else's. */
export function usedMigrations(stack: Stack): Migration[] {
  return stack.migrations.filter(
    ({ database }) =>
      database === undefined || stack.services.some(one => one.kind === database && one.need === 'required'),
  )
}

/**
 * Puts the slice that a command works on in the place of `"$url"` and `"$name"`. A variable that is one of the app's
 * keys gets what the key gets, since a query like `?sslmode=disable` belongs to it.
 */
function withSlice(command: string, database: Migration['database'], slices: readonly Slice[]): string {
  const slice = slices.find(one => one.kind === database) ?? slices[0]
  if (slice === undefined) return command
  const named = command.replace(/\b([A-Za-z_]\w*)="\$(?:url|name)"/g, (whole, variable: string) => {
    const key = slice.keys.find(one => one.key === variable)
    const value = key === undefined ? undefined : sliceValue(slice, key)
    return value === undefined ? whole : `${variable}="${value}"`
  })
  return named.replaceAll('"$url"', `"$${slice.urlVariable}"`).replaceAll('"$name"', `"$${slice.variable}"`)
}

function unique(steps: readonly Step[]): Step[] {
  return steps.filter(
    (one, at) =>
      steps.findIndex(other => other.folder === one.folder && other.command === one.command) === at,
  )
}

/** Installs what the steps need and a new worktree does not have. */
export function installLines(stack: Stack, steps: readonly Step[]): string[] {
  const managers = new Map<string, PackageManager>()
  for (const step of steps) {
    const ecosystem = ecosystemOf(step.command)
    // A member's own manifest is installed from the root of its workspace.
    const isMember = stack.workspaces.members.some(one => one.kind === 'node' && one.folder === step.folder)
    const manager = stack.packageManagers
      .filter(
        one =>
          one.ecosystem === ecosystem &&
          (one.folder === '' || one.folder === step.folder || step.folder.startsWith(`${one.folder}/`)) &&
          !(isMember && one.folder === step.folder && one.isAssumed),
      )
      .sort((a, b) => Number(a.isAssumed) - Number(b.isAssumed) || b.folder.length - a.folder.length)[0]
    if (manager !== undefined) managers.set(`${manager.ecosystem} ${manager.folder}`, manager)
  }
  return [...managers.values()].flatMap(({ name, folder, install, installed }) => {
    const at = (path: string) => quoteWord(folder === '' ? path : `${folder}/${path}`)
    const call = folder === '' ? install : `(cd ${quoteWord(folder)} && ${install})`
    if (installed !== undefined) return [`[ -d ${at(installed)} ] || ${call}`]
    if (name === 'bundler')
      return [
        folder === ''
          ? 'bundle check >/dev/null || bundle install'
          : `(cd ${quoteWord(folder)} && { bundle check >/dev/null || bundle install; })`,
      ]
    return /^(uv|poetry|pdm|pipenv|mix)$/.test(name) ? [call] : []
  })
}

function ecosystemOf(command: string): PackageManager['ecosystem'] | undefined {
  const words: readonly (readonly [RegExp, PackageManager['ecosystem']])[] = [
    [/^(?:[A-Z_]+=\S+ )*(npm|npx|pnpm|yarn|bun|bunx)\b/, 'node'],
    [/^(?:[A-Z_]+=\S+ )*(uv|poetry|pdm|pipenv|python3?|alembic|flask)\b/, 'python'],
    [/^(?:[A-Z_]+=\S+ )*(bin\/rails|bundle)\b/, 'ruby'],
    [/^(?:[A-Z_]+=\S+ )*(php|composer|vendor\/)/, 'php'],
    [/^(?:[A-Z_]+=\S+ )*mix\b/, 'elixir'],
  ]
  return words.find(([pattern]) => pattern.test(command))?.[1]
}

/** What a person has to say about migrations, the ones that are used. */
export function migrationQuestions(stack: Stack): string[] {
  return usedMigrations(stack).flatMap(migration =>
    migration.question === undefined ? [] : [migration.question],
  )
}

/** Where the values of a generated file come from, for its header. */
export function saysFrom(sources: InitSources): string {
  const files = [...(sources.compose?.files ?? []), ...sources.envFiles.filter(file => file !== '.env')]
  return files.length === 0 ? '' : ` from ${files.slice(0, 3).join(', ')}`
}
