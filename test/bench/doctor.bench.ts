// How long `penv doctor` and `penv init` look at large checkouts of several shapes, each against `penv id` in the same
// run. Prints a table. Figures only: nothing here asserts a time.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { makeSandbox, PROGRAM } from '../support/sandbox.ts'

const FILES = 50_000
const RUNS = 5

/** Path and text of the n-th file. */
type Shape = (n: number) => readonly [path: string, text: string]

const SHAPES: Readonly<Record<string, Shape>> = {
  'source in ten languages': n => [
    `src/m${n % 50}/p${n % 997}/f${n}.${['ts', 'py', 'go', 'rb', 'java', 'rs', 'php', 'cs', 'ex', 'md'][n % 10]}`,
    'const url = process.env.REDIS_URL ?? "redis://localhost:6379"\n'.repeat(20),
  ],
  'workspace packages': n => [
    `packages/g${n % 100}/p${n}/package.json`,
    `{"name":"p${n}","scripts":{"dev":"vite","db:migrate":"knex migrate:latest"},"dependencies":{"pg":"8","p${n >> 1}":"workspace:*"}}`,
  ],
  'SQL migrations': n => [
    `db/migrations/${String(n).padStart(6, '0')}_x.sql`,
    `create table t${n} (id int);\n`,
  ],
  'compose files': n => [
    `s${n % 70}/d${n}/docker-compose.yml`,
    `services:\n  db:\n    image: postgres:16\n    ports: ["${1024 + (n % 60_000)}:5432"]\n`,
  ],
  'env examples': n => [
    `a${n % 100}/e${n}/.env.example`,
    `DATABASE_URL=postgres://localhost/x${n}\nPORT=3000\n`,
  ],
  Makefiles: n => [
    `m${n}/Makefile`,
    Array.from({ length: 10 }, (_, at) => `t${at}: t${at + 1}\n\tdocker run postgres:16\n`).join(''),
  ],
  'ignored files, 50,000 more of them': n => [
    n === 0 ? '.gitignore' : n % 2 === 0 ? `node_modules/p${n % 500}/f${n}.js` : `src/d${n % 500}/f${n}.ts`,
    n === 0 ? 'node_modules\n' : 'x\n',
  ],
}

function medianSeconds(args: readonly string[], cwd: string, env: Record<string, string>): number {
  const times = Array.from({ length: RUNS }, () => {
    const start = process.hrtime.bigint()
    execFileSync(process.execPath, [PROGRAM, ...args], { cwd, env, stdio: 'ignore' })
    return Number(process.hrtime.bigint() - start) / 1e9
  })
  return times.sort((a, b) => a - b)[RUNS >> 1] as number
}

it('measures doctor and init on large checkouts', () => {
  const rows = Object.entries(SHAPES).map(([name, shape]) => {
    const box = makeSandbox('penv-bench-')
    const count = name.startsWith('ignored') ? 2 * FILES : FILES
    for (let n = 0; n < count; n += 1) {
      const [path, text] = shape(n)
      const file = join(box.main, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
    box.git(box.main, 'add', '--all')
    box.git(box.main, 'commit', '--quiet', '-m', 'all')
    const measure = (...args: string[]) => medianSeconds(args, box.main, box.env)
    return [name, measure('id'), measure('doctor', '--json'), measure('init', '--dry-run', '--json')] as const
  })
  const seconds = (value: number) => `${value.toFixed(2)} s`
  console.log(
    [
      `| ${FILES.toLocaleString('en')} files, median of ${RUNS} | penv id | penv doctor | penv init --dry-run |`,
      '| --- | --- | --- | --- |',
      ...rows.map(([name, ...times]) => `| ${name} | ${times.map(seconds).join(' | ')} |`),
    ].join('\n'),
  )
  expect(rows).toHaveLength(Object.keys(SHAPES).length)
})
