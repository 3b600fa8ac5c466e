// Composes what has to do with the schema: the block of provision.sh that migrates, bootstrap.sh, template.inputs.

import type { Stack } from '../stack.ts'
import type { Slice } from './init-slices.ts'
import { callStep, installLines, migrationSteps, type Step, usedMigrations } from './init-steps.ts'
import { header, scriptText, usedAssignments } from './init-text.ts'

export function migrateBlock(steps: readonly Step[], cloned: Slice | undefined): string[] {
  if (steps.length === 0) return []
  const isOld =
    cloned === undefined ? '' : ` && [ "\${${cloned.kind}_cloned:-}\${PENV_TEMPLATE_FRESH:-}" != 11 ]`
  return [
    ...(cloned === undefined ? [] : ['# A clone of a fresh template has every migration already.']),
    `if [ -z "\${PENV_NO_MIGRATE:-}" ]${isOld}; then`,
    ...steps.map(step => `  ${callStep(step, true)}`),
    'fi',
  ]
}

/** What the commands of provision.sh are given, and the lines of shell that bring it. */
interface Given {
  readonly values: readonly (readonly [key: string, value: string])[]
  readonly passed: readonly string[]
  readonly assignments: readonly string[]
}

/** Its commands see what they see in provision.sh, with the template in the place of the environment's database. */
export function bootstrapText(
  stack: Stack,
  slices: readonly Slice[],
  cloned: Slice,
  [sourcing, asking]: readonly [readonly string[], readonly string[]],
  { values, passed, assignments }: Given,
): string {
  const steps = migrationSteps(
    {
      ...stack,
      migrations: usedMigrations(stack).filter(
        one => one.database === undefined || one.database === cloned.kind,
      ),
    },
    slices,
  ).called
  const exports = values.map(([key, value]) => `export ${key}="${value}"`)
  const calls = [...installLines(stack, steps, false), ...steps.map(step => callStep(step, false))]
  const brought = assignments.map(line =>
    line.startsWith(`${cloned.variable}=`) ? `${cloned.variable}=$PENV_TEMPLATE` : line,
  )
  const build = [
    `${cloned.kind}_create "$PENV_TEMPLATE"`,
    ...usedAssignments(brought, [...exports, ...calls].join('\n')),
    ...exports,
    ...exportPassed(passed),
    ...calls,
    `${cloned.kind}_freeze "$PENV_TEMPLATE"`,
    ';;',
  ]
  return scriptText(
    header(
      [
        'bootstrap.sh build|drop: the template that new environments clone. penv decides when, by template.inputs.',
      ],
      sourcing,
    ),
    asking,
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

function exportPassed(keys: readonly string[]): string[] {
  if (keys.length === 0) return []
  return [
    `for key in ${keys.join(' ')}; do`,
    '  value=$(main_value "$key")',
    '  [ -z "$value" ] || export "$key=$value"',
    'done',
  ]
}

export function templateInputs(stack: Stack, cloned: Slice): string {
  const inputs = usedMigrations(stack)
    .filter(one => one.command !== undefined && (one.database === undefined || one.database === cloned.kind))
    .flatMap(one => one.inputs)
  return `# The files that shape the schema, as git pathspecs. A template fits while all of them are unchanged.\n${[...new Set(inputs)].join('\n')}\n`
}
