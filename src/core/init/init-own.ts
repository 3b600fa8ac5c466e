// Composes the scripts of an environment with a compose project of its own: servers on ports of their own, and volumes
// that go with it. Text only: what is started is decided in core/init/init-compose.ts.

import type { Stack } from '../stack.ts'
import { accountsOf, MAIN_FILE, mainReads, serversText } from './init-accounts.ts'
import { installBlock, migrateBlock } from './init-bootstrap.ts'
import { type OwnProject, planOwnProject } from './init-compose.ts'
import { callLines, installLines, installSources } from './init-installs.ts'
import { ownAddress } from './init-own-address.ts'
import { addressQuestions, ownValues, reachLines } from './init-own-values.ts'
import { findPassedKeys, openKeyQuestions } from './init-passed-keys.ts'
import { planPorts } from './init-ports.ts'
import { testQuestions } from './init-shared.ts'
import { planSlices } from './init-slices.ts'
import type { ComposeSource, InitSources } from './init-sources.ts'
import {
  asksForDatabase,
  migrationQuestions,
  migrationSteps,
  seedSteps,
  startSteps,
  usedMigrations,
} from './init-steps.ts'
import { envBlock, header, question, quoteWord, saysFrom, scriptText } from './init-text.ts'

const PROJECT = 'project="preview-$PENV_ID"'
/** Where no compose file is in sight, docker compose goes by the labels of the project alone. */
const BY_LABEL = [
  '# There is no compose file in PENV_DATA, so the labels of the project alone decide.',
  'cd "$PENV_DATA"',
]

export function composeOwnScripts(
  stack: Stack,
  sources: InitSources,
  compose: ComposeSource,
  runsApp: boolean,
): Map<string, string> {
  const files = new Map<string, string>()
  const { ports, questions, remarks } = planPorts(stack, sources)
  const app = runsApp ? [] : ports
  const plan = planOwnProject(
    compose,
    runsApp,
    app.map(port => port.name),
  )
  // An app inside the project finds its servers by their names, as the compose file says.
  const planned = runsApp
    ? []
    : planSlices(stack).map(slice => ({ slice, address: ownAddress(slice, compose, plan) }))
  const reached = planned.flatMap(({ slice, address }) => (address === undefined ? [] : [{ slice, address }]))
  const slices = reached.map(one => one.slice)
  const addresses = reached.map(one => one.address)
  const accounts = accountsOf(stack, slices, sources, false)
  const values = ownValues(plan, app, slices, sources)
  const migrations = migrationSteps(stack, slices)
  const steps = runsApp ? [] : migrations.called
  const installed = runsApp ? [] : [...steps, ...startSteps(stack)]
  const reach = [
    ...reachLines(addresses, accounts, [...envBlock(values), ...steps.map(step => step.command)].join('\n')),
    ...installSources(stack, installed).map(file => `. "${file}"`),
  ]
  const hasAccounts = reach.some(line => line.includes('/servers.sh'))
  const passed = runsApp ? [] : findPassedKeys(stack, sources, new Set(values.map(([key]) => key)))
  const asksMain =
    passed.length > 0 || addresses.some(one => one.after.some(line => line.includes('main_value')))
  const sourced = asksMain && !hasAccounts ? [`. "${MAIN_FILE}"`, mainReads(sources), ...reach] : reach
  const unknown = [
    ...(runsApp ? [] : questions),
    ...plan.questions,
    ...(asksForDatabase(stack, migrations) ? [] : addressQuestions(slices)),
    ...testQuestions(slices),
    ...(runsApp ? insideQuestions(stack) : migrationQuestions(stack, migrations)),
    ...missingEnvFiles(compose),
    ...(runsApp ? [] : openKeyQuestions(sources, new Set([...values.map(([key]) => key), ...passed]))),
  ]
  files.set(
    'provision.sh',
    scriptText(
      header([
        "provision.sh: a compose project of this worktree's own, on ports of its own.",
        `penv up runs it, and again is harmless. Made by penv init${saysFrom(sources)}; change it freely.`,
        ...(sourced.some(line => line.startsWith('. '))
          ? ['shellcheck disable=SC1091 # these files are found when it runs']
          : []),
      ]),
      [
        PROJECT,
        ...plan.ports.map(port => `${port.name}_port=$(penv get port ${port.name})`),
        ...app.map(port => `${port.variable}=$(penv get port ${port.name})`),
      ],
      sourced,
      [...(runsApp ? [] : remarks).map(remark => `# ${remark}`), ...[...new Set(unknown)].map(question)],
      envBlock(values, passed),
      upLines(compose, plan),
      installBlock(stack, installed),
      migrateBlock(stack, steps, installed, undefined),
    ),
  )
  files.set(
    'verify.sh',
    scriptText(
      header([
        "verify.sh: the services of this worktree's own project are running. penv verify runs it after its own checks.",
      ]),
      [PROJECT],
      verifyLines(compose, plan, runsApp),
    ),
  )
  files.set(
    'down.sh',
    scriptText(header(["down.sh: stops this worktree's project and keeps its volumes. penv down runs it."]), [
      PROJECT,
      ...BY_LABEL,
      'docker compose -p "$project" down --remove-orphans',
    ]),
  )
  files.set(
    'teardown.sh',
    scriptText(
      header([
        "teardown.sh: removes this worktree's project with its volumes. penv destroy runs it, after the worktree is gone, too.",
      ]),
      [PROJECT, ...BY_LABEL, 'docker compose -p "$project" down -v --remove-orphans'],
      [
        'label="label=com.docker.compose.project=$project"',
        'left=$(docker ps -aq --filter "$label" && docker volume ls -q --filter "$label")',
        'if [ -n "$left" ]; then',
        `  printf 'still there: %s\\n' "$left" >&2`,
        '  exit 1',
        'fi',
      ],
    ),
  )
  const seeds = runsApp ? [] : seedSteps(stack, slices).called
  if (seeds.length > 0)
    files.set(
      'seed.sh',
      scriptText(
        header(
          [
            "seed.sh: sample rows for this environment alone, by the repository's own command. penv up --seed runs it.",
          ],
          installSources(stack, seeds),
        ),
        [...installLines(stack, seeds, true), ...callLines(stack, seeds, true, seeds)],
      ),
    )
  if (plan.override !== undefined) files.set('compose.yaml', plan.override)
  if (hasAccounts) files.set('servers.sh', serversText(accounts, sources, asksMain))
  return files
}

