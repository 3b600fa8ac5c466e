// Composes what has to do with the schema: the block of provision.sh that migrates, bootstrap.sh, template.inputs.

import type { Stack } from '../stack.ts'
import { callLines, installLines, installSources } from './init-installs.ts'
import type { Slice } from './init-slices.ts'
import { migrationSteps, type Step, usedMigrations } from './init-steps.ts'
import { header, scriptText, usedAssignments } from './init-text.ts'

/** @param installed the steps whose installs the script has called before */
export function migrateBlock(
  stack: Stack,
  steps: readonly Step[],
  installed: readonly Step[],
  cloned: Slice | undefined,
): string[] {
  if (steps.length === 0) return []
  const isOld =
    cloned === undefined ? '' : ` && [ "\${${cloned.kind}_cloned:-}\${PENV_TEMPLATE_FRESH:-}" != 11 ]`
  return [
    ...(cloned === undefined ? [] : ['# A clone of a fresh template has every migration already.']),
    `if [ -z "\${PENV_NO_MIGRATE:-}" ]${isOld}; then`,
    ...callLines(stack, steps, true, installed).map(line => `  ${line}`),
    'fi',
  ]
}

/** Before the migrations and apart from them: a clone of a template needs the programs, too. */
export function installBlock(stack: Stack, steps: readonly Step[]): string[] {
  const lines = installLines(stack, steps, true)
  return lines.length === 0 ? [] : ['# A new worktree has none of what git does not track.', ...lines]
}

/** What provision.sh works with, less what it does with it. */
export interface Provision {
  readonly slices: readonly Slice[]
  readonly cloned: Slice
  /** Files that it sources. */
  readonly sourced: readonly string[]
  /** Assignments of names, numbers and addresses. */
  readonly assignments: readonly string[]
  /** What it sets in .env.preview. */
  readonly values: readonly (readonly [key: string, value: string])[]
  /** Keys that it passes on from the main checkout. */
  readonly passed: readonly string[]
  /** The line that says where they are, where servers.sh does not. */
  readonly mainReads: readonly string[]
}

/** An app's settings may be read as a whole, so the migration tool has all that it has in an environment. */
export function bootstrapText(stack: Stack, provision: Provision): string {
  const { slices, cloned, sourced, values, passed } = provision
  const steps = migrationSteps(
    {
      ...stack,
      migrations: usedMigrations(stack).filter(
        one => one.database === undefined || one.database === cloned.kind,
      ),
    },
    slices,
  ).called
  const calls = [...installLines(stack, steps, false), ...callLines(stack, steps, false, steps)]
  const template = [
    `${cloned.variable}=$PENV_TEMPLATE`,
    `${cloned.urlVariable}=$(${cloned.kind}_url "$PENV_TEMPLATE")`,
  ]
  const isOfTemplate = (line: string) => template.some(own => own.split('=')[0] === line.split('=')[0])
  const exports = values.map(([key, value]) => `export ${key}="${value}"`)
  const build = [
    `${cloned.kind}_create "$PENV_TEMPLATE"`,
    ...usedAssignments(
      [...template, ...provision.assignments.filter(line => !isOfTemplate(line))],
      [...exports, ...calls].join('\n'),
    ),
    ...(exports.length === 0 ? [] : ["# As provision.sh sets them, but for the template's database."]),
    ...exports,
    ...(passed.length === 0 ? [] : [...provision.mainReads, `main_export ${passed.join(' ')}`]),
    ...calls,
    `${cloned.kind}_freeze "$PENV_TEMPLATE"`,
    ';;',
  ]
  const said = build.join('\n')
  const own = sourced.filter(file => {
    const kind = /^\$PENV_ADAPTERS\/(\w+)\.sh$/.exec(file)?.[1]
    return kind === undefined || new RegExp(`\\b${kind}_`).test(said)
  })
  return scriptText(
    header(
      [
        'bootstrap.sh build|drop: the template that new environments clone. penv decides when, by template.inputs.',
      ],
      [...own, ...installSources(stack, steps)],
    ),
    [
      'case ${1:-} in',
      '  build)',
      ...build.map(line => `    ${line}`),
      `  drop) ${cloned.kind}_drop_template "$PENV_TEMPLATE" ;;`,
      '  *)',
      "    printf 'bootstrap.sh: say build or drop\\n' >&2",
      '    exit 2',
      '    ;;',
      'esac',
    ],
  )
}

export function templateInputs(stack: Stack, cloned: Slice): string {
  const inputs = usedMigrations(stack)
    .filter(one => one.command !== undefined && (one.database === undefined || one.database === cloned.kind))
    .flatMap(one => one.inputs)
  return `# The files that shape the schema, as git pathspecs. A template fits while all of them are unchanged.\n${[...new Set(inputs)].join('\n')}\n`
}
