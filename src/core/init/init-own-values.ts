// What the keys of an environment with a compose project of its own are set to, and the lines of shell that bring the
// addresses of its servers, as far as they are used.
import type { OwnProject } from './init-compose.ts'
import type { OwnAddress } from './init-own-address.ts'
import { addressValues, type PortPlan } from './init-ports.ts'
import type { ServerLines } from './init-servers.ts'
import { conventional } from './init-shared.ts'
import type { Slice } from './init-slices.ts'
import type { InitSources } from './init-sources.ts'
import { usedAssignments } from './init-text.ts'
import { sliceValue } from './init-values.ts'

/** The variables of the servers, those that are used: with servers.sh and the adapters only where they are. */
export function reachLines(addresses: readonly OwnAddress[], accounts: ServerLines, text: string): string[] {
  const after = usedAssignments(
    addresses.flatMap(one => one.after),
    text,
  )
  const said = [text, ...after].join('\n')
  const adapters = addresses
    .filter(({ kind }) => new RegExp(`\\$\\(${kind}_url `).test(said))
    .map(({ kind }) => `. "$PENV_ADAPTERS/${kind}.sh"`)
  // An adapter reads the account by itself.
  const asks =
    adapters.length > 0 ||
    said.includes('main_value') ||
    accounts.variables.some(name => new RegExp(`\\$\\{?${name}\\b`).test(said))
  const isUsed = (one: OwnAddress) =>
    adapters.some(line => line.includes(`/${one.kind}.sh`)) ||
    one.before.some(line => new RegExp(`\\$\\{?${/(\w+)=/.exec(line)?.[1]}\\b`).test(said))
  return [
    ...addresses.filter(isUsed).flatMap(one => one.before),
    ...(asks && accounts.lines.length > 0 ? ['. "$PENV_DIR/servers.sh"'] : []),
    ...new Set(adapters),
    ...after,
  ]
}

export function ownValues(
  plan: OwnProject,
  app: readonly PortPlan[],
  slices: readonly Slice[],
  sources: InitSources,
): [string, string][] {
  const values = new Map([['COMPOSE_PROJECT_NAME', '$project']])
  const put = (key: string, value: string) => {
    if (!values.has(key)) values.set(key, value)
  }
  for (const port of plan.ports) put(port.key, `$${port.name}_port`)
  for (const port of app) for (const [key, value] of port.settings) put(key, value)
  for (const slice of slices) {
    for (const key of slice.keys) {
      const value = key.part === 'prefix' || key.part === 'bucket' ? undefined : sliceValue(slice, key)
      if (value !== undefined) put(key.key, value)
    }
    for (const [key, value] of conventional(slice)) put(key, value)
  }
  const reachable = plan.ports.map(({ name, usual }) => ({
    name,
    variable: `${name}_port`,
    settings: [],
    usual,
  }))
  for (const [key, value] of addressValues(sources, [...app, ...reachable], new Set(values.keys())))
    put(key, value)
  return [...values]
}

/** The same questions as for shared servers, less those about a part of a server: here it is whole. */
export function addressQuestions(slices: readonly Slice[]): string[] {
  return slices
    .filter(
      slice =>
        slice.suffix === '' && !slice.keys.some(key => /^(url|host|hosts|port|connection)$/.test(key.part)),
    )
    .map(slice => `which key tells the app where its ${slice.kind} server is, "$${slice.urlVariable}"`)
}
