// Blockers of the compose files that a default run starts: names and ports that a second environment would share.
import { type Blocker, blockerAt } from './blocker.ts'
import { type ComposeService, isEnabled } from './compose.ts'
import type { ComposeEntry } from './compose-fields.ts'
import type { ComposePort } from './compose-ports.ts'
import { findComposeProjects, type RankedProject } from './compose-standing.ts'
import { asRecord, findLine, type RepoFacts, valueAt } from './facts.ts'
import { imagePath } from './images.ts'

export function composeBlockers(facts: RepoFacts): Blocker[] {
  const started = findComposeProjects(facts).filter(
    project => project.standing === 'run' || project.standing === 'fallback',
  )
  return started.flatMap(project => [
    ...[...project.services.values()].flatMap(service => serviceBlockers(facts, service)),
    ...fixedNames(facts, project),
  ])
}

function serviceBlockers(facts: RepoFacts, service: ComposeService): Blocker[] {
  const { file } = service
  const found: Blocker[] = []
  const container = service.containerName
  if (container !== undefined && !container.name.includes('$'))
    found.push(
      blockerAt(
        facts,
        'CONTAINER_NAME',
        { file: container.file, line: container.line },
        `container_name ${container.name} exists once on a machine`,
        'remove container_name: Compose then names the container after the project',
      ),
    )
  if (!isEnabled(service)) return found
  for (const port of service.ports)
    if (port.host !== 'auto' && port.variable === undefined)
      found.push(
        blockerAt(
          facts,
          'LITERAL_HOST_PORT',
          { file: port.file ?? file, line: port.line ?? service.line },
          `${service.name} publishes host port ${portText(port)}, which one environment can have`,
          `write "\${${variableFor(service.name)}:-${typeof port.host === 'number' ? port.host : port.host.from}}:${containerText(port)}"`,
        ),
      )
  for (const label of [...service.labels, ...service.environment]) {
    const host =
      /Host(?:SNI)?\(\s*`([^`$]+)`/.exec(label.value ?? '')?.[1] ??
      (/^(VIRTUAL_HOST|caddy|LETSENCRYPT_HOST)$/.test(label.key) ? label.value : undefined)
    if (host === undefined || host === '' || label.hasVariable === true) continue
    found.push(
      blockerAt(
        facts,
        'PROXY_HOST',
        { file: label.file ?? file, line: label.line ?? service.line },
        `${service.name} claims the host ${host} at the proxy`,
        'put the name of the environment into the host through a variable',
      ),
    )
  }
  for (const volume of service.volumes)
    if (/^(~|\$\{?HOME\}?|\/home\/\w+|\/Users\/\w+)(\/|$)/.test(volume.key) && holdsData(service, volume))
      found.push(
        blockerAt(
          facts,
          'DATA_IN_HOME',
          { file: volume.file ?? file, line: volume.line ?? service.line },
          `${service.name} keeps its data in the home directory, where all environments meet`,
          'use a named volume or a folder below PENV_DATA',
        ),
      )
  const image = imagePath(service.image ?? '')
  if (/(^|[/_-])(pgbouncer|pgpool|pgpool2|pgcat|odyssey|proxysql|supavisor|pgdog)($|[-_])/.test(image))
    found.push(
      blockerAt(
        facts,
        'CONNECTION_POOLER',
        { file, line: service.imageLine },
        `${service.name} pools connections for a fixed list of databases`,
        'let environments connect to the server itself, or let the pooler take any database',
      ),
    )
  return found
}

/** A server's folder, or one that is called so; a program is also given settings and caches of the person. */
function holdsData(service: ComposeService, volume: ComposeEntry): boolean {
  return (
    service.identity !== undefined ||
    /(^|\/)(data|db|database|storage|uploads|media)(\/|$)/.test(volume.value ?? '')
  )
}

/** Names at the top of a file that are not made from the project's name. */
function fixedNames(facts: RepoFacts, project: RankedProject): Blocker[] {
  return project.files.flatMap(path =>
    (facts.yaml.get(path) ?? []).flatMap(document => {
      const found: Blocker[] = []
      const projectName = valueAt(document.value, 'name')
      if (typeof projectName === 'string' && projectName !== '' && !projectName.includes('$'))
        found.push(
          blockerAt(
            facts,
            'FIXED_PROJECT_NAME',
            { file: path, line: document.lines.get('name') },
            `the project is always called ${projectName}, unless COMPOSE_PROJECT_NAME says otherwise`,
            'set COMPOSE_PROJECT_NAME for each environment, and pass no -p',
          ),
        )
      for (const [section, code] of [
        ['volumes', 'FIXED_VOLUME_NAME'],
        ['networks', 'FIXED_NETWORK_NAME'],
      ] as const)
        for (const [key, body] of Object.entries(asRecord(valueAt(document.value, section)) ?? {})) {
          const external = valueAt(body, 'external')
          const name =
            valueAt(body, 'name') ?? valueAt(external, 'name') ?? (external === true ? key : undefined)
          if (typeof name !== 'string' || name.includes('$')) continue
          const line =
            document.lines.get(`${section}/${key}/name`) ??
            document.lines.get(`${section}/${key}`) ??
            findLine(facts.files.get(path), `${key}:`)
          const what = section === 'volumes' ? 'volume' : 'network'
          found.push(
            blockerAt(
              facts,
              code,
              { file: path, line },
              `the ${what} ${name} is one for all projects of the machine`,
              section === 'volumes'
                ? 'remove the name, so that each project has a volume of its own'
                : 'remove the name, so that each project has a network of its own',
            ),
          )
        }
      return found
    }),
  )
}

function portText(port: ComposePort): string {
  return typeof port.host === 'object' ? `${port.host.from}-${port.host.to}` : String(port.host)
}

function containerText(port: ComposePort): string {
  return typeof port.container === 'object'
    ? `${port.container.from}-${port.container.to}`
    : String(port.container ?? port.host)
}

function variableFor(name: string): string {
  return `${name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_PORT`
}
