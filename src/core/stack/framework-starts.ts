// Finds how a program is started where the repository gives the start no name: by what its framework always is called
// with, by a program with a main function, or by its compose file.
import { findComposeProjects } from './compose-standing.ts'
import { evidenceAt, type FactFile, findLine, folderOf, nameOf, type RepoFacts } from './facts.ts'
import type { ListenPort } from './listen-ports.ts'
import { ASIDE, relativeTo, shellWord } from './migration-tool.ts'
import { makePackageManagerLookup, type PackageManager } from './package-manager.ts'
import type { Start } from './starts.ts'

export interface FrameworkStart extends Pick<Start, 'name' | 'folder' | 'command' | 'evidence' | 'ports'> {
  readonly source: 'framework' | 'compose'
  readonly rank: number
}

export function findFrameworkStarts(facts: RepoFacts): FrameworkStart[] {
  const managerOf = makePackageManagerLookup(facts)
  const python = (folder: string) => managerOf('python', folder)?.exec ?? ''
  const jvm = (folder: string) => managerOf('jvm', folder)
  const found = [...facts.files.values()]
    .filter(file => !ASIDE.test(file.path))
    .flatMap(file => startOf(facts, file, python, jvm) ?? [])
  return [...onePerFolder(found), ...composeStarts(facts)]
}

