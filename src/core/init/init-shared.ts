// Composes the scripts of an environment that takes its slices of shared servers through the adapters.
// Text only: what is taken, and under which keys, is decided in core/init/init-slices.ts and core/init/init-ports.ts.

import type { Stack } from '../stack.ts'
import { accountsOf, MAIN_FILE, mainReads, serversText } from './init-accounts.ts'
import { bootstrapText, installBlock, migrateBlock, templateInputs } from './init-bootstrap.ts'
import { callLines, installLines, installSources } from './init-installs.ts'
import { findPassedKeys, openKeyQuestions } from './init-passed-keys.ts'
import { addressValues, planPorts } from './init-ports.ts'
import { findSharedKeys } from './init-shared-keys.ts'
import { ADAPTERS, MAIN, planSlices, type Slice } from './init-slices.ts'
import type { InitSources } from './init-sources.ts'
import {
  asksForDatabase,
  migrationQuestions,
  migrationSteps,
  type Step,
  seedSteps,
  startSteps,
  usedMigrations,
} from './init-steps.ts'
import { envBlock, header, question, saysFrom, scriptText, usedAssignments } from './init-text.ts'
import { sliceValue } from './init-values.ts'

export function composeSharedScripts(stack: Stack, sources: InitSources): Map<string, string> {
  const slices = planSlices(stack)
  const accounts = accountsOf(stack, slices, sources, true)
  const migrations = migrationSteps(stack, slices)
  const steps = migrations.called
  const files = new Map<string, string>()
  const hasAccounts = accounts.lines.length > 0
  const sourced = [
    ...(hasAccounts ? ['$PENV_DIR/servers.sh'] : []),
    ...[...new Set(slices.map(slice => slice.kind))].map(kind => `$PENV_ADAPTERS/${kind}.sh`),
  ]
  const { ports, questions, remarks } = planPorts(stack, sources)
  const values: [string, string][] = []
  for (const port of ports)
    values.push(...port.settings.map(([key, value]) => [key, value] as [string, string]))
  const unknown = [...questions, ...accounts.questions]
  for (const slice of slices) {
    const own = slice.keys.flatMap(key => {
      const value = sliceValue(slice, key)
      return value === undefined ? [] : [[key.key, value] as [string, string]]
    })
    values.push(...own.filter(([key]) => !values.some(([other]) => other === key)))
    // What a held migration asks is the same.
    if (!asksForDatabase(stack, migrations) || !MAIN.has(slice.kind)) unknown.push(...sliceQuestions(slice))
    values.push(...conventional(slice).filter(([key]) => !values.some(([other]) => other === key)))
  }
  values.push(...addressValues(sources, ports, new Set(values.map(([key]) => key))))
  unknown.push(...migrationQuestions(stack, migrations), ...testQuestions(slices), ...withoutAdapter(stack))
  // Which files shape the schema is not known of an unknown tool.
  const isTraced = steps.length > 0 && usedMigrations(stack).every(one => one.tool !== 'unknown')
  const cloned = slices.find(slice => slice.isCloneable && isTraced && isAlone(slice, slices))
  const shared = findSharedKeys(stack, slices, sources, new Set(values.map(([key]) => key)))
  const passed = findPassedKeys(stack, sources, new Set([...values.map(([key]) => key), ...shared]))
  unknown.push(...openKeyQuestions(sources, new Set([...values.map(([key]) => key), ...shared, ...passed])))
  const asksMain = passed.length > 0 && !hasAccounts
  const asking = [...(asksMain ? [MAIN_FILE] : []), ...sourced]
  const installed = [...steps, ...startSteps(stack)]
  const taken = [
    ...allocations(slices),
    ...ports.map(port => `${port.variable}=$(penv get port ${port.name})`),
  ]
  files.set(
    'provision.sh',
    scriptText(
      header(
        [
          `provision.sh: ${whatIsTaken(slices)} of this worktree's own.`,
          `penv up runs it, and again is harmless. Made by penv init${saysFrom(sources)}; change it freely.`,
        ],
        [...asking, ...installSources(stack, installed)],
      ),
      asksMain ? [mainReads(sources)] : [],
      taken,
      [
        ...creations(slices, cloned),
        ...usedAssignments(
          urlsOf(slices),
          [...envBlock(values), ...migrateBlock(stack, steps, installed, cloned)].join('\n'),
        ),
      ],
      [...remarks.map(remark => `# ${remark}`), ...[...new Set(unknown)].map(question)],
      envBlock(values, passed),
      installBlock(stack, installed),
      migrateBlock(stack, steps, installed, cloned),
    ),
  )
  files.set(
    'verify.sh',
    scriptText(
      header(
        [
          'verify.sh: what is written to these slices shows nowhere else. penv verify runs it after its own checks.',
        ],
        sourced,
      ),
      allocations(slices),
      slices.length === 0
        ? ['[ -d "$PENV_DATA" ]']
        : slices.map(slice => `${slice.kind}_verify ${argument(slice)}`),
    ),
  )
  files.set(
    'teardown.sh',
    scriptText(
      header(
        [
          slices.length === 0
            ? 'teardown.sh: ports and PENV_DATA go with the environment, and there is nothing else.'
            : "teardown.sh: removes this environment's slices. penv destroy runs it, after the worktree is gone, too.",
        ],
        sourced,
      ),
      allocations(slices),
      slices.map(slice => `${slice.kind}_drop ${argument(slice)}`),
    ),
  )
  const seeds = seedSteps(stack, slices).called
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
        sliceVariables(slices, seeds),
        [...installLines(stack, seeds, true), ...callLines(stack, seeds, true, seeds)],
      ),
    )
  if (cloned !== undefined) {
    const assignments = [...taken, ...urlsOf(slices)]
    files.set(
      'bootstrap.sh',
      bootstrapText(stack, {
        slices,
        cloned,
        sourced: asking,
        assignments,
        values,
        passed,
        mainReads: asksMain ? [mainReads(sources)] : [],
      }),
    )
    files.set('template.inputs', templateInputs(stack, cloned))
  }
  if (hasAccounts) files.set('servers.sh', serversText(accounts, sources))
  if (shared.length > 0)
    files.set(
      'shared',
      `# Keys that stay the main checkout's: a shared server is reached at the same place by everybody.\n${shared.join('\n')}\n`,
    )
  return files
}

