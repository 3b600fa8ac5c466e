// The engine's own checks of `penv verify`. Pure: what was seen goes in, verdicts come out. No values.

import type { EnvironmentRecord, Ledger } from './ledger.ts'
import { recordsOf } from './ledger.ts'
import type { SharedResource } from './resources.ts'

export type Verdict = 'ok' | 'warn' | 'fail' | 'unchecked'

export interface Check {
  name: string
  verdict: Verdict
  /** One line for a person. */
  message: string
}

const check = (name: string, verdict: Verdict, message: string): Check => ({ name, verdict, message })

/** The file exists and carries this environment's stamp. */
export function checkEnvFile(
  id: string,
  text: string | undefined,
  stamp: string | undefined,
  isTracked: boolean,
): Check[] {
  const name = 'env-file'
  if (text === undefined) return [check(name, 'fail', '.env.preview does not exist')]
  if (stamp === undefined)
    return [check(name, 'fail', '.env.preview has no PENV_ID: it was not written by penv')]
  if (stamp !== id) return [check(name, 'fail', `.env.preview belongs to ${stamp}: it is a copy`)]
  const checks = [check(name, 'ok', '.env.preview is ours')]
  if (isTracked)
    checks.push(check('env-file-tracked', 'warn', '.env.preview is tracked by git and would be committed'))
  return checks
}

/** Values in the file against the ledger: none of another environment, none that was given back, all of ours in use. */
export function checkAgainstLedger(
  ledger: Ledger,
  record: EnvironmentRecord,
  variables: ReadonlyMap<string, string>,
): Check[] {
  const checks: Check[] = []
  const foreign = recordsOf(ledger).filter(other => other.id !== record.id)
  const portOwner = new Map(
    foreign.flatMap(other => Object.values(other.ports).map(port => [port, other.id] as const)),
  )
  const givenBack = new Set((ledger.released ?? []).map(entry => entry.port))
  const ownPorts = new Set(Object.values(record.ports))
  for (const [key, value] of variables) {
    if (key.startsWith('PENV_')) continue
    for (const port of portsIn(key, value)) {
      const owner = portOwner.get(port)
      if (ownPorts.has(port)) continue
      if (owner !== undefined)
        checks.push(check('ledger', 'fail', `${key} names port ${port}, which ${owner} holds`))
      else if (givenBack.has(port))
        checks.push(check('ledger', 'fail', `${key} names port ${port}, which was given back`))
    }
    const stranger = foreign.find(other => namesEnvironment(value, other.id) && !record.id.includes(other.id))
    if (stranger !== undefined)
      checks.push(check('ledger', 'fail', `${key} names a resource of ${stranger.id}`))
  }
  const values = [...variables.values()]
  for (const [name, port] of Object.entries(record.ports))
    if (!values.some(value => new RegExp(`(^|\\D)${port}(\\D|$)`).test(value)))
      checks.push(check('ledger', 'warn', `port ${name} (${port}) is in no variable of .env.preview`))
  return checks.some(({ verdict }) => verdict === 'fail')
    ? checks
    : [check('ledger', 'ok', 'the values agree with the ledger'), ...checks]
}

/** Numbers that are meant as ports: the value of a port variable, or behind a host. */
function portsIn(key: string, value: string): number[] {
  if (/^\d{1,5}$/.test(value)) return /PORT/i.test(key) ? [Number(value)] : []
  return [...value.matchAll(/(?:\/\/[^/?#]*|localhost|127\.0\.0\.1|\[::1\]):(\d{1,5})(?!\d)/g)].map(match =>
    Number(match[1]),
  )
}

function namesEnvironment(value: string, id: string): boolean {
  const at = value.indexOf(id)
  return (
    (at >= 0 && !/[a-z0-9]/.test(value[at + id.length] ?? '')) ||
    value.includes(`-${id.replaceAll('_', '-')}`)
  )
}

export function checkSharedResources(
  shared: readonly SharedResource[],
  comparedFiles: readonly string[],
  hasMain: boolean,
): Check[] {
  const name = 'main-checkout'
  if (!hasMain) return [check(name, 'unchecked', 'there is no main checkout to compare with')]
  if (comparedFiles.length === 0)
    return [check(name, 'ok', 'the main checkout has no .env file to compare with')]
  if (shared.length === 0)
    return [check(name, 'ok', `nothing is shared with the main checkout (${comparedFiles.join(', ')})`)]
  return shared.map(({ key, how, file }) =>
    how === 'equal'
      ? check(name, 'fail', `${key} equals the main checkout's (${file})`)
      : check(
          name,
          'fail',
          `shared: ${key} of the main checkout's ${file} is not set here; list it in .preview/shared if that is meant`,
        ),
  )
}

export interface PortHolder {
  name: string
  port: number
  listeners: readonly { pid: number | undefined; command: string; directory: string | undefined }[]
}

// Container runtimes publish a port through a process of their own.
const CONTAINER_PROXIES =
  /^(docker-proxy|rootlessport|rootlesskit|slirp4netns|pasta|conmon|com\.docker|vpnkit|limactl|OrbStack|gvproxy|ssh)/

/** Each port is free, or held by a process that lies in the worktree or its data. */
export function checkPorts(holders: readonly PortHolder[], ownDirectories: readonly string[]): Check[] {
  return holders.flatMap(({ name, port, listeners }) => {
    const title = `port-${name}`
    if (listeners.length === 0) return [check(title, 'ok', `port ${name} (${port}) is free`)]
    return listeners.map(({ pid, command, directory }) => {
      if (pid === undefined)
        return check(title, 'unchecked', `port ${name} (${port}) is held by a process of another user`)
      if (CONTAINER_PROXIES.test(command))
        return check(
          title,
          'unchecked',
          `port ${name} (${port}) is published by a container runtime (pid ${pid}, ${command})`,
        )
      if (directory === undefined)
        return check(
          title,
          'unchecked',
          `port ${name} (${port}) is held by pid ${pid} (${command}), whose directory cannot be read`,
        )
      const isOurs = ownDirectories.some(own => directory === own || directory.startsWith(`${own}/`))
      return isOurs
        ? check(title, 'ok', `port ${name} (${port}) is served from ${directory}`)
        : check(title, 'fail', `port ${name} (${port}) is held by pid ${pid} (${command}) in ${directory}`)
    })
  })
}
