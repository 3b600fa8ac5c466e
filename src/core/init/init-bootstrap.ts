// Composes what has to do with the schema: the block of provision.sh that migrates, bootstrap.sh, template.inputs.

import type { Stack } from '../stack.ts'
import { callLines, installLines, installSources } from './init-installs.ts'
import type { Slice } from './init-slices.ts'
import { migrationSteps, type Step, usedMigrations } from './init-steps.ts'
import { header, scriptText, usedAssignments } from './init-text.ts'
import { sliceValue } from './init-values.ts'

export function migrateBlock(stack: Stack, steps: readonly Step[], cloned: Slice | undefined): string[] {
  if (steps.length === 0) return []
  const isOld =
    cloned === undefined ? '' : ` && [ "\${${cloned.kind}_cloned:-}\${PENV_TEMPLATE_FRESH:-}" != 11 ]`
  return [
    ...(cloned === undefined ? [] : ['# A clone of a fresh template has every migration already.']),
    `if [ -z "\${PENV_NO_MIGRATE:-}" ]${isOld}; then`,
    ...callLines(stack, steps, true).map(line => `  ${line}`),
    'fi',
  ]
}

/** Before the migrations and apart from them: a clone of a template needs the programs, too. */
export function installBlock(stack: Stack, steps: readonly Step[]): string[] {
  const lines = installLines(stack, steps)
  return lines.length === 0
    ? []
    : ['# What is installed in the main checkout is not installed here.', ...lines]
}

export function bootstrapText(
  stack: Stack,
  slices: readonly Slice[],
  cloned: Slice,
  sourced: readonly string[],
  hasAccounts: boolean,
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
  const exports = cloned.keys.flatMap(key => {
    const value = sliceValue(cloned, key)
    return value === undefined ? [] : [`export ${key.key}="${value}"`]
  })
  if (exports.length === 0) exports.push('export DATABASE_URL="$url"')
  const own = sourced.filter(
    file => file.endsWith(`/${cloned.kind}.sh`) || (hasAccounts && file.endsWith('/servers.sh')),
  )
  const calls = [...installLines(stack, steps), ...callLines(stack, steps, false)]
  const assignments = [
    `${cloned.variable}=$PENV_TEMPLATE`,
    `${cloned.urlVariable}=$(${cloned.kind}_url "$PENV_TEMPLATE")`,
  ]
  const build = [
    `${cloned.kind}_create "$PENV_TEMPLATE"`,
    ...usedAssignments(assignments, [...exports, ...calls].join('\n')),
    ...exports,
    ...calls,
    `${cloned.kind}_freeze "$PENV_TEMPLATE"`,
    ';;',
  ]
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
