// What generated scripts install in a new worktree, and in which order they call it, with stand-ins for all programs.
import { describe, expect, it } from 'vitest'
import { readInitSources } from '../../src/core/init/init-sources.ts'
import { composeInitScripts } from '../../src/core/init-scripts.ts'
import { describeStack } from '../../src/core/stack.ts'
import { factsOf } from '../support/facts-of.ts'
import { makeStubBox } from '../support/stub-scripts.ts'

type Files = Record<string, string>

const compose =
  'services:\n  db:\n    image: postgres:16\n    environment: { POSTGRES_USER: app, POSTGRES_PASSWORD: app }\n    ports: ["5432:5432"]\n'
const server = { 'compose.yaml': compose, '.env.example': 'DATABASE_URL=postgres://app:app@localhost/app\n' }
const django = (folder = '') => ({
  [`${folder}manage.py`]: 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")\n',
  [`${folder}shop/settings.py`]: 'DATABASES = {"default": env.db("DATABASE_URL")}\n',
  [`${folder}shop/migrations/0001_initial.py`]: '',
})
const alembic = {
  'alembic.ini': '[alembic]\nscript_location = migrations\n',
  'migrations/env.py': 'import os\nos.environ["DATABASE_URL"]\n',
}
const migrates = /\bmigrate\b|\bupgrade\b/