function whatIsTaken(slices: readonly Slice[]): string {
  const what = slices.map(({ kind }) => {
    if (kind === 'redis') return 'a redis index'
    if (kind === 's3') return 'a bucket'
    if (kind === 'rabbitmq') return 'a virtual host'
    if (kind === 'sqlite') return 'a SQLite file'
    return /^(kafka|nats|elasticsearch|qdrant)$/.test(kind) ? `a prefix in ${kind}` : `a ${kind} database`
  })
  const parts = [...new Set(what), 'ports']
  return parts.length === 1 ? 'ports' : `${parts.slice(0, -1).join(', ')} and ports`
}

function allocations(slices: readonly Slice[]): string[] {
  const lines = slices.flatMap(slice =>
    slice.allocate === undefined ? [] : [`${slice.variable}=$(${slice.allocate})`],
  )
  return [...new Set(lines)]
}

function argument(slice: Slice): string {
  return slice.kind === 'sqlite' ? 'app.db' : `"$${slice.variable}"`
}

function creations(slices: readonly Slice[], cloned: Slice | undefined): string[] {
  return slices.map(
    slice => `${slice.kind}_create ${argument(slice)}${slice === cloned ? ' "${PENV_TEMPLATE:-}"' : ''}`,
  )
}

/** A file's URL is written by each library in its own way, and a bucket's server has its own variable. */
function urlsOf(slices: readonly Slice[]): string[] {
  return slices
    .filter(slice => slice.kind !== 'sqlite' && slice.kind !== 's3')
    .map(slice => `${slice.urlVariable}=$(${slice.kind}_url ${argument(slice)})`)
}

/** Of two databases of one server it cannot be told which command makes which. */
function isAlone(slice: Slice, slices: readonly Slice[]): boolean {
  return !slices.some(
    other => other !== slice && other.kind === slice.kind && !/^(test|shadow)$/.test(other.suffix),
  )
}

/** What a seed needs of the slices, where its command takes an address. */
function sliceVariables(slices: readonly Slice[], steps: readonly Step[]): string[] {
  return slices.some(slice => steps.some(step => step.command.includes(`"$${slice.variable}"`)))
    ? allocations(slices)
    : []
}

/** Where no key is known: what most programs read, beside the question which key it is. */
export function conventional(slice: Slice): [string, string][] {
  if (slice.keys.length > 0 || slice.suffix !== '') return []
  if (slice.urlVariable === 'url' && slice.kind !== 'sqlite') return [['DATABASE_URL', '$url']]
  return slice.kind === 'redis' ? [['REDIS_URL', '$redis_url']] : []
}

/** What an app must say by a key that is not there. */
function sliceQuestions(slice: Slice): string[] {
  const has = (...parts: string[]) => slice.keys.some(key => parts.includes(key.part))
  if (slice.kind === 'redis')
    return has('url', 'index', 'connection') ? [] : ['which key gives the app its Redis index, "$index"']
  if (slice.kind === 'rabbitmq')
    return has('url', 'vhost', 'connection') ? [] : ['which key gives the app its virtual host, "$name"']
  if (slice.kind === 's3') return has('bucket') ? [] : ['which key gives the app its bucket, "$bucket"']
  if (/^(kafka|nats|elasticsearch|qdrant)$/.test(slice.kind))
    return has('prefix') ? [] : [`which key gives the app the prefix of its names in ${slice.kind}, "$name-"`]
  if (slice.kind === 'sqlite' || slice.suffix !== '' || has('url', 'database', 'connection')) return []
  return [`which key gives the app its ${slice.kind} database, "$${slice.variable}"`]
}

/** A key that tests take, too: set for a run of them, it empties what the environment's app uses. */
export function testQuestions(slices: readonly Slice[]): string[] {
  return slices.flatMap(slice =>
    slice.keys.flatMap(({ key, sharedWithTests: at }) =>
      at === undefined
        ? []
        : [
            `tests take ${key}, too (${at.file}:${at.line}), and empty what they run on: which key gives them a database of their own`,
          ],
    ),
  )
}

function withoutAdapter(stack: Stack): string[] {
  return stack.services
    .filter(
      service => service.need === 'required' && service.kind !== 'mail' && !ADAPTERS.includes(service.kind),
    )
    .map(service => `how is ${service.name} kept apart: ${service.tierReason}`)
}
