// Says from a path whose file it is: the developer's, production's, the tests', or an example beside the project.

export type Scope = 'development' | 'neutral' | 'production' | 'test' | 'aside'

const WORDS: readonly (readonly [Scope, ReadonlySet<string>])[] = [
  [
    'test',
    words('test tests testing ci e2e integration integrationtest spec cypress playwright loadtest perf'),
  ],
  [
    'production',
    words(
      'prod production deploy release staging stage swarm stack selfhost selfhosted hosting live prd stg',
    ),
  ],
  ['development', words('dev devel develop development local localdev devcontainer override debug')],
]
const ASIDE_FOLDERS = words(
  'example examples sample samples demo demos tutorial tutorials doc docs documentation website contrib fixtures fixture testdata benchmark benchmarks bench playground playgrounds snippets e2e-tests mocks __mocks__ templates_old archive archived legacy deprecated old_versions',
)
const TEST_FOLDERS = words(
  'test tests spec specs __tests__ e2e testing integration-tests integration_tests acceptance androidtest playwright cypress',
)
const PRODUCTION_FOLDERS = words(
  'prod production release swarm k8s kubernetes helm charts chart terraform ansible kustomize manifests packaging',
)
const DEVELOPMENT_FOLDERS = words('.devcontainer dev devel develop development devenv local localdev')
const PROGRAM = /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kts?|cs|php|exs?)$/
const ASIDE_WORDS = words(
  'example sample demo quickstart tutorial playground benchmark bench monitoring observability otel telemetry tracing logging metrics',
)

/** The scope of one path. The name is nearer to the file than its folders, an example is an example for all that. */
export function scopeOf(path: string): Scope {
  const parts = path.toLowerCase().split('/')
  // `.examples` and `_docs` are what they are without the mark that hides them or sorts them first.
  const folders = parts.slice(0, -1).map(folder => folder.replace(/^\.(?!devcontainer$)|^_(?!_)/, ''))
  if (folders.some(folder => ASIDE_FOLDERS.has(folder) || /^(example|sample|demo)s?[-_]/.test(folder)))
    return 'aside'
  // Java keeps program and tests side by side in src/main and src/test.
  if (
    folders.some(
      folder =>
        TEST_FOLDERS.has(folder) || /[-_.]tests?$|\.(unit|integration|functional)?tests?$/.test(folder),
    )
  )
    return 'test'
  const own = wordsOf(parts.at(-1) as string)
  for (const [scope, known] of WORDS) if (own.some(word => known.has(word))) return scope
  if (folders.some(folder => DEVELOPMENT_FOLDERS.has(folder))) return 'development'
  // A program draws charts and keeps manifests of its own; only what is deployed lies in such folders as YAML.
  if (
    folders.some(
      folder =>
        PRODUCTION_FOLDERS.has(folder) &&
        !(/^(charts?|manifests|release|packaging)$/.test(folder) && PROGRAM.test(path)),
    )
  )
    return 'production'
  return 'neutral'
}

/** Folders of programs that speak to other people's servers: importers, connectors of an automation or analysis tool. */
const INTEGRATION_FOLDER =
  /^((data[-_]?)?(integrations?|connectors?|importers?|exporters?|sources|destinations|warehouse)|pieces|blocks|nodes(-base)?|engine_specs|db_engine_specs|vdb|vector_?stores|import_scripts|bulk_import|(data_)?imports?)$/

/** Whether what a file speaks to is what its users have, and not what the program needs. */
export function isIntegration(path: string): boolean {
  return path
    .toLowerCase()
    .split('/')
    .slice(0, -1)
    .some(folder => INTEGRATION_FOLDER.test(folder))
}

/** Whether a compose file's name speaks of something beside the app: a demo, monitoring. */
export function isSideShow(path: string): boolean {
  return wordsOf(path.toLowerCase().split('/').at(-1) as string).some(word => ASIDE_WORDS.has(word))
}

/** Words of a file name that say nothing of a choice: `docker-compose.dev.yml` has none beyond, `dev-azure` has one. */
export function extraWords(path: string): number {
  const plain = /^(docker|compose|ya?ml|dev|devel|develop|development|local|override)$/
  return wordsOf(path.toLowerCase().split('/').at(-1) as string).filter(word => !plain.test(word)).length
}

/** The words of a name, without `.example` at the end, which only says that it is to be copied, and without "non-dev". */
function wordsOf(name: string): string[] {
  return name
    .replace(/\.(example|sample|dist|template)$/, '')
    .replace(/\b(non|no|not|without)[-_]\w+/g, '')
    .split(/[-_.]+/)
    .filter(Boolean)
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}
