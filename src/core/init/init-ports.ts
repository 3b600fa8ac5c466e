// Decides which ports an environment takes for the programs that it starts, and which env keys carry them: those that
// a program reads, and those whose example points at such a port.

import type { ListenPort } from '../stack/listen-ports.ts'
import type { Start } from '../stack/starts.ts'
import type { Stack } from '../stack.ts'
import { activation } from './init-installs.ts'
import { isSettable } from './init-slices.ts'
import type { InitSources } from './init-sources.ts'
import { quoteWord } from './init-text.ts'

export interface PortPlan {
  /** The allocation's name. */
  readonly name: string
  /** The shell variable that holds it. */
  readonly variable: string
  /** Keys that are set to the number, some with what an address has before it. */
  readonly settings: readonly (readonly [key: string, value: string])[]
  /** What it is without penv. */
  readonly usual: number | undefined
}

export interface PortsPlan {
  readonly ports: readonly PortPlan[]
  readonly questions: readonly string[]
  /** What whoever starts the programs has to know, each a sentence. */
  readonly remarks: readonly string[]
}

const NAME_LIMIT = 40

export function planPorts(stack: Stack, sources: InitSources): PortsPlan {
  const chosen = chosenStarts(stack.starts)
  const questions: string[] = []
  const remarks: string[] = []
  const found: { name: string; key: string; before: string; usual: number | undefined; folder: string }[] = []
  for (const start of chosen) {
    const own = start.ports.filter(port => port.source !== 'dockerfile')
    const called = callOf(start)
    if (own.length === 0) questions.push(`which variable gives ${called} its port`)
    for (const port of own) {
      const key =
        port.variable !== undefined && isSettable(port.variable) ? port.variable : keyFor(start, found)
      const twin = found.find(one => one.key === key)
      if (twin !== undefined && twin.folder !== start.folder && port.port !== twin.usual) {
        questions.push(
          `${called} reads ${key}, too, as ${twin.folder || 'the root'} does: which variable gives it a port of its own`,
        )
        continue
      }
      if (twin === undefined)
        found.push({
          name: nameOf(key),
          key,
          before: port.before ?? '',
          usual: port.port,
          folder: start.folder,
        })
      const call = port.source === 'tool' ? callWithPort(stack, start, key) : undefined
      if (port.variable === undefined && call === undefined) questions.push(questionOf(port, start, key))
      else if (port.variable === undefined) remarks.push(`To start ${nameOf(key)}, run: ${call}`)
    }
  }
  if (found.length === 0 && chosen.length === 0)
    questions.push('how is the app started, and which variable gives it its port')
  if (found.length === 0) found.push({ name: 'web', key: 'PORT', before: '', usual: undefined, folder: '' })
  const isOne = found.length === 1
  const ports = found.map(({ name, key, before, usual }) => {
    const variable = isOne ? 'port' : `${name}_port`
    const others = keysOf(sources, usual).filter(other => other !== key)
    const settings = [[key, before], ...others.map(other => [other, ''])] as [string, string][]
    return {
      name,
      variable,
      settings: settings.map(([one, text]) => [one, `${text}$${variable}`] as const),
      usual,
    }
  })
  return { ports, questions: [...new Set(questions)], remarks: [...new Set(remarks)] }
}

/** One start for each folder. The root's only counts where it does more than start the others. */
function chosenStarts(starts: readonly Start[]): Start[] {
  const defaults = starts.filter(start => start.isDefault && start.source !== 'compose')
  const inside = defaults.filter(start => start.folder !== '' && start.ports.length > 0)
  return defaults.filter(start => {
    if (start.folder === '')
      return (
        inside.length === 0 ||
        start.ports.some(port => port.source !== 'tool' && port.evidence.file !== start.evidence.file)
      )
    // A library that watches has no port, and beside programs that have one it is none.
    return start.ports.length > 0 || inside.length === 0
  })
}

export function callOf(start: Start): string {
  return start.folder === '' ? `"${start.command}"` : `"${start.command}" in ${start.folder}`
}

function keyFor(start: Start, found: readonly { key: string }[]): string {
  const own =
    start.folder === ''
      ? 'PORT'
      : `${(start.folder.split('/').at(-1) as string).toUpperCase().replace(/\W+/g, '_')}_PORT`
  return found.some(one => one.key === 'PORT') && own === 'PORT' ? 'WEB_PORT' : own
}

function nameOf(key: string): string {
  const name = key
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/_?port_?/g, '_')
    .replace(/(^|_)(listen|listener|bind|addr|address|hostport)(?=_|$)/g, '')
    .replace(/^_+|_+$/g, '')
    .slice(0, NAME_LIMIT)
  return /^[a-z]/.test(name) ? name : 'web'
}

/** A tool that takes its port in the call, where nothing of the repository's stands around that call. */
function callWithPort(stack: Stack, start: Start, key: string): string | undefined {
  const { source, folder, command, portFlag } = start
  const isPlain = /^(framework|procfile)$/.test(source) && !/['&|;]/.test(command)
  if (!isPlain || portFlag === undefined || /^--(bind|urls)$/.test(portFlag)) return undefined
  const call = `${activation(stack, start)}penv exec -- sh -c '${[command, portFlag, `"$${key}"`].filter(Boolean).join(' ')}'`
  return folder === '' ? call : `cd ${quoteWord(folder)} && ${call}`
}

function questionOf(port: ListenPort, start: Start, key: string): string {
  const place = `${port.evidence.file}:${port.evidence.line}`
  const flag =
    start.portFlag === '' ? `"$${key}" at the end` : start.portFlag && `${start.portFlag} "$${key}"`
  const way = flag === undefined ? `let it read ${key}` : `start it with ${flag}`
  return `${callOf(start)} listens on ${port.port} (${place}): which variable gives it another port (or ${way})`
}

/** Keys whose example is the port itself, under another name for the same program. */
function keysOf(sources: InitSources, usual: number | undefined): string[] {
  if (usual === undefined) return []
  return sources.examples
    .filter(({ key, value }) => value === String(usual) && /(^|_)PORT$/i.test(key))
    .map(one => one.key)
}

/** Addresses of the app's own programs in env examples, with the environment's ports in them. */
export function addressValues(
  sources: InitSources,
  ports: readonly PortPlan[],
  taken: ReadonlySet<string>,
): [key: string, value: string][] {
  return sources.examples.flatMap(({ key, value }) => {
    if (taken.has(key) || !isSettable(key) || /\*\*\*/.test(value) || !/^[\w.:/@?=&,%+~-]+$/.test(value))
      return []
    let used = false
    const set = value.replace(
      /(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):(\d{2,5})(?!\d)/g,
      (whole, host: string, number: string) => {
        const port = ports.find(one => String(one.usual) === number)
        used ||= port !== undefined
        return port === undefined ? whole : `${host}:$${port.variable}`
      },
    )
    if (used) return [[key, set] as [string, string]]
    // Without a port it is the standard one, which is the main checkout's.
    const bare = /^(https?:\/\/(?:localhost|127\.0\.0\.1))(\/.*)?$/.exec(value)
    const web = ports[0]
    return bare === null || web === undefined
      ? []
      : [[key, `${bare[1]}:$${web.variable}${bare[2] ?? ''}`] as [string, string]]
  })
}
