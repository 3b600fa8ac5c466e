// Runs generated scripts of `.preview/` with stand-ins for penv, docker, adapters and package managers that only write
// down how they were called: what is tested is the script's own text, that every variable is set before it is used.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { adapterDirectory } from './adapters.ts'

const SERVICES =
  'postgres mysql mongodb sqlite clickhouse redis rabbitmq kafka nats s3 elasticsearch qdrant'.split(' ')
const TOOLS =
  'npm npx pnpm yarn bun bunx uv poetry pdm pipenv python3 alembic flask bundle composer php mix make task just go cargo sqlx diesel dbmate goose migrate atlas flyway liquibase dotnet mvn gradle'.split(
    ' ',
  )

const PENV = `#!/bin/sh
printf 'penv %s\\n' "$*" >>"$STUB_LOG"
case $1 in
  get)
    case $2 in
      port) cksum <<EOT | cut -d' ' -f1 | sed 's/^\\(....\\).*/2\\1/' ;;
$3
EOT
      index) echo 3 ;;
      name) case $* in *kebab*) echo "$3-wt-abc123" ;; *) echo "$3_wt_abc123" ;; esac ;;
    esac ;;
  env) cat >>"$STUB_ENV" ;;
  exec) shift 2; printf 'exec %s\\n' "$*" >>"$STUB_LOG" ;;
esac
`
const DOCKER = `#!/bin/sh
printf 'docker %s\\n' "$*" >>"$STUB_LOG"
case "$*" in 'ps -q '*) echo abc ;; esac
`
/** Says, too, whether it was pointed at a template. */
const TOOL = `#!/bin/sh
case "$(env | grep -v '^PENV_') $*" in *penv_tpl_*) at=' @template' ;; *) at='' ;; esac
printf '%s %s%s\\n' "\${0##*/}" "$*" "$at" >>"$STUB_LOG"
`

export interface StubRun {
  /** Calls in their order. */
  readonly log: string[]
  /** What was given to penv env. */
  readonly env: Map<string, string>
  readonly stdout: string
}

export interface StubBox {
  run(script: string, args?: readonly string[], env?: Readonly<Record<string, string>>): StubRun
  remove(): void
}

export function makeStubBox(
  files: ReadonlyMap<string, string>,
  repository?: string,
  main: Readonly<Record<string, string>> = {},
): StubBox {
  const box = mkdtempSync(join(tmpdir(), 'penv-stub-'))
  const root = join(box, 'a tree')
  mkdirSync(root)
  if (repository !== undefined)
    cpSync(repository, root, { recursive: true, filter: source => basename(source) !== 'expected.json' })
  for (const folder of ['bin', 'adapters', 'data']) mkdirSync(join(box, folder))
  mkdirSync(join(root, '.preview'), { recursive: true })
  const program = (path: string, text: string) => {
    writeFileSync(path, text)
    chmodSync(path, 0o755)
  }
  program(join(box, 'bin', 'penv'), PENV)
  program(join(box, 'bin', 'docker'), DOCKER)
  for (const tool of TOOLS) program(join(box, 'bin', tool), TOOL)
  for (const path of ['bin/rails', 'vendor/bin/doctrine-migrations'])
    if (existsSync(join(root, path))) program(join(root, path), TOOL)
  for (const service of SERVICES) {
    const verbs = 'create verify drop freeze drop_template'
      .split(' ')
      .map(verb => `${service}_${verb}() { printf '${service}_${verb} %s\\n' "$*" >>"$STUB_LOG"; }`)
    writeFileSync(
      join(box, 'adapters', `${service}.sh`),
      `${verbs.join('\n')}\n${service}_url() { printf '${service}://u:p@localhost/%s\\n' "$1"; }\n`,
    )
  }
  writeFileSync(
    join(box, 'adapters', 'venv.sh'),
    `venv_use() { printf 'venv_use %s\\n' "\${1:-.venv}" >>"$STUB_LOG"; }\n`,
  )
  for (const shared of ['common.sh', 'http.sh', 'main.sh'])
    cpSync(join(adapterDirectory, shared), join(box, 'adapters', shared))
  for (const [name, text] of files) writeFileSync(join(root, '.preview', name), text)
  for (const [name, text] of Object.entries(main)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return {
    run(script, args = [], env = {}) {
      const log = join(box, 'log')
      const written = join(box, 'env')
      for (const file of [log, written]) writeFileSync(file, '')
      const stdout = execFileSync('dash', [join(root, '.preview', script), ...args], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
        encoding: 'utf8',
        env: {
          PATH: `${join(box, 'bin')}:/usr/bin:/bin`,
          HOME: box,
          STUB_LOG: log,
          STUB_ENV: written,
          PENV_ID: 'wt_abc123',
          PENV_ROOT: root,
          PENV_MAIN: root,
          PENV_DIR: join(root, '.preview'),
          PENV_DATA: join(box, 'data'),
          PENV_ADAPTERS: join(box, 'adapters'),
          PENV_TEMPLATE: '',
          PENV_TEMPLATE_FRESH: '',
          PENV_NO_MIGRATE: '',
          PENV_SEED: '',
          ...env,
        },
      })
      const lines = (file: string) => readFileSync(file, 'utf8').split('\n').filter(Boolean)
      return {
        log: lines(log),
        stdout,
        env: new Map(
          lines(written).map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
        ),
      }
    },
    remove: () => rmSync(box, { recursive: true, force: true }),
  }
}