/** What provision.sh calls beside penv and the adapters. */
async function callsOf(files: Files, env: Record<string, string> = {}, script = 'provision.sh') {
  const facts = await factsOf({ ...server, ...files })
  const { files: scripts } = composeInitScripts(describeStack(facts), readInitSources(facts))
  const folders = Object.fromEntries(Object.keys(files).map(file => [file, '']))
  const box = makeStubBox(scripts, undefined, folders)
  try {
    const { log } = box.run(script, script === 'bootstrap.sh' ? ['build'] : [], env)
    return {
      calls: log.filter(line => !/^(penv|postgres_)/.test(line)),
      text: scripts.get(script) ?? '',
      questions: [...scripts.values()].join('\n').match(/# QUESTION:.*/g) ?? [],
    }
  } finally {
    box.remove()
  }
}

describe('a new worktree', () => {
  const rows: [title: string, files: Files, calls: string[]][] = [
    [
      'gets a virtual environment and its packages before Django migrates',
      { ...django(), 'requirements.txt': 'django\n' },
      [
        'venv_use .venv',
        'python3 -m pip install -q -r requirements.txt',
        'exec python3 manage.py migrate --noinput',
      ],
    ],
    [
      'gets them for a command of a Makefile, which calls none of them itself',
      {
        ...alembic,
        Makefile:
          'install:\n\tvenv/bin/pip install -r requirements.txt\n\nmigrate:\n\talembic upgrade head\n',
        'requirements.txt': 'alembic\n',
      },
      ['venv_use venv', 'python3 -m pip install -q -r requirements.txt', 'exec make migrate'],
    ],
    [
      'gets them where the project lies in a folder and the Makefile at the root',
      {
        ...django('backend/'),
        'backend/requirements.txt': 'django\n',
        Makefile: 'migrate:\n\tcd backend && python manage.py migrate\n',
      },
      ['venv_use backend/.venv', 'python3 -m pip install -q -r requirements.txt', 'exec make migrate'],
    ],
    [
      'gets one for each of two projects, and each migrates in its own',
      {
        ...django('shop/'),
        ...django('stock/'),
        'shop/requirements.txt': 'django\n',
        'stock/requirements.txt': 'django\n',
      },
      [
        'venv_use shop/.venv',
        'python3 -m pip install -q -r requirements.txt',
        'venv_use stock/.venv',
        'python3 -m pip install -q -r requirements.txt',
        'venv_use shop/.venv',
        'exec python3 manage.py migrate --noinput',
        'venv_use stock/.venv',
        'exec python3 manage.py migrate --noinput',
      ],
    ],
    [
      'gets what uv’s lock file says',
      { ...alembic, 'pyproject.toml': '[project]\nname = "a"\n', 'uv.lock': '' },
      ['uv sync --frozen', 'exec uv run alembic upgrade head'],
    ],
    [
      'migrates by a program of the repository that reads a key of this environment',
      {
        'package.json': '{"scripts":{"migrate":"node scripts/migrate.js","seed":"node seed.js"}}',
        'package-lock.json': '{}',
        'scripts/migrate.js': 'connect(process.env.DATABASE_URL)\n',
      },
      ['exec npm ci', 'exec npm run migrate'],
    ],
    [
      'gets the packages of Node for a command of a Makefile',
      {
        'package.json': '{"devDependencies":{"knex":"3"}}',
        'package-lock.json': '{}',
        'knexfile.js': 'module.exports = { client: "pg", connection: process.env.DATABASE_URL }\n',
        'migrations/20250101000000_a.js': '',
        Makefile: 'migrate:\n\tnpx knex migrate:latest\n',
      },
      ['exec npm ci', 'exec make migrate'],
    ],
  ]

  it.each(rows)('%s', async (_title, files, calls) => {
    expect((await callsOf(files)).calls).toEqual(calls)
  })

  it('gets them as a clone of a fresh template, too, which has every migration', async () => {
    const files = { ...django(), 'requirements.txt': 'django\n' }
    for (const env of [{ postgres_cloned: '1', PENV_TEMPLATE_FRESH: '1' }, { PENV_NO_MIGRATE: '1' }]) {
      const { calls } = await callsOf(files, env)
      expect(calls).toEqual(['venv_use .venv', 'python3 -m pip install -q -r requirements.txt'])
    }
    const built = await callsOf(files, { PENV_TEMPLATE: 'penv_tpl_1' }, 'bootstrap.sh')
    expect(built.calls).toEqual([
      'venv_use .venv',
      expect.stringContaining('pip install'),
      expect.stringContaining('manage.py migrate'),
    ])
  })

  it.each([
    ['poetry', { 'pyproject.toml': '[tool.poetry]\nname = "a"\n', 'poetry.lock': '' }, 'poetry install'],
    ['pipenv', { Pipfile: '', 'Pipfile.lock': '{}' }, 'pipenv sync --dev'],
    ['pdm', { 'pyproject.toml': '[tool.pdm]\n', 'pdm.lock': '' }, 'pdm install'],
  ])(
    'never lets %s install into an environment that is activated, the main checkout’s',
    async (_name, files, install) => {
      // A stand-in tells whether the word is in its environment.
      const { calls } = await callsOf({ ...alembic, ...files }, { VIRTUAL_ENV: '/main/penv_tpl_venv' })
      expect(calls[0]).toBe(install)
      expect(calls.some(call => migrates.test(call))).toBe(true)
    },
  )

  it('is not migrated by a program that may work on any database, and has a question about it', async () => {
    const { calls, questions } = await callsOf({
      'package.json': '{"scripts":{"migrate":"node scripts/migrate.js"}}',
      'scripts/migrate.js': 'require("../db").migrate()\n',
    })
    expect(calls.filter(call => migrates.test(call))).toEqual([])
    expect(questions).toContainEqual(
      expect.stringContaining('which key points `npm run migrate` at the database'),
    )
  })

  it('is told how its program is started where only the call gives it a port', async () => {
    const { text, questions } = await callsOf({
      ...django('back end/'),
      'back end/requirements.txt': 'django\n',
    })
    expect(questions).toEqual([])
    expect(text).toContain(
      `# To start back_end, run: cd 'back end' && . .venv/bin/activate && penv exec -- sh -c 'python3 manage.py runserver "$BACK_END_PORT"'\n`,
    )
  })

  it('is asked about where the repository’s own command gives the port', async () => {
    const files = { ...django(), Makefile: 'run:\n\tpython manage.py runserver 8010\n' }
    expect((await callsOf(files)).questions).toEqual([
      expect.stringContaining('listens on 8010 (Makefile:1)'),
    ])
  })
})
