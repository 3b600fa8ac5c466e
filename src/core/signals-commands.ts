// Signals of commands and workplaces: `docker run` in scripts, Procfiles, devenv, devcontainer features, and what
// continuous integration starts, which is weaker.
import {
  asRecord,
  evidenceAt,
  type FactFile,
  filesMatching,
  findLine,
  lineAt,
  type RepoFacts,
  valueAt,
} from './facts.ts'
import { identifyImage } from './images.ts'
import { interpolate } from './interpolate.ts'
import { scopeOf } from './scope.ts'
import { type Signal, signalAt } from './signals.ts'
import { storeByWord } from './store-names.ts'

export function commandSignals(facts: RepoFacts): Signal[] {
  return [...dockerRuns(facts), ...procfiles(facts), ...nix(facts), ...features(facts), ...workflows(facts)]
}

const SCRIPT =
  /(^|\/)(package\.json|[Mm]akefile[\w.]*|GNUmakefile|\.?justfile|[Tt]askfile[\w.-]*\.ya?ml|Vagrantfile|Tiltfile|Rakefile|mise\.toml|\.mise\.toml|\.envrc)$|\.(mk|just|sh|bash|zsh)$|(^|\/)(bin|scripts?|dev|tools|hack)\/[\w-]+$/
const RUN =
  /\b(?:docker|podman|nerdctl|\$\(DOCKER\)|\$\{?DOCKER\}?)\s+(?:container\s+)?(?:run|create)\s+((?:\\\n|[^\n;|&])*)/g
const TAKES_VALUE =
  /^(--(name|network|net|env|env-file|volume|publish|hostname|link|label|mount|user|workdir|platform|memory|restart|entrypoint|add-host|cpus|shm-size|pull|ip|dns|ulimit|log-driver|health-\S+|expose|cidfile|tmpfs)|-[a-z]*[evphulwm])$/

function dockerRuns(facts: RepoFacts): Signal[] {
  return filesMatching(facts, SCRIPT).flatMap(file => {
    const scope = scopeOf(file.path)
    if (scope === 'aside') return []
    const variables = assignments(file)
    return [...file.text.matchAll(RUN)].flatMap(match => {
      const args = interpolate(
        (match[1] as string).replace(/\\\n/g, ' ').replace(/\$\((\w+)\)/g, '$${$1}'),
        variables,
      ).text
      const image = imageOf(args)
      const identity = image === undefined ? undefined : identifyImage(image)
      if (identity === undefined || image === undefined) return []
      const line = lineAt(file.text, match.index)
      const isTest = scope === 'test' || /\b(tests?|ci|e2e)\b/i.test(targetOf(file, line))
      const isClient = /\s(psql|pg_dump|mysql|redis-cli|mongosh?|createdb)\b|--rm\b[^\n]*\s(sh|bash)\b/.test(
        args,
      )
      if (isClient) return []
      return signalAt(
        facts,
        { file: file.path, line },
        {
          ...identity,
          source: 'command',
          image,
          weight: scope === 'production' ? 'fallback' : isTest ? 'ci' : 'run',
          why: isTest ? 'started for the tests' : `${file.path} starts it`,
        },
      )
    })
  })
}

