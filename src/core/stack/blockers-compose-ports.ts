// Blockers of the host ports that a compose service publishes as written, each with the text that lets a variable
// decide.
import { type Blocker, blockerAt } from './blocker.ts'
import type { ComposeService } from './compose.ts'
import type { ComposePort, PortRange } from './compose-ports.ts'
import type { RepoFacts } from './facts.ts'

export function publishedPorts(facts: RepoFacts, service: ComposeService): Blocker[] {
  const literal = service.ports.filter(({ host, variable }) => host !== 'auto' && variable === undefined)
  return literal.map(port =>
    blockerAt(
      facts,
      'LITERAL_HOST_PORT',
      { file: port.file ?? service.file, line: port.line ?? service.line },
      `${service.name} publishes host port ${rangeText(port.host)}${protocolText(port)}, which one environment can have`,
      `write "${withVariable(port, variableFor(service.name, port, literal))}"`,
    ),
  )
}

/** The same mapping, address and protocol kept, with a variable for the host's port. */
function withVariable(port: ComposePort, variable: string): string {
  const address =
    port.hostIp === undefined ? '' : `${port.hostIp.includes(':') ? `[${port.hostIp}]` : port.hostIp}:`
  return `${address}\${${variable}:-${rangeText(port.host)}}:${rangeText(port.container ?? port.host)}${protocolText(port)}`
}

/** Named after the service; where it publishes several, after the port of the container too, so that each has its own. */
function variableFor(name: string, port: ComposePort, literal: readonly ComposePort[]): string {
  const service = name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
  if (literal.length === 1) return `${service}_PORT`
  const inside = rangeText(port.container ?? port.host).replace('-', '_')
  const isTwice =
    literal.filter(
      other => rangeText(other.container ?? other.host) === rangeText(port.container ?? port.host),
    ).length > 1
  return `${service}_PORT_${inside}${isTwice && port.protocol !== 'tcp' ? `_${port.protocol.toUpperCase()}` : ''}`
}

function rangeText(range: number | PortRange | 'auto'): string {
  return typeof range === 'object' ? `${range.from}-${range.to}` : String(range)
}

function protocolText({ protocol }: ComposePort): string {
  return protocol === 'tcp' ? '' : `/${protocol}`
}
