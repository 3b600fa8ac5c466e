// Finds the migrations of Python: Django, Alembic, Flask-Migrate. Each by its folder or configuration; see
// core/migration-tool.ts for what a finding holds.
import { folderOf, nameOf, resolveFrom, valueAt } from './facts.ts'
import {
  type FoundTool,
  foldersWith,
  inFolder,
  type MigrationContext,
  pinnedQuestion,
  relativeTo,
  shellWord,
} from './migration-tool.ts'
import { findPinnedSection } from './pinned-config.ts'

export function findPythonTools(context: MigrationContext): FoundTool[] {
  return [...findDjango(context), ...findAlembic(context)]
}

function findDjango(context: MigrationContext): FoundTool[] {
  return context.paths
    .filter(path => nameOf(path) === 'manage.py' && /DJANGO|django/.test(context.text(path)))
    .map(manage => {
      const folder = folderOf(manage)
      const inside = (path: string) => folder === '' || path.startsWith(`${folder}/`)
      const folders = [...foldersWith(context, /(^|\/)migrations\/\d{4}_\w+\.py$/).keys()].filter(inside)
      const pinned = pinnedSettings(context, inside)
      const call = `${context.exec('python', folder)}python3 ${relativeTo(folder, manage)}`
      return {
        tool: 'django',
        ecosystem: 'python',
        folder,
        directory: folders.length === 1 ? folders[0] : undefined,
        config: manage,
        command: `${call} migrate --noinput`,
        seed: seedOf(context, inside, call),
        ...(pinned === undefined ? {} : { question: pinned }),
        applies: /\bmanage(\.py)?\b[^\n;&|]*\bmigrate\b/,
        schema: folders.length === 1 ? [] : [`:(glob)${inFolder(folder, '**/migrations/*.py')}`],
        evidence: [context.at(manage, /DJANGO|django/)],
      }
    })
}

/** The fixtures of this project that the repository's own instructions load; to load them again changes nothing. */
function seedOf(
  context: MigrationContext,
  inside: (path: string) => boolean,
  call: string,
): string | undefined {
  const isThere = (name: string) =>
    context.facts.paths.some(
      path =>
        inside(path) &&
        (`/${path}`.endsWith(`/${name}`) || path.replace(/\.\w+$/, '').endsWith(`fixtures/${name}`)),
    )
  for (const file of context.files) {
    if (!/^(readme|contributing|development|(gnu)?makefile|\.?justfile)(\.\w+)?$/i.test(nameOf(file.path)))
      continue
    const said = /\bmanage\.py loaddata((?: +[\w./-]+)+)/.exec(file.text)?.[1]?.trim().split(/ +/)
    if (said?.every(isThere)) return `${call} loaddata ${said.join(' ')}`
  }
  return undefined
}

/** Settings for development that name a server's database; a file in the project is another one in each worktree. */
function pinnedSettings(context: MigrationContext, inside: (path: string) => boolean): string | undefined {
  for (const file of context.files) {
    if (
      !/(^|\/)settings(\/(base|common|local|dev|development|__init__))?\.py$/.test(file.path) ||
      !inside(file.path)
    )
      continue
    const line = findPinnedSection(file, /^DATABASES\s*=/m, /^[A-Z]\w*\s*=/m, /["']NAME["']\s*:\s*["']/)
    const isFile = /DATABASES[\s\S]{0,300}sqlite3/.test(file.text)
    if (line !== undefined && !isFile) return pinnedQuestion('Django', file.path, line)
  }
  return undefined
}

function findAlembic(context: MigrationContext): FoundTool[] {
  const configs = context.filePaths.filter(
    path =>
      /(^|\/)alembic\.ini$/.test(path) ||
      (/(^|\/)pyproject\.toml$/.test(path) &&
        valueAt(context.facts.toml.get(path), 'tool', 'alembic') !== undefined),
  )
  return configs.map(config => {
    const place = folderOf(config)
    // Flask-Migrate keeps Alembic's configuration inside the folder of the migrations and calls it through flask.
    const flask =
      context.dependency('python', /^flask-migrate$/, place) ??
      (/flask/.test(context.text(inFolder(place, 'env.py'))) ? true : undefined)
    if (flask !== undefined && context.facts.paths.includes(inFolder(place, 'env.py')))
      return flaskMigrate(context, config)
    const text = context.text(config)
    const written = /^\s*script_location\s*=\s*["']?([^"'\n]+?)["']?\s*$/m
      .exec(text)?.[1]
      ?.replace(/^(%\(here\)s|\{here\})\//, '')
    const location =
      written === undefined
        ? undefined
        : (resolveFrom(config, written.includes(':') ? written.replace(/^[\w.]+:/, '') : written) ?? written)
    const environment = location === undefined ? '' : context.text(`${location}/env.py`)
    const versions = location === undefined ? undefined : `${location}/versions`
    const exists = (path: string | undefined) =>
      path !== undefined && context.facts.paths.some(one => one.startsWith(`${path}/`))
    const pinned = /^\s*sqlalchemy\.url\s*=\s*(?!driver:)\S+:\/\/\S+/m.test(text)
    const readsElsewhere =
      /environ|getenv|settings|config\.set_main_option|decouple|get_url|dotenv|from \w+[\w.]* import/.test(
        environment,
      )
    return {
      tool: 'alembic',
      ecosystem: 'python',
      folder: place,
      directory: exists(versions) ? versions : exists(location) ? location : undefined,
      config,
      command: `${context.exec('python', place)}alembic upgrade head`,
      ...(pinned && !readsElsewhere && environment !== ''
        ? { question: `${config} names the database itself: how does Alembic take another URL here` }
        : {}),
      applies: /\balembic\b[^\n;&|]*\bupgrade\b|\bcommand\.upgrade\(/,
      evidence: [context.at(config, /script_location|\[tool\.alembic/)],
    }
  })
}

function flaskMigrate(context: MigrationContext, config: string): FoundTool {
  const directory = folderOf(config)
  const folder = folderOf(directory)
  const flag = nameOf(directory) === 'migrations' ? '' : ` -d ${shellWord(relativeTo(folder, directory))}`
  return {
    tool: 'flask-migrate',
    ecosystem: 'python',
    folder,
    directory,
    config,
    command: `${context.exec('python', folder)}flask db upgrade${flag}`,
    applies: /\bflask\b[^\n;&|]*\bdb upgrade\b/,
    evidence: [context.at(config, 'alembic')],
  }
}
