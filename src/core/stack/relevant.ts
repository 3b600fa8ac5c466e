// Which files of a repository are worth reading, and as what, decided by path alone.
// Reading is bounded, so a lower rank is read first; a path without an answer is never opened.
import { posix } from 'node:path'
import { plainPath } from './copied.ts'

export interface Reading {
  readonly as: 'env' | 'yaml' | 'json' | 'toml' | 'text'
  /** source: program text, read last and only up to a bound. maybe-compose: YAML that is parsed only if it looks so. */
  readonly role: 'config' | 'maybe-compose' | 'source'
  readonly rank: number
}

/** Other people's code, caches and output that is sometimes committed: never part of a stack. */
const ALWAYS_SKIPPED = new Set(
  '.git .hg .svn node_modules bower_components jspm_packages Pods Carthage third_party third-party thirdparty __pycache__ .yarn .pnpm-store .gradle .terraform .next .nuxt .svelte-kit .turbo .cache .venv site-packages __snapshots__ .bundle .stack-work _build .penv'.split(
    ' ',
  ),
)
/** Output folders: part of the repository only where git says so. */
const SKIPPED_WITHOUT_GIT = new Set(
  'vendor target dist build out venv env virtualenv .tox coverage tmp log logs deps .idea .vs obj .direnv'.split(
    ' ',
  ),
)

/** Whether a folder is left out; `byGit` when the list comes from git, which already leaves out ignored ones. */
export function isSkippedFolder(name: string, byGit: boolean): boolean {
  return ALWAYS_SKIPPED.has(name) || name === 'vendor' || (!byGit && SKIPPED_WITHOUT_GIT.has(name))
}

const ENV_NAME =
  /^(\.env([.\-_].+)?|\.?[\w-]+\.env([.\-_][\w.-]+)?|\.?(dot)?env[.\-_](example|sample|template|dist|defaults?|dev|development|local|docker)[\w.-]*|\.dev\.vars([.\-_].+)?|\.?env\.[\w-]+\.(example|sample|template|dist))$/i
const ENV_CODE =
  /\.(?:[cm]?[jt]sx?|d\.ts|py|rb|go|rs|java|kt|cs|php|sh|bash|ps1|ya?ml|json|md|toml|html|enc|gpg|age|sops)$/i

/** Whether a file holds `KEY=value` lines by convention: `.env`, `.env.example`, `dev.env`, `.envs/.local/.postgres`. */
export function isEnvPath(path: string): boolean {
  const name = posix.basename(path)
  if (/(^|\/)\.envs\/[^.].*|(^|\/)\.envs\/.+\//.test(path) && !ENV_CODE.test(name)) return true
  return ENV_NAME.test(name) && !ENV_CODE.test(name) && name !== '.env.preview'
}

/** Whether an env file is made to be shared and copied, so that its values are defaults. */
export function isEnvExample(path: string): boolean {
  return /(^|[.\-_])(example|sample|template|tmpl|tpl|dist|defaults?|schema)s?($|[.\-_])/i.test(
    posix.basename(path),
  )
}

export function isComposePath(path: string): boolean {
  return /^(.+[.\-_])?(docker-?)?compose([.\-_].+)?\.ya?ml(\.(example|sample|dist|template))?$/i.test(
    posix.basename(path),
  )
}

const CONFIG_NAMES = new Set(
  `package.json pnpm-workspace.yaml turbo.json nx.json lerna.json rush.json deno.json deno.jsonc bunfig.toml angular.json
  gemfile gemfile.lock rakefile config.ru pyproject.toml pipfile setup.py setup.cfg manage.py tox.ini noxfile.py go.mod
  go.work cargo.toml composer.json symfony.lock mix.exs rebar.config pom.xml build.gradle build.gradle.kts settings.gradle
  settings.gradle.kts libs.versions.toml build.sbt project.clj deps.edn directory.packages.props global.json pubspec.yaml
  procfile makefile gnumakefile justfile .justfile taskfile taskfile.yml taskfile.yaml tiltfile vagrantfile devfile.yaml
  devcontainer.json .tool-versions mise.toml .mise.toml .envrc flake.nix shell.nix devenv.nix devenv.yaml process-compose.yml
  process-compose.yaml overmind.env app.json fly.toml render.yaml railway.json wrangler.toml wrangler.jsonc wrangler.json
  netlify.toml vercel.json .gitlab-ci.yml .travis.yml .drone.yml bitbucket-pipelines.yml azure-pipelines.yml .worktreeinclude
  .gitignore .gitattributes .gitmodules lefthook.yml .lefthook.yml .pre-commit-config.yaml captain-definition artisan
  schema.prisma prisma.schema alembic.ini diesel.toml rocket.toml sqlc.yaml sqlc.yml sqlc.json atlas.hcl flyway.conf
  flyway.toml liquibase.properties ormconfig.json .sequelizerc dbmate.yml phinx.php database.yml mongoid.yml cable.yml
  sidekiq.yml puma.rb storage.yml redis.yml web.config readme.md readme.rst readme contributing.md development.md
  hacking.md install.md .buildpacks skaffold.yaml nixpacks.toml encore.app serverless.yml samconfig.toml template.yaml`
    .split(/\s+/)
    .filter(Boolean),
)
const CONFIG_PATTERNS = [
  /(^|\/)(dockerfile|containerfile)([.\-_][\w.-]+)?$|\.dockerfile$/i,
  /(^|\/)(procfile|makefile|justfile)\.[\w.-]+$|\.(mk|mak|just)$/i,
  /(^|\/)requirements([\w.-]*\.txt|\/[^/]+\.txt)$/i,
  /(^|\/)(drizzle|knexfile|ormconfig|mikro-orm|data-?source|payload|keystone|medusa|prisma|kysely|vite|next|nuxt|astro|svelte|remix|ecosystem|gatsby|quasar|vue|angular|rsbuild|rspack|webpack)[\w.-]*\.[cm]?[jt]s$/i,
  /(^|\/)(application|bootstrap)([\w.-]*)\.(ya?ml|properties|conf)$/i,
  /(^|\/)appsettings[\w.-]*\.json$|(^|\/)launchsettings\.json$|\.(cs|fs|vb)proj$/i,
  /(^|\/)(settings|config|conf|configuration)([\w.-]*|\/[\w./-]+)\.(py|rb|exs?|php|ini|cfg|conf|toml|json5?|hjson|ya?ml|properties|[cm]?[jt]s|go|rs)$/i,
  /(^|\/)db\/(config|database)\.[\w]+$|(^|\/)doctrine\.ya?ml$|(^|\/)repo\.ex$/i,
  /(^|\/)\.(github\/workflows|circleci|gitea\/workflows|forgejo\/workflows|woodpecker)\/[^/]+\.ya?ml$/i,
  /(^|\/)\.preview\/|(^|\/)\.husky\/|(^|\/)\.devcontainer\//,
  /(^|\/)supabase\/config\.toml$/,
  /(^|\/)(bin|scripts?|dev|tools|hack|\.docker|docker)\/[\w.-]+$/i,
  /\.(sh|bash|zsh|hjson|properties|ini|hcl)$/i,
  /(^|\/)docs?\/([\w-]*(develop|contribut|install|setup|getting-started|quickstart)[\w-]*)\.(md|rst)$/i,
]
const SOURCE =
  /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kts?|cs|fs|php|exs?|scala|clj|swift|dart|pl|toml|json5?|ya?ml|cfg|conf|edn|cr|lua)$/i