function upLines(compose: ComposeSource, plan: OwnProject): string[] {
  const files = [
    ...compose.files.map(file => `-f ${quoteWord(file)}`),
    ...(plan.override === undefined ? [] : ['-f "$PENV_DIR/compose.yaml"']),
  ]
  return [
    `set -- -p "$project" ${files.join(' ')} --env-file "$PENV_ROOT/.env.preview"`,
    '# What the main checkout sets beside that, its passwords for one, holds here too.',
    '[ ! -e "${PENV_MAIN:-$PENV_ROOT}/.env" ] || set -- --env-file "${PENV_MAIN:-$PENV_ROOT}/.env" "$@"',
    `docker compose "$@" up -d --wait${plan.names.map(name => ` ${quoteWord(name)}`).join('')}`,
  ]
}

function verifyLines(compose: ComposeSource, plan: OwnProject, runsApp: boolean): string[] {
  const names = runsApp
    ? compose.servers.filter(server => server.isServer || server.isBuilt).map(server => server.name)
    : plan.names
  return [
    `services=${quoteWord(names.join(' '))}`,
    'for service in $services; do',
    '  running=$(docker ps -q --filter "label=com.docker.compose.project=$project" --filter "label=com.docker.compose.service=$service")',
    '  if [ -z "$running" ]; then',
    `    printf '%s of %s is not running\\n' "$service" "$project" >&2`,
    '    exit 1',
    '  fi',
    'done',
  ]
}

/** What an app in a container does by itself cannot be seen from here. */
function insideQuestions(stack: Stack): string[] {
  return usedMigrations(stack)
    .filter(one => !one.isAppliedByApp)
    .map(
      one =>
        `does the app's container apply the ${one.tool} migrations when it starts, or which command does`,
    )
}

function missingEnvFiles(compose: ComposeSource): string[] {
  return compose.missingEnvFiles.map(
    file => `compose reads ${file}, which a new worktree does not have: how is it made`,
  )
}
