// Says which compose projects a developer starts by default, by names, by who mentions them, and by what they run.
import { isEnabled } from './compose.ts'
import { looksProduction } from './compose-production.ts'
import { type ComposeProject, readComposeProjects } from './compose-projects.ts'
import { folderOf, nameOf, type RepoFacts, resolveFrom } from './facts.ts'
import { extraWords, isSideShow } from './scope.ts'

/** run: the developer's. fallback: production's, where there is nothing else. optional: one may start it. */
export type Standing = 'run' | 'fallback' | 'optional' | 'test'

export interface RankedProject extends ComposeProject {
  readonly standing: Standing
}

/** The projects with their standing, in the order of the files. */
export function findComposeProjects(facts: RepoFacts): RankedProject[] {
  const projects = readComposeProjects(facts)
  const finished = new Set(projects.filter(project => looksProduction(facts, project.services)))
  const runs = chooseRuns(projects, finished, mentionedFiles(facts))
  return projects.map(project => ({ ...project, standing: standingOf(project) }))

  function standingOf(project: ComposeProject): Standing {
    if (runs.has(project)) return 'run'
    if (project.scope === 'test') return 'test'
    const isFallback = runs.size === 0 && (project.scope === 'production' || finished.has(project))
    return isFallback && project.scope !== 'aside' && !isSideShow(project.file) ? 'fallback' : 'optional'
  }
}

function chooseRuns(
  projects: readonly ComposeProject[],
  finished: ReadonlySet<ComposeProject>,
  mentioned: ReadonlySet<string>,
): Set<ComposeProject> {
  const own = projects.filter(
    project => (project.scope === 'neutral' || project.scope === 'development') && !isSideShow(project.file),
  )
  const withServers = own.filter(project =>
    [...project.services.values()].some(service => service.identity !== undefined),
  )
  // Files without a server still say what the programs are told; they count where no other file has one.
  const candidates = withServers.length > 0 ? withServers : own
  const containers = candidates.filter(project => project.file.includes('.devcontainer/'))
  const hosted = candidates.filter(project => !containers.includes(project))
  const explicit = plainest(nearest(hosted.filter(project => project.scope === 'development')))
  const runs = new Set(explicit)
  for (const project of hosted) {
    if (!project.isBase || folderOf(project.file) !== '' || finished.has(project)) continue
    const isBelow = explicit.some(one => one.isOverlay && one.files.includes(project.file))
    // Beside a file of its own for development, the plain one counts only where it holds nothing but servers.
    if (
      explicit.length === 0 ||
      isBelow ||
      [...project.services.values()].every(service => service.build === undefined)
    )
      runs.add(project)
  }
  const hasRootRun = [...runs].some(project => project.isBase)
  if (runs.size === 0 || hasRootRun)
    for (const project of hosted) if (mentioned.has(project.file) && !finished.has(project)) runs.add(project)
  // Where the host's file starts no server of itself, the dev container says what is always there.
  const startsServer = (project: ComposeProject) =>
    [...project.services.values()].some(service => service.identity !== undefined && isEnabled(service))
  if (![...runs].some(startsServer)) for (const project of containers) runs.add(project)
  if (runs.size === 0)
    for (const project of plainest(nearest(hosted.filter(one => !finished.has(one))))) runs.add(project)
  return runs
}

/** `dev` before `dev-azure`: where one name is plain, the others of its folder are choices. */
function plainest(projects: readonly ComposeProject[]): ComposeProject[] {
  return projects.filter(project =>
    projects.every(
      other =>
        folderOf(other.file) !== folderOf(project.file) || extraWords(other.file) >= extraWords(project.file),
    ),
  )
}

/** The candidates that lie highest, without those of deeper folders: a monorepo's parts stay together. */
function nearest(projects: readonly ComposeProject[]): ComposeProject[] {
  const depth = (project: ComposeProject) => project.file.split('/').length
  const least = Math.min(...projects.map(depth))
  return projects.filter(
    project => depth(project) === least || (least > 1 && depth(project) === least + 1 && project.isBase),
  )
}

const TASK_FILE =
  /^([^/]+\/)?(package\.json|[Mm]akefile|GNUmakefile|\.?justfile|[Tt]askfile\.ya?ml|Procfile(\.dev)?)$|^(bin|scripts?|dev)\/[\w-]+(\.sh)?$/

/** Compose files that the root's own task files start by name. */
function mentionedFiles(facts: RepoFacts): Set<string> {
  const found = new Set<string>()
  const add = (from: string, target: string) => {
    for (const base of [from, 'root'])
      for (const path of [resolveFrom(base, target)]) if (path !== undefined) found.add(path)
  }
  for (const file of facts.files.values()) {
    if (!TASK_FILE.test(file.path)) continue
    let target = ''
    for (const line of file.text.split('\n')) {
      target = /^([\w.-]+)(?:[^\w.:=\n-][^:=\n]*)?:(?!=)/.exec(line)?.[1] ?? target
      if (/(^|[-_.])(prod|production|deploy|release|test|tests|ci|e2e)($|[-_.])/.test(target)) continue
      if (/\b(prod|production|deploy|test|ci|e2e)\b/.test(line)) continue
      for (const match of line.matchAll(/(?:-f|--file)[=\s]+["']?([\w./-]+\.ya?ml)/g))
        add(file.path, match[1] as string)
      const folder = /cd\s+["']?([\w./-]+)["']?\s*&&\s*docker[ -]compose/.exec(line)?.[1]
      if (folder === undefined) continue
      for (const name of ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'])
        add(file.path, `${folder}/${name}`)
    }
  }
  return found
}

const MANIFEST =
  /^(package\.json|composer\.json|Gemfile|go\.mod|Cargo\.toml|pyproject\.toml|requirements\.txt|Pipfile|manage\.py|mix\.exs|pom\.xml|build\.gradle(\.kts)?|build\.sbt|deno\.jsonc?|.*\.[cf]sproj)$/

/** Whether a file lies in a folder that holds a way to deploy, and no program: its variables are for that. */
export function isOfAnotherStack(
  facts: RepoFacts,
  path: string,
  projects: readonly RankedProject[],
): boolean {
  const beside = deploymentsBeside(facts, path, projects)
  return beside.length > 0 && beside.every(project => project.standing === 'optional')
}

/** Whether it lies beside production's compose file, which stands in for a developer's only where there is none. */
export function isBesideProduction(
  facts: RepoFacts,
  path: string,
  projects: readonly RankedProject[],
): boolean {
  return deploymentsBeside(facts, path, projects).some(project => project.standing === 'fallback')
}

/** The compose projects of a file's folder, where that is below the root and holds no program. */
function deploymentsBeside(
  facts: RepoFacts,
  path: string,
  projects: readonly RankedProject[],
): RankedProject[] {
  const folder = folderOf(path)
  if (folder === '' || facts.paths.some(one => folderOf(one) === folder && MANIFEST.test(nameOf(one))))
    return []
  return projects.filter(project => folderOf(project.file) === folder)
}