const BINARY =
  /\.(png|jpe?g|gif|webp|ico|svg|pdf|zip|gz|tgz|xz|bz2|7z|jar|war|so|dylib|dll|exe|bin|woff2?|ttf|eot|mp[34]|mov|wasm|db|sqlite3?|pem|p12|keystore|lock)$/i
const NOISE =
  /\.(min|bundle|generated|pb|g|test|spec|stories|d)\.[\w]+$|(^|\/)(package-lock|pnpm-lock|yarn\.lock|composer\.lock|openapi|swagger)[\w.-]*$/i
const ASIDE =
  /(^|\/)(tests?|specs?|__tests__|__mocks__|fixtures?|testdata|examples?|samples?|benchmarks?|locales?|i18n|translations|assets|public|static|docs?|website)\//i

/** How a path is to be read, or undefined. */
export function readingOf(path: string): Reading | undefined {
  const name = posix.basename(path)
  const lower = name.toLowerCase()
  const depth = path.split('/').length - 1
  const aside = ASIDE.test(path) ? 20 : 0
  if (BINARY.test(lower) && lower !== 'gemfile.lock' && lower !== 'symfony.lock') return undefined
  if (isEnvPath(path)) return { as: 'env', role: 'config', rank: depth + aside }
  if (isComposePath(path)) return { as: 'yaml', role: 'config', rank: depth + aside }
  const known = CONFIG_NAMES.has(lower) || CONFIG_PATTERNS.some(pattern => pattern.test(path))
  if (known && !NOISE.test(lower)) return { as: formatOf(lower), role: 'config', rank: depth + aside + 2 }
  const plain = plainPath(path)
  if (plain !== path) {
    const becomes = readingOf(plain)
    return becomes?.role === 'config' ? { ...becomes, rank: becomes.rank + 1 } : undefined
  }
  if (/\.ya?ml$/.test(lower) && depth <= 4)
    return { as: 'yaml', role: 'maybe-compose', rank: depth + aside + 4 }
  if (SOURCE.test(lower) && !NOISE.test(path) && aside === 0)
    return { as: 'text', role: 'source', rank: sourceRank(path, depth) }
  return undefined
}

function formatOf(name: string): Reading['as'] {
  if (/\.ya?ml$/.test(name)) return 'yaml'
  if (/\.jsonc?$/.test(name)) return 'json'
  return name.endsWith('.toml') || name === 'pipfile' ? 'toml' : 'text'
}

/** Entry points and settings come first: they say which ports and keys an app uses. */
function sourceRank(path: string, depth: number): number {
  const likely =
    /(^|\/)(main|server|index|app|application|program|startup|manage|wsgi|asgi|bootstrap|db|database|env|environment|redis|cache|queue|broker|mailer|storage|connection|client|apphost)[\w.-]*\.\w+$/i
  return depth + (likely.test(path) ? 0 : 10)
}