/** `KEY=value`, `KEY := value` and `KEY ?= value` at the start of a line. */
function assignments(file: FactFile): Map<string, string> {
  const found = new Map<string, string>()
  for (const match of file.text.matchAll(
    /^\s*(?:export\s+|readonly\s+|local\s+)?(\w+)\s*[:?]?=\s*["']?([^\s"'#]+)/gm,
  ))
    found.set(match[1] as string, (match[2] as string).replace(/\$\((\w+)\)/g, '$${$1}'))
  for (const [key, value] of found) if (value.includes('$')) found.set(key, interpolate(value, found).text)
  return found
}

/** The first word of the arguments that is neither an option nor an option's value. */
function imageOf(args: string): string | undefined {
  const words = args.match(/"[^"]*"|'[^']*'|\S+/g) ?? []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string
    if (!word.startsWith('-')) return word.replace(/^["'@]+|["',\\]+$/g, '')
    if (!word.includes('=') && TAKES_VALUE.test(word)) at++
  }
  return undefined
}

/** The Makefile target or npm script that a line belongs to. */
function targetOf(file: FactFile, line: number): string {
  const lines = file.text.split('\n')
  for (let at = line - 1; at >= 0; at--) {
    const text = lines[at] as string
    const target = /^([\w./-]+)\s*:(?!=)/.exec(text)?.[1] ?? /^\s*"([\w:.-]+)"\s*:/.exec(text)?.[1]
    if (target !== undefined) return target.replace(/[:_-]/g, ' ')
    if (/^\S/.test(text) && at < line - 1 && !/makefile|\.mk$/i.test(file.path)) break
  }
  return ''
}

const PROGRAMS: readonly (readonly [RegExp, string])[] = [
  [/\bredis-server\b/, 'redis'],
  [/\bvalkey-server\b/, 'valkey'],
  [/\b(postgres|pg_ctl|postmaster)\b(?!:\/)/, 'postgres'],
  [/\b(mysqld|mysqld_safe|mariadbd)\b/, 'mysql'],
  [/\bmongod\b/, 'mongodb'],
  [/\bmemcached\b/, 'memcached'],
  [/\brabbitmq-server\b/, 'rabbitmq'],
  [/\bnats-server\b/, 'nats'],
  [/\bminio\s+server\b/, 'minio'],
  [/\b(elasticsearch|opensearch)\s*($|-)/, 'elasticsearch'],
  [/\bclickhouse(-server|\s+server)\b/, 'clickhouse'],
  [/\b(sidekiq|resque|rq\s+worker)\b/, 'redis'],
]

function procfiles(facts: RepoFacts): Signal[] {
  const all = filesMatching(facts, /(^|\/)(Procfile(\.\w+)?|process-compose\.ya?ml)$/).filter(
    file => !/\.(prod|production|test|ci)$/.test(file.path),
  )
  return all.flatMap(file =>
    file.text.split('\n').flatMap((text, index) => {
      if (/^\s*#/.test(text)) return []
      const command = text.replace(/^\s*[\w-]+:\s*/, '')
      return PROGRAMS.flatMap(([pattern, word]) => {
        const identity = pattern.test(command) ? storeByWord(word) : undefined
        return identity === undefined
          ? []
          : signalAt(
              facts,
              { file: file.path, line: index + 1 },
              { ...identity, source: 'command', weight: 'run', why: `${file.path} starts what needs it` },
            )
      })
    }),
  )
}

/** `services.postgres.enable = true;` of devenv and of process-compose-flake. */
function nix(facts: RepoFacts): Signal[] {
  return filesMatching(facts, /(^|\/)(devenv|flake|shell)\.nix$/).flatMap(file =>
    [
      ...file.text.matchAll(
        /^(?!\s*#).*?\bservices\.(\w+)(?:\."[^"]+"|\.\w+)?\.enable\s*=\s*true|^\s*(postgres|redis|mysql|mongodb|rabbitmq|minio|elasticsearch|memcached|kafka|nats|clickhouse|mailpit|mailhog)\s*=\s*\{\s*(?:\n\s*)?enable\s*=\s*true/gm,
      ),
    ].flatMap(match => {
      const identity =
        storeByWord((match[1] ?? match[2]) as string) ?? identifyImage((match[1] ?? match[2]) as string)
      return identity === undefined
        ? []
        : signalAt(
            facts,
            { file: file.path, line: lineAt(file.text, match.index) },
            { ...identity, source: 'command', weight: 'run', why: `${file.path} starts it` },
          )
    }),
  )
}

function features(facts: RepoFacts): Signal[] {
  return filesMatching(facts, /(^|\/)\.?devcontainer(\/[\w-]+)*(\/devcontainer)?\.json$/).flatMap(file =>
    Object.keys(asRecord(valueAt(facts.json.get(file.path), 'features')) ?? {}).flatMap(feature => {
      const identity = identifyImage(feature)
      return identity === undefined
        ? []
        : signalAt(
            facts,
            { file: file.path, line: findLine(file, feature) ?? 1 },
            { ...identity, source: 'command', weight: 'fallback', why: 'a feature of the dev container' },
          )
    }),
  )
}

/** Servers that continuous integration starts: GitHub and its like, GitLab, CircleCI. */
function workflows(facts: RepoFacts): Signal[] {
  const signals: Signal[] = []
  for (const [path, documents] of facts.yaml)
    for (const { value, lines } of documents) {
      if (!/(^|\/)(workflows\/[^/]+|\.gitlab-ci|config|\.drone|\.woodpecker|[^/]*)\.ya?ml$/.test(path))
        continue
      const add = (image: unknown, at: string) => {
        const identity = typeof image === 'string' ? identifyImage(image) : undefined
        if (identity === undefined) return
        const evidence = evidenceAt(
          facts,
          path,
          lines.get(at) ?? findLine(facts.files.get(path), String(image)) ?? 1,
        )
        signals.push({
          ...identity,
          source: 'workflow',
          weight: 'ci',
          why: `${path} starts it`,
          image: String(image),
          evidence,
        })
      }
      for (const [job, body] of Object.entries(asRecord(valueAt(value, 'jobs')) ?? {})) {
        for (const [name, service] of Object.entries(asRecord(valueAt(body, 'services')) ?? {}))
          add(valueAt(service, 'image') ?? service, `jobs/${job}/services/${name}/image`)
        const images = valueAt(body, 'docker')
        if (Array.isArray(images))
          for (const [index, one] of images.entries())
            add(valueAt(one, 'image'), `jobs/${job}/docker/${index}`)
      }
      if (!path.endsWith('.gitlab-ci.yml')) continue
      for (const body of [value, ...Object.values(asRecord(value) ?? {})]) {
        const services = valueAt(body, 'services')
        if (Array.isArray(services)) for (const one of services) add(valueAt(one, 'name') ?? one, '')
      }
    }
  return signals
}
