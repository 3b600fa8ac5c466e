// Which commands the scripts call: migrations and seeds of the databases that a default run uses, and the installs that
// they need. A command is only called when it is known to work on the slice: what it would fall back to is main's.

import type { Migration } from '../stack/migrations.ts'
import type { Ecosystem } from '../stack/package-manager.ts'
import type { Stack } from '../stack.ts'
import type { Slice } from './init-slices.ts'
import { quoteWord } from './init-text.ts'
import { sliceValue } from './init-values.ts'

export interface Step {
  readonly folder: string
  readonly command: string
  /** What has to be installed for it, and in which folder. */
  readonly ecosystem: Ecosystem | undefined
  readonly project: string
}

/** A command in its folder, with the variables of .env.preview where `inEnvironment`. */
export function callStep(
  { folder, command }: Pick<Step, 'folder' | 'command'>,
  inEnvironment: boolean,
): string {
  const [, assignments, rest] = /^((?:[A-Z_]+=(?:"[^"]*"|\S+) )*)([\s\S]*)$/.exec(command) as unknown as [
    string,
    string,
    string,
  ]
  const call = inEnvironment ? `${assignments}penv exec -- ${rest}` : command
  return folder === '' ? call : `(cd ${quoteWord(folder)} && ${call})`
}

export interface Steps {
  readonly called: readonly Step[]
  /** Commands that nothing points at the slice, so that they must not be called yet. */
  readonly held: readonly Step[]
}

/** Each migration command of the databases that a default run uses, once. */
export function migrationSteps(stack: Stack, slices: readonly Slice[]): Steps {
  return stepsOf(stack, slices, migration => migration.command)
}

export function seedSteps(stack: Stack, slices: readonly Slice[]): Steps {
  return stepsOf(stack, slices, migration => migration.seed)
}

function stepsOf(
  stack: Stack,
  slices: readonly Slice[],
  commandOf: (one: Migration) => string | undefined,
): Steps {
  const called: Step[] = []
  const held: Step[] = []
  for (const migration of usedMigrations(stack)) {
    const written = commandOf(migration)
    // Where a person has to say how the tool is pointed elsewhere, it would work on the main checkout's.
    if (written === undefined || migration.question !== undefined) continue
    const slice = sliceOf(migration.database, slices)
    // Without a database of its own there is nothing that it could make here.
    if (migration.tool === 'unknown' && slice === undefined) continue
    const step = {
      folder: migration.folder,
      command: withSlice(written, slice),
      ecosystem: ecosystemOf(written) ?? migration.ecosystem,
      project: migration.project,
    }
    const list = reaches(written, migration, slice, stack) ? called : held
    if (!list.some(one => one.folder === step.folder && one.command === step.command)) list.push(step)
  }
  return { called, held }
}

/** Migrations of a server that the default run does not use are somebody else's. */
export function usedMigrations(stack: Stack): Migration[] {
  return stack.migrations.filter(
    ({ database }) =>
      database === undefined || stack.services.some(one => one.kind === database && one.need === 'required'),
  )
}

function sliceOf(database: Migration['database'], slices: readonly Slice[]): Slice | undefined {
  return (
    slices.find(one => one.kind === database && one.suffix === '') ??
    slices.find(one => one.urlVariable === 'url')
  )
}

/** By an argument, by a key that names the database (and that an unknown tool reads), or because the database is a file of the worktree. */
function reaches(
  command: string,
  { database, reads }: Migration,
  slice: Slice | undefined,
  stack: Stack,
): boolean {
  if (slice === undefined) {
    const isFile = stack.services.some(one => one.kind === 'sqlite' && one.need === 'required')
    return isFile && (database === undefined || database === 'sqlite')
  }
  return (
    /"\$(url|name)"/.test(command) ||
    slice.keys.some(
      key => /^(url|database|connection|path)$/.test(key.part) && (reads === undefined || reads.has(key.key)),
    )
  )
}

/**
 * Puts the slice that a command works on in the place of `"$url"` and `"$name"`. A variable that is one of the app's
 * keys gets what the key gets, since a query like `?sslmode=disable` belongs to it.
 */
function withSlice(command: string, slice: Slice | undefined): string {
  if (slice === undefined) return command
  const named = command.replace(/\b([A-Za-z_]\w*)="\$(?:url|name)"/g, (whole, variable: string) => {
    const key = slice.keys.find(one => one.key === variable)
    const value = key === undefined ? undefined : sliceValue(slice, key)
    return value === undefined ? whole : `${variable}="${value}"`
  })
  return named.replaceAll('"$url"', `"$${slice.urlVariable}"`).replaceAll('"$name"', `"$${slice.variable}"`)
}

/** Whether one of the questions is how the database is pointed elsewhere, so that it need not be asked again. */
export function asksForDatabase(stack: Stack, steps: Steps): boolean {
  return steps.held.length > 0 || usedMigrations(stack).some(one => one.question !== undefined)
}

/** What a person has to say about migrations: the command, or the key that points it at the slice. */
export function migrationQuestions(stack: Stack, steps: Steps): string[] {
  const asked = usedMigrations(stack).flatMap(one => (one.question === undefined ? [] : [one.question]))
  const held = steps.held.map(
    step =>
      `which key points \`${callStep(step, false)}\` at the database of this environment (set it, and call that command here)`,
  )
  return [...asked, ...held]
}

/** The commands that start the app on this machine. */
export function startSteps(stack: Stack): Step[] {
  return stack.starts
    .filter(start => start.isDefault && start.source !== 'compose')
    .map(({ folder, command }) => ({ folder, command, ecosystem: ecosystemOf(command), project: folder }))
}

/** Whose program a command begins with; undefined where it is nobody's, as make is. */
export function ecosystemOf(command: string): Ecosystem | undefined {
  const words: readonly (readonly [RegExp, Ecosystem])[] = [
    [/^(?:[A-Z_]+=\S+ )*(npm|npx|pnpm|yarn|bun|bunx)\b/, 'node'],
    [
      /^(?:[A-Z_]+=\S+ )*(uv|poetry|pdm|pipenv|python3?|alembic|flask|uvicorn|hypercorn|gunicorn|fastapi|streamlit)\b/,
      'python',
    ],
    [/^(?:[A-Z_]+=\S+ )*(bin\/rails|bundle)\b/, 'ruby'],
    [/^(?:[A-Z_]+=\S+ )*(php|composer|vendor\/)/, 'php'],
    [/^(?:[A-Z_]+=\S+ )*mix\b/, 'elixir'],
  ]
  return words.find(([pattern]) => pattern.test(command))?.[1]
}
