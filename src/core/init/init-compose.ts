// Decides what a compose project of an environment's own needs: which services are started, on which ports, under
// which variables, and what an override has to change so that two projects do not meet.

import type { ComposePort } from '../stack/compose-ports.ts'
import { containerPort } from './account-rules.ts'
import type { ComposeServer, ComposeSource } from './init-sources.ts'

export interface OwnPort {
  readonly server: string
  /** The allocation's name and, with `_port`, the shell variable. */
  readonly name: string
  /** The env key that carries it into the compose file. */
  readonly key: string
  readonly container: number
  readonly usual: number | undefined
  readonly protocol: string
  readonly hostIp: string | undefined
  /** The compose file does not read the key by itself. */
  readonly isLiteral: boolean
}

export interface OwnProject {
  /** The services to start; empty where all of them are. */
  readonly names: readonly string[]
  readonly ports: readonly OwnPort[]
  /** The text of the override, or undefined where the files can be used as they are. */
  readonly override: string | undefined
  readonly questions: readonly string[]
}

/** @param taken names of allocations that the app's own programs have. */
export function planOwnProject(
  source: ComposeSource,
  runsApp: boolean,
  taken: readonly string[],
): OwnProject {
  const started = runsApp ? [...source.servers] : closureOf(source.servers)
  const questions: string[] = []
  const ports: OwnPort[] = []
  for (const server of started) {
    const inside = server.kind === undefined ? undefined : containerPort(server.kind)
    // A program beside the project can only reach what is published.
    if (!runsApp && inside !== undefined && server.ports.length === 0) {
      const name = portName(server, inside, ports, taken)
      ports.push({
        server: server.name,
        name,
        key: `${name.toUpperCase()}_PORT`,
        container: inside,
        usual: undefined,
        protocol: 'tcp',
        hostIp: '127.0.0.1',
        isLiteral: true,
      })
    }
    for (const port of server.ports) {
      if (typeof port.container !== 'number' || (typeof port.host !== 'number' && port.host !== 'auto')) {
        questions.push(
          `${server.name} publishes the range ${port.raw}: which ports does it take in an environment of its own`,
        )
        continue
      }
      const name = portName(server, port.container, ports, taken)
      ports.push({
        server: server.name,
        name,
        key: keyOf(port, name, ports),
        container: port.container,
        usual: typeof port.host === 'number' ? port.host : undefined,
        protocol: port.protocol,
        hostIp: port.hostIp,
        isLiteral: port.variable === undefined,
      })
    }
  }
  for (const server of started)
    for (const mount of server.outerMounts)
      questions.push(
        `${server.name} keeps files in ${mount}, where all environments meet: which folder is it here`,
      )
  for (const { section, key } of source.external)
    questions.push(
      `the ${section === 'volumes' ? 'volume' : 'network'} ${key} is external, so all environments share it: is that meant`,
    )
  return {
    names: runsApp ? [] : started.map(server => server.name),
    ports,
    override: overrideText(source, started, ports),
    questions,
  }
}

/** The servers, with what they depend on and is started from an image. */
function closureOf(servers: readonly ComposeServer[]): ComposeServer[] {
  const wanted = new Set(servers.filter(server => server.isServer).map(server => server.name))
  for (let grew = true; grew; ) {
    grew = false
    for (const server of servers)
      if (wanted.has(server.name))
        for (const need of server.needs)
          if (!wanted.has(need) && servers.some(other => other.name === need && !other.isBuilt)) {
            wanted.add(need)
            grew = true
          }
  }
  return servers.filter(server => wanted.has(server.name))
}

function portName(
  server: ComposeServer,
  container: number,
  ports: readonly OwnPort[],
  taken: readonly string[],
): string {
  const clean = server.name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '')
    .slice(0, 30)
  const plain = taken.includes(clean) ? `${clean}_server` : clean || 'server'
  return ports.some(port => port.name === plain) ? `${plain}_${container}` : plain
}

/** The variable that the compose file reads, unless another port has it already. */
function keyOf(port: ComposePort, name: string, taken: readonly OwnPort[]): string {
  const own = port.variable
  return own !== undefined && !taken.some(other => other.key === own) ? own : `${name.toUpperCase()}_PORT`
}

function overrideText(
  source: ComposeSource,
  started: readonly ComposeServer[],
  ports: readonly OwnPort[],
): string | undefined {
  const services = started.flatMap(server => {
    const own = ports.filter(port => port.server === server.name)
    const lines: string[] = []
    if (server.hasContainerName) lines.push('    container_name: !reset null')
    if (own.some(port => port.isLiteral))
      lines.push(
        '    ports: !override',
        ...own.map(
          port =>
            `      - "${port.hostIp === undefined ? '' : `${port.hostIp}:`}\${${port.key}}:${port.container}${port.protocol === 'tcp' ? '' : `/${port.protocol}`}"`,
        ),
      )
    return lines.length === 0 ? [] : [`  ${quoteKey(server.name)}:`, ...lines]
  })
  const named = (section: 'volumes' | 'networks') => {
    const own = source.fixed.filter(one => one.section === section)
    return own.length === 0
      ? []
      : [
          `${section}:`,
          ...own.flatMap(({ key }) => [`  ${quoteKey(key)}:`, `    name: "\${COMPOSE_PROJECT_NAME}_${key}"`]),
        ]
  }
  const body = [
    ...(services.length === 0 ? [] : ['services:', ...services]),
    ...named('volumes'),
    ...named('networks'),
  ]
  if (body.length === 0) return undefined
  const about =
    '# What two projects of this compose file would meet at, given to each its own. Docker Compose 2.24 or newer reads it.'
  return `${[about, ...body].join('\n')}\n`
}

function quoteKey(key: string): string {
  return /^[A-Za-z_][\w-]*$/.test(key) ? key : JSON.stringify(key)
}
