// Signals of compose files: which servers are started, and whether by default, behind a profile, or only elsewhere.
import type { ComposeService } from './compose.ts'
import { findComposeProjects, type RankedProject } from './compose-standing.ts'
import { folderOf, isSecretKey, type RepoFacts } from './facts.ts'
import { type ImageIdentity, imagePath } from './images.ts'
import { type Signal, type SignalWeight, signalAt } from './signals.ts'
import { signalsOfEntries } from './signals-env.ts'
import { DATABASES, serviceKey } from './store-names.ts'

export function composeSignals(facts: RepoFacts): Signal[] {
  // An example beside the program is somebody else's stack.
  const projects = findComposeProjects(facts).filter(project => project.scope !== 'aside')
  const asked = askedProfiles(facts)
  return projects.flatMap(project => {
    const active = activeProfiles(project, asked)
    const others = alternativesIn(projects, project)
    return [...project.services.values()].flatMap(service => {
      const identity = service.identity ?? identifyByVolume(service)
      if (identity === undefined) return programSignals(facts, project, service)
      // What waits for a name among the servers of tests is a part of some of the tests.
      if (project.standing === 'test' && service.profiles.length > 0) return []
      const reaching = keysThatReach(project, service.name)
      const isAwaited = [...project.services.values()].some(
        one => one.identity === undefined && one.dependsOn.includes(service.name),
      )
      const [weight, why] = weigh(project, service, active, others.has(serviceKey(identity)))
      return signalAt(
        facts,
        { file: service.file, line: service.image === undefined ? service.line : service.imageLine },
        {
          ...identity,
          source: 'compose',
          weight,
          why,
          name: service.name,
          ...(service.image === undefined ? {} : { image: service.image }),
          ports: service.ports,
          envKeys: reaching,
          ...(reaching.length > 0 || isAwaited ? { isReached: true as const } : {}),
        },
      )
    })
  })
}

/** What the programs of a compose file are told: their database may be a file, or one of several that are started. */
function programSignals(facts: RepoFacts, project: RankedProject, service: ComposeService): Signal[] {
  if (project.standing !== 'run' && project.standing !== 'fallback') return []
  const entries = service.environment.flatMap(entry =>
    entry.value === undefined || isSecretKey(entry.key)
      ? []
      : [{ key: entry.key, value: entry.value, line: entry.line ?? service.line, commented: false }],
  )
  const file = { path: service.environment[0]?.file ?? service.file, kind: 'committed', entries } as const
  return signalsOfEntries(facts, file, project.standing === 'run' ? 'run' : 'named')
}

function weigh(
  project: RankedProject,
  service: ComposeService,
  active: ReadonlySet<string>,
  isAlternative: boolean,
): [SignalWeight, string] {
  if (service.isOff) return ['optional', `${service.name} is scaled to zero`]
  if (service.profiles.length > 0 && !service.profiles.some(profile => active.has(profile)))
    return ['optional', `behind the profile ${service.profiles.join(', ')}`]
  if (/(^|[-_.])(tests?|testing|e2e)($|[-_.])/i.test(service.name)) return ['ci', 'a server for the tests']
  if (isAlternative) return ['optional', `one of several choices in ${folderOf(project.file) || 'the root'}`]
  if (project.standing === 'run') return ['run', `${project.file} starts it by default`]
  if (project.standing === 'fallback') return ['fallback', `${project.file} starts it, in production`]
  if (project.standing === 'test') return ['ci', `${project.file} starts it for the tests`]
  return ['optional', `${project.file} is not the compose file of a default run`]
}

/**
 * The empty string is a profile that is on unless others are chosen: COMPOSE_PROFILES unset is a list of one empty name.
 */
function activeProfiles(project: RankedProject, asked: ReadonlySet<string>): Set<string> {
  const chosen = project.variables.get('COMPOSE_PROFILES')
  const active = new Set([...(chosen ?? '').split(',').map(profile => profile.trim()), ...asked])
  const all = new Set([...project.services.values()].flatMap(service => service.profiles))
  if (active.has('*')) return all
  const isAllBehind = [...project.services.values()].every(service => service.profiles.length > 0)
  if (isAllBehind && ![...all].some(profile => active.has(profile)))
    for (const profile of all)
      if (/^(dev|development|local|default|all|full)$/i.test(profile)) active.add(profile)
  return active
}

/** Profiles that a task file of the root turns on, other than for production or tests. */
function askedProfiles(facts: RepoFacts): Set<string> {
  const asked = new Set<string>()
  for (const file of facts.files.values()) {
    if (
      !/^(package\.json|[Mm]akefile|\.?justfile|[Tt]askfile\.ya?ml|Procfile\.dev|bin\/(dev|setup)|(scripts?\/)?(dev|start|up)(\.sh)?)$/.test(
        file.path,
      )
    )
      continue
    for (const line of file.text.split('\n'))
      if (!/\b(prod|production|deploy|test|ci|e2e|monitoring|observability)\b/.test(line))
        for (const match of line.matchAll(/--profile[=\s]+["']?([\w.-]+)/g)) asked.add(match[1] as string)
  }
  return asked
}

/** Files of one folder that each start another database are choices, of which nobody takes all. */
function alternativesIn(projects: readonly RankedProject[], project: RankedProject): Set<string> {
  const databases = (one: RankedProject) =>
    [...one.services.values()].flatMap(service =>
      service.identity !== undefined && DATABASES.has(serviceKey(service.identity))
        ? [serviceKey(service.identity)]
        : [],
    )
  const siblings = projects.filter(
    one =>
      !one.isBase &&
      one.standing === project.standing &&
      folderOf(one.file) === folderOf(project.file) &&
      databases(one).length > 0,
  )
  if (project.isBase || siblings.length < 2) return new Set()
  const sets = siblings.map(one => new Set(databases(one)))
  return new Set(databases(project).filter(kind => !sets.every(set => set.has(kind))))
}

/** An image nobody has named, with a volume where data lies and nothing that it depends on, is a server too. */
function identifyByVolume(service: ComposeService): ImageIdentity | undefined {
  if (service.image === undefined || service.build !== undefined || service.dependsOn.length > 0)
    return undefined
  const last = imagePath(service.image).split('/').at(-1) as string
  if (!/(^|[-_.])(db|database|store|storage|graph|vector|mq|queue|cache)($|[-_.])|db$|sql$|mq$/.test(last))
    return undefined
  const holdsData = service.volumes.some(
    volume => /^[\w$]/.test(volume.key) && /(^|\/)(data|db|lib|storage|store)(\/|$)/.test(volume.value ?? ''),
  )
  return holdsData ? { kind: 'unknown', product: last } : undefined
}

/** Keys of the project's other services whose value points at this one. */
function keysThatReach(project: RankedProject, name: string): string[] {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const pointing = new RegExp(`(^|//|@|,)${escaped}(?=$|[:/,])`)
  const keys = [...project.services.values()].flatMap(service =>
    service.name === name
      ? []
      : service.environment.filter(entry => pointing.test(entry.value ?? '')).map(entry => entry.key),
  )
  return [...new Set(keys)]
}
