// Blockers of a compose file's own names: of the project, and of volumes and networks that do not carry the project's.
import { type Blocker, blockerAt } from './blocker.ts'
import type { RankedProject } from './compose-standing.ts'
import { asRecord, findLine, type RepoFacts, valueAt } from './facts.ts'

/** Names at the top of a file that are not made from the project's name. */
export function fixedNames(facts: RepoFacts, project: RankedProject): Blocker[] {
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
          const isExternal = external === true || asRecord(external) !== undefined
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
              isExternal
                ? `the ${what} ${name} exists outside the project, and every project of the machine meets in it`
                : `the ${what} ${name} is one for all projects of the machine`,
              isExternal
                ? section === 'volumes'
                  ? 'remove "external", so that each project has a volume of its own'
                  : 'give only a proxy that network: in it a service name is answered by every environment'
                : `remove the name, so that each project has a ${what} of its own`,
            ),
          )
        }
      return found
    }),
  )
}
