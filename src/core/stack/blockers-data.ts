// Blockers that cost data: commands that empty more than one environment's slice, hide a failed drop, or drop first,
// and settings by which tests and development share one database.
import { type Blocker, type BlockerCode, blockerAt } from './blocker.ts'
import { asRecord, type FactFile, filesMatching, findLine, lineAt, type RepoFacts, valueAt } from './facts.ts'
import { isOwnFile } from './signals-frameworks.ts'

export function dataBlockers(facts: RepoFacts): Blocker[] {
  return [...dangerousLines(facts), ...setupDrops(facts), ...schemaDrops(facts), ...sharedTestDatabase(facts)]
}

const TASK_FILE =
  /^\.preview\/|(^|\/)(package\.json|[Mm]akefile|GNUmakefile|\.?justfile|[Tt]askfile\.ya?ml|composer\.json|Rakefile|mix\.exs)$|\.(sh|bash|zsh|mk)$|(^|\/)(bin|scripts?)\/[\w.-]+$/

const DANGERS: readonly { code: BlockerCode; line: RegExp; message: string; remedy: string }[] = [
  {
    code: 'FLUSHALL',
    line: /\bflush_?all\b/i,
    message: 'FLUSHALL empties every database of the server, those of other environments too',
    remedy: "select the environment's own index and use FLUSHDB in the same EVAL",
  },
  {
    code: 'DROP_DATABASE_UNNAMED',
    line: /(?<!getSiblingDB\([^)]{0,80}\)\.)\bdb\.dropDatabase\(\s*\)/,
    message: 'dropDatabase() drops whatever database the shell is connected to',
    remedy: 'name it: db.getSiblingDB(name).dropDatabase()',
  },
  {
    code: 'DROP_ERROR_HIDDEN',
    line: /\b(dropdb|drop\s+(database|schema|user|role)|dropDatabase|flushdb|db:drop|delete_vhost|mb\s+rb|rb\s+--force)\b.*\|\|\s*(true|:|exit 0)(?=$|[\s;"')])/i,
    message: 'a drop that failed is reported as done',
    remedy: 'let the command fail: "if exists" covers what is not there',
  },
]

function dangerousLines(facts: RepoFacts): Blocker[] {
  return filesMatching(facts, TASK_FILE).flatMap(file =>
    file.text.split('\n').flatMap((text, index) => {
      if (/^\s*(#|\/\/)/.test(text)) return []
      return DANGERS.filter(danger => danger.line.test(text)).map(danger =>
        blockerAt(
          facts,
          danger.code,
          { file: file.path, line: index + 1 },
          danger.message,
          danger.remedy,
          file.path.startsWith('.preview/') ? 'fail' : 'warn',
        ),
      )
    }),
  )
}

const SETUP_NAME =
  /^(pre|post)?(db[:_-])?(setup|bootstrap|init|install|prepare|dev|develop|start|up|serve|run|seed|predev|prestart)([:_-](db|dev|local|all))?$/
const DROPS =
  /\bmigrate\s+reset\b|\bdb:drop\b|\bdb:reset\b|\bdb:migrate:reset\b|\bmigrate:fresh\b|\bdropdb\b|\bdrop\s+(database|schema)\b|--force-reset\b|\becto\.(reset|drop)\b|\bschema:drop\b|\breset_db\b|\bdoctrine:database:drop\b|\bdatabase\s+(reset|drop)\b|\bdown\s+(-v|--volumes)\b/i

function setupDrops(facts: RepoFacts): Blocker[] {
  const named: { file: FactFile; line: number }[] = []
  for (const file of filesMatching(facts, /^([^/]+\/){0,2}package\.json$/))
    for (const [name, body] of Object.entries(asRecord(valueAt(facts.json.get(file.path), 'scripts')) ?? {}))
      if (SETUP_NAME.test(name) && typeof body === 'string' && DROPS.test(body))
        named.push({ file, line: findLine(file, new RegExp(`^\\s*"${name}"\\s*:.*`, 'm')) ?? 1 })
  for (const file of filesMatching(facts, /^([^/]+\/)?([Mm]akefile|GNUmakefile|\.?justfile)$/)) {
    let target = ''
    for (const [index, text] of file.text.split('\n').entries()) {
      const next = /^([\w.-]+)(?:\s[^:]*)?:(?!=)/.exec(text)?.[1]
      if (next !== undefined) target = next
      else if (/^\S/.test(text) && !text.startsWith('#')) target = ''
      if (SETUP_NAME.test(target) && DROPS.test(text) && !/^\s*[#@]*\s*(#|echo)/.test(text))
        named.push({ file, line: index + 1 })
    }
  }
  for (const file of filesMatching(facts, /^(bin|scripts?)\/(setup|bootstrap|init|dev|start)(\.\w+)?$/))
    for (const [index, text] of file.text.split('\n').entries())
      if (!/^\s*#/.test(text) && DROPS.test(text)) named.push({ file, line: index + 1 })
  return named.map(at =>
    blockerAt(
      facts,
      'SETUP_DROPS_FIRST',
      { file: at.file.path, line: at.line },
      'a command that sets up or starts drops the database first: with a shared key it empties another environment',
      "run it only with a database of the environment's own, and use the migration command in provision.sh",
    ),
  )
}

/** Settings that drop the schema whenever the program starts. */
function schemaDrops(facts: RepoFacts): Blocker[] {
  const drops =
    /^(?!\s*(?:\/\/|#|\*)).*?(\bdropSchema\s*:\s*true|\.sync\(\s*\{\s*force\s*:\s*true|ddl-auto\s*[:=]\s*["']?create\b|hbm2ddl\.auto\s*[=:]\s*["']?create|\bdrop_all\(|\bEnsureDeleted(?:Async)?\()/m
  return [...facts.files.values()].flatMap(file => {
    if (
      !/drop|force|create|Deleted/.test(file.text) ||
      /\.(md|rst|sh)$/.test(file.path) ||
      !isOwnFile(file.path)
    )
      return []
    const match = drops.exec(file.text)
    if (match === null) return []
    return blockerAt(
      facts,
      'SETUP_DROPS_FIRST',
      { file: file.path, line: lineAt(file.text, match.index + match[0].length) },
      'the program drops its schema when it starts: with a shared key it empties another environment',
      'keep a database for each environment, and migrate instead',
    )
  })
}

function sharedTestDatabase(facts: RepoFacts): Blocker[] {
  const found: Blocker[] = []
  const add = (file: string, line: number | undefined, what: string) =>
    found.push(
      blockerAt(
        facts,
        'ONE_DATABASE_FOR_TESTS',
        { file, line },
        `${what}: a test run empties what development uses`,
        "give the tests a database of their own, whose name is made from the environment's",
      ),
    )
  for (const file of filesMatching(facts, /(^|\/)config\/database\.ya?ml$/)) {
    const development = railsDatabase(facts, file, 'development')
    if (development !== undefined && development === railsDatabase(facts, file, 'test'))
      add(file.path, findLine(file, /^test:/m), 'development and test name the same database')
  }
  for (const file of filesMatching(facts, /(^|\/)config\/config\.json$/)) {
    const of = (mode: string) =>
      valueAt(facts.json.get(file.path), mode, 'database') ??
      valueAt(facts.json.get(file.path), mode, 'use_env_variable')
    if (of('development') !== undefined && of('development') === of('test'))
      add(file.path, findLine(file, '"test"'), 'development and test name the same database')
  }
  const envs = [...facts.envFiles.values()]
  for (const test of envs.filter(env => /(^|\/)\.env\.test([.\-_](example|sample|dist))?$/.test(env.path)))
    for (const entry of test.entries) {
      if (
        entry.commented ||
        entry.value === undefined ||
        !/(^|_)(DATABASE_URL|DB_URL|MONGO(DB)?_UR[IL]|DB_NAME|DB_DATABASE|POSTGRES_DB)$/.test(entry.key) ||
        entry.value === ''
      )
        continue
      const same = envs.some(
        env =>
          env !== test &&
          /(^|\/)\.env(\.(example|sample|local|development|dist|template))?$/.test(env.path) &&
          env.path.replace(/[^/]*$/, '') === test.path.replace(/[^/]*$/, '') &&
          env.entries.some(
            other => other.key === entry.key && other.value === entry.value && !other.commented,
          ),
      )
      if (same) add(test.path, entry.line, `${entry.key} is the same for development and tests`)
    }
  for (const file of filesMatching(facts, /^([^/]+\/){0,2}package\.json$/)) {
    const script = valueAt(facts.json.get(file.path), 'scripts', 'test')
    if (
      typeof script === 'string' &&
      /migrate reset|force-reset|db:drop/.test(script) &&
      !/\.env\.test|TEST_|_test\b|NODE_ENV=test/.test(script)
    )
      add(
        file.path,
        findLine(file, /^\s*"test"\s*:/m),
        'the test script resets the database that development uses',
      )
  }
  return found
}

function railsDatabase(facts: RepoFacts, file: FactFile, mode: string): string | undefined {
  const section = valueAt(facts.yaml.get(file.path)?.[0]?.value, mode)
  const value =
    valueAt(section, 'database') ?? valueAt(section, 'url') ?? valueAt(section, 'primary', 'database')
  return typeof value === 'string' ? value : undefined
}
