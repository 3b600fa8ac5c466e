// Signals of commands and workplaces: `docker run` in scripts, Procfiles, devenv, devcontainer features, and what
// continuous integration starts, which is weaker.
import { findDockerRuns } from './docker-run.ts'
import { asRecord, evidenceAt, filesMatching, findLine, lineAt, type RepoFacts, valueAt } from './facts.ts'
import { type ImageIdentity, identifyImage } from './images.ts'
import { type Signal, signalAt } from './signals.ts'
import { DATABASES, serviceKey, storeByWord } from './store-names.ts'

export function commandSignals(facts: RepoFacts): Signal[] {
  return [...dockerRuns(facts), ...procfiles(facts), ...nix(facts), ...features(facts), ...workflows(facts)]
}

/** So many databases that one file can start are there to try each. */
const MANY_DATABASES = 3

function dockerRuns(facts: RepoFacts): Signal[] {
  const runs = findDockerRuns(facts).flatMap(run => {
    const identity = run.isClient ? undefined : identifyImage(run.image)
    return identity === undefined ? [] : [{ run, identity }]
  })
  const isToTry = (file: string, key: string) =>
    DATABASES.has(key) &&
    new Set(
      runs
        .filter(other => other.run.file === file && DATABASES.has(serviceKey(other.identity)))
        .map(other => serviceKey(other.identity)),
    ).size >= MANY_DATABASES
  return runs.map(({ run, identity }) => {
    const found = { ...identity, source: 'command', image: run.image } as const
    if (isToTry(run.file, serviceKey(identity)))
      return signalAt(facts, run, {
        ...found,
        weight: 'optional',
        why: `one of several that ${run.file} can start`,
      })
    return signalAt(facts, run, {
      ...found,
      weight: run.scope === 'production' ? 'fallback' : run.scope === 'test' ? 'ci' : 'run',
      why: run.scope === 'test' ? 'started for the tests' : `${run.file} starts it`,
    })
  })
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
  [/\bmosquitto\b(?!_)/, 'mosquitto'],
  [/\b(sidekiq|resque|rq\s+worker)\b/, 'redis'],
]

function procfiles(facts: RepoFacts): Signal[] {
  const all = filesMatching(facts, /(^|\/)(Procfile(\.\w+)?|process-compose\.ya?ml)$/).filter(
    file => !/\.(prod|production|test|ci)$/.test(file.path),
  )
  return all.flatMap(file =>
    file.text.split('\n').flatMap((text, index) => {
      if (/^\s*#/.test(text)) return []
      return startedBy(text.replace(/^\s*[\w-]+:\s*/, '')).flatMap(identity =>
        signalAt(
          facts,
          { file: file.path, line: index + 1 },
          { ...identity, source: 'command', weight: 'run', why: `${file.path} starts what needs it` },
        ),
      )
    }),
  )
}

/** The servers that a command starts, or cannot do without. */
function startedBy(command: string): ImageIdentity[] {
  return PROGRAMS.flatMap(([pattern, word]) => {
    const identity = pattern.test(command) ? storeByWord(word) : undefined
    return identity === undefined ? [] : [identity]
  })
}

const ENABLED =
  /^(?!\s*#).*?\bservices\.(\w+)(?:\."[^"]+"|\.\w+)?(?:\.enable\s*=\s*true|\s*=\s*\{\s*enable\s*=\s*true)|^\s*(postgres|redis|mysql|mongodb|rabbitmq|minio|elasticsearch|memcached|kafka|nats|clickhouse|mailpit|mailhog)\s*=\s*\{\s*enable\s*=\s*true/gm
const PROCESS = /\bprocesses\.[\w"-]+(?:\.exec\s*=|\s*=\s*\{\s*exec\s*=)\s*(?:"([^"\n]*)"|''([^']*)'')/g

/** `services.postgres.enable = true;` of devenv and of process-compose-flake, and the processes that they run. */
function nix(facts: RepoFacts): Signal[] {
  return filesMatching(facts, /(^|\/)(devenv|flake|shell)\.nix$/).flatMap(file => {
    const started = (identity: ReturnType<typeof storeByWord>, offset: number) =>
      identity === undefined
        ? []
        : signalAt(
            facts,
            { file: file.path, line: lineAt(file.text, offset) },
            { ...identity, source: 'command', weight: 'run', why: `${file.path} starts it` },
          )
    return [
      ...[...file.text.matchAll(ENABLED)].flatMap(match => {
        const name = (match[1] ?? match[2]) as string
        return started(storeByWord(name) ?? identifyImage(name), match.index)
      }),
      ...[...file.text.matchAll(PROCESS)].flatMap(match =>
        startedBy((match[1] ?? match[2]) as string).flatMap(identity => started(identity, match.index)),
      ),
    ]
  })
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
