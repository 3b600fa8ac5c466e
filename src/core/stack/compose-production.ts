// Judges whether a compose file runs the finished program, as on a server, or the developer's source.
import type { ComposeService } from './compose.ts'
import { plainPath } from './copied.ts'
import type { EnvEntry, RepoFacts } from './facts.ts'
import { identifyImage, imagePath } from './images.ts'

const MODE_KEY =
  /^(NODE_ENV|RAILS_ENV|RACK_ENV|APP_ENV|FLASK_ENV|DJANGO_ENV|MIX_ENV|ASPNETCORE_ENVIRONMENT|ENVIRONMENT|ENV|GO_ENV)$/i
/** Words of names that many repositories share. */
const GENERIC = new Set(
  'root monorepo server client backend frontend service services project example template starter core main application platform tools docs website nodejs python node next react vite nest express django rails laravel postgres redis mongo mysql docker'.split(
    ' ',
  ),
)
const SOURCE_TARGET =
  /^\/(app|usr\/src|code|workspaces?|var\/www|src|srv|opt|home|api|web|backend|frontend|project|work)(\/|$)/

/** Whether a compose file runs the finished program: its published image, in production's mode, without its source. */
export function looksProduction(facts: RepoFacts, services: ReadonlyMap<string, ComposeService>): boolean {
  const apps = [...services.values()].filter(service => service.identity === undefined)
  const names = projectNames(facts)
  let production = 0
  let development = 0
  for (const app of apps) {
    for (const entry of [...app.environment, ...givenBy(facts, app)]) {
      // Python's and Django's word for it.
      if (/^(DJANGO_)?DEBUG$/i.test(entry.key) && /^(false|0|no|off)$/i.test(entry.value ?? ''))
        production += 2
      if (!MODE_KEY.test(entry.key)) continue
      if (/^prod/i.test(entry.value ?? '')) production += 2
      else if (/^(dev|local)/i.test(entry.value ?? '')) development += 2
    }
    const mountsSource = app.volumes.some(
      volume =>
        /^\.{1,2}(\/|$)/.test(volume.key) &&
        !/\.\w+$/.test(volume.key) &&
        SOURCE_TARGET.test(volume.value ?? ''),
    )
    if (mountsSource && app.build !== undefined) development += 2
    if (app.image === undefined || app.build !== undefined) continue
    if (isOwnImage(app.image, names)) production += 2
    if (/(^|\/)(certbot|letsencrypt|watchtower|acme-companion)/.test(imagePath(app.image))) production += 1
  }
  return production > development
}

/** What a service reads from env files, or will once their examples are copied. */
function givenBy(facts: RepoFacts, app: ComposeService): EnvEntry[] {
  return app.envFiles.flatMap(path => {
    const file =
      facts.envFiles.get(path) ?? [...facts.envFiles.values()].find(env => plainPath(env.path) === path)
    return file?.entries.filter(entry => !entry.commented) ?? []
  })
}

function isOwnImage(image: string, names: ReadonlySet<string>): boolean {
  const path = imagePath(image)
  if (identifyImage(image) !== undefined) return false
  const parts = path.split('/')
  return parts.some(
    part =>
      names.has(part) || [...names].some(name => part.startsWith(`${name}-`) || part.startsWith(`${name}_`)),
  )
}

/** What the repository calls itself in its manifests. */
function projectNames(facts: RepoFacts): Set<string> {
  const names = new Set<string>()
  const add = (name: string | undefined) => {
    const last = name
      ?.toLowerCase()
      .split('/')
      .filter(part => !/^v\d+$/.test(part))
      .at(-1)
    if (last === undefined) return
    for (const word of [last, ...last.split(/[-_.]/)])
      if (word.length > 3 && !GENERIC.has(word)) names.add(word)
  }
  for (const pattern of [/"name"\s*:\s*"@?([^"]+)"/, /^module\s+(\S+)/m, /^name\s*=\s*"([^"]+)"/m])
    for (const path of ['package.json', 'composer.json', 'go.mod', 'Cargo.toml', 'pyproject.toml'])
      add(pattern.exec(facts.files.get(path)?.text ?? '')?.[1])
  add(/^#\s+\[?([\w.-]+)/m.exec(facts.files.get('README.md')?.text ?? '')?.[1])
  return names
}