function startOf(
  facts: RepoFacts,
  file: FactFile,
  python: (folder: string) => string,
  jvm: (folder: string) => PackageManager | undefined,
): FrameworkStart | undefined {
  const { path, text } = file
  const folder = folderOf(path)
  const name = nameOf(path)
  const start = (at: string, command: string, needle: string | RegExp, rank = 40): FrameworkStart => ({
    name: nameOf(at) || 'app',
    source: 'framework',
    folder: at,
    command,
    ports: [],
    rank,
    evidence: evidenceAt(facts, path, findLine(file, needle) ?? 1),
  })
  if (name === 'manage.py' && /django/i.test(text))
    return start(folder, `${python(folder)}python3 manage.py runserver`, /django/i)
  if (name === 'artisan') return start(folder, 'php artisan serve', 'artisan')
  if (/(^|\/)bin\/rails$/.test(path)) {
    const app = folderOf(folder)
    return start(app, 'bin/rails server', 'rails')
  }
  if (name === 'mix.exs' && /\{:phoenix,/.test(text)) return start(folder, 'mix phx.server', '{:phoenix,')
  if (/(^|\/)src\/main\.rs$/.test(path) && /listen|bind|serve|axum|actix|rocket|warp/i.test(text)) {
    const crate = folderOf(folder)
    return start(crate, 'cargo run', 'fn main')
  }
  if (/\.go$/.test(path) && /^package main$/m.test(text) && /^func main\(/m.test(text)) {
    if (!/listen|serve|router|server|gin|echo|fiber|chi\b|app\.|cmd\./i.test(text)) return undefined
    const module = moduleOf(facts, folder)
    const target = relativeTo(module, folder)
    return start(
      module,
      `go run ./${target === '.' || folder === module ? '' : shellWord(target)}`.replace(/\/$/, ''),
      'func main(',
      folder === module ? 40 : 41,
    )
  }
  if (/\.csproj$/.test(path) && /Microsoft\.NET\.Sdk\.Web/.test(text))
    return start('', `dotnet run --project ${shellWord(folder || name)}`, 'Sdk.Web')
  if (
    /(^|\/)(pom\.xml|build\.gradle(\.kts)?)$/.test(path) &&
    /spring-boot-maven-plugin|org\.springframework\.boot|quarkus-maven-plugin|io\.quarkus/.test(text)
  ) {
    const isQuarkus = /quarkus/.test(text) && !/spring-boot/.test(text)
    const goal =
      name === 'pom.xml'
        ? isQuarkus
          ? 'quarkus:dev'
          : 'spring-boot:run'
        : isQuarkus
          ? 'quarkusDev'
          : 'bootRun'
    return start(
      folder,
      `${jvm(folder)?.exec ?? (name === 'pom.xml' ? 'mvn ' : 'gradle ')}${goal}`,
      /spring-boot|quarkus/,
    )
  }
  if (/\.py$/.test(path) && !/(^|\/)(conftest|setup)\.py$/.test(path)) {
    const module = relativeTo(folder, path).replace(/\.py$/, '')
    const app = /^(\w+)\s*(?::\s*\w+\s*)?=\s*(?:fastapi\.)?FastAPI\(/m.exec(text)?.[1]
    if (app !== undefined)
      return start(
        packageRoot(facts, folder),
        `${python(folder)}uvicorn ${moduleName(facts, path)}:${app} --reload`,
        'FastAPI(',
      )
    if (/^\w+\s*=\s*Flask\(|^def create_app\(/m.test(text) && /from flask import|import flask/.test(text)) {
      const isFound =
        /^(app|wsgi)$/.test(module) || facts.files.has(folder === '' ? '.flaskenv' : `${folder}/.flaskenv`)
      return start(
        packageRoot(facts, folder),
        `${python(folder)}flask ${isFound ? '' : `--app ${moduleName(facts, path).replace(/\.__init__$/, '')} `}run`,
        /Flask\(|create_app/,
      )
    }
    if (/^import streamlit/m.test(text) && /^(app|main|streamlit_app|home)$/i.test(module))
      return start(folder, `${python(folder)}streamlit run ${name}`, 'streamlit')
  }
  return undefined
}

/** Above the folders that are packages: where `uvicorn shop.main:app` is called. */
function packageRoot(facts: RepoFacts, folder: string): string {
  let root = folder
  while (root !== '' && facts.paths.includes(`${root}/__init__.py`)) root = folderOf(root)
  return root
}

function moduleName(facts: RepoFacts, path: string): string {
  const root = packageRoot(facts, folderOf(path))
  return relativeTo(root, path).replace(/\.py$/, '').replaceAll('/', '.')
}

function moduleOf(facts: RepoFacts, folder: string): string {
  for (let at = folder; at !== ''; at = folderOf(at)) if (facts.paths.includes(`${at}/go.mod`)) return at
  return ''
}

/** Several programs of one folder are tools beside the server; the plainest is kept. */
function onePerFolder(starts: readonly FrameworkStart[]): FrameworkStart[] {
  const best = new Map<string, FrameworkStart>()
  const score = (one: FrameworkStart) =>
    one.rank * 100 + (/server|api|web|app|main/i.test(one.command) ? 0 : 50) + one.command.length / 10
  for (const start of starts) {
    const held = best.get(start.folder)
    if (held === undefined || score(start) < score(held)) best.set(start.folder, start)
  }
  return [...best.values()]
}

/** The services that a developer's compose file builds from the repository: it is then the way to start the app. */
function composeStarts(facts: RepoFacts): FrameworkStart[] {
  return findComposeProjects(facts)
    .filter(project => project.standing === 'run')
    .flatMap(project => {
      const built = [...project.services.values()].filter(
        service =>
          service.build !== undefined && service.identity === undefined && service.profiles.length === 0,
      )
      const first = built[0]
      if (first === undefined) return []
      const ports: ListenPort[] = built.flatMap(service =>
        service.ports.map(port => ({
          port: typeof port.host === 'number' ? port.host : undefined,
          variable: port.variable,
          source: 'command' as const,
          evidence: evidenceAt(facts, service.file, port.line ?? service.line),
        })),
      )
      // With -f Compose reads nothing but what is named, so an overlay needs its base, and a base its override.
      const ordered = project.isOverlay ? [...project.files].reverse() : project.files
      const files = /^(docker-)?compose\.ya?ml$/.test(project.file)
        ? ''
        : ordered.map(file => `-f ${shellWord(file)} `).join('')
      return [
        {
          name: first.name,
          source: 'compose' as const,
          folder: '',
          command: `docker compose ${files}up`,
          ports,
          rank: 60,
          evidence: evidenceAt(facts, first.file, first.line),
        },
      ]
    })
}
