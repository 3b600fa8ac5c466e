// Blockers of the compose files that a default run starts: names and ports that a second environment would share.
import { type Blocker, blockerAt } from './blocker.ts'
import { fixedNames } from './blockers-compose-names.ts'
import { publishedPorts } from './blockers-compose-ports.ts'
import { type ComposeService, isEnabled } from './compose.ts'
import type { ComposeEntry } from './compose-fields.ts'
import { findComposeProjects } from './compose-standing.ts'
import type { RepoFacts } from './facts.ts'
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
  found.push(...publishedPorts(facts, service))
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
