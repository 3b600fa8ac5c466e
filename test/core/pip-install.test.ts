import { describe, expect, it } from 'vitest'
import { makePackageManagerLookup } from '../../src/core/stack/package-manager.ts'
import { factsOf } from '../support/facts-of.ts'

type Files = Record<string, string>
const PIP = 'python3 -m pip install -q'
const project = '[project]\nname = "shop"\n'

const installs: [title: string, files: Files, install: string | undefined][] = [
  ['the usual file', { 'requirements.txt': 'flask\n' }, `${PIP} -r requirements.txt`],
  [
    'all files that the README names',
    {
      'requirements.txt': 'flask\n',
      'requirements-dev.txt': 'pytest\n',
      'README.md':
        '    pip install -r requirements.txt\n    pip install --requirement requirements-dev.txt\n',
    },
    `${PIP} -r requirements.txt -r requirements-dev.txt`,
  ],
  [
    'not those of production, nor tools that are installed by the way',
    {
      'requirements/production.txt': 'gunicorn\n',
      'requirements/local.txt': 'django\n',
      'README.md':
        '`pip install -U pip`, `pip install pre-commit`, `pip install -r requirements/production.txt`\n',
    },
    `${PIP} -r requirements/local.txt`,
  ],
  [
    'not a file that is not there',
    { 'requirements.txt': 'flask\n', 'README.md': 'pip install -r requirements/all.txt\n' },
    `${PIP} -r requirements.txt`,
  ],
  ['a project', { 'pyproject.toml': project }, `${PIP} -e .`],
  [
    'a project with the extras that a Makefile names',
    { 'pyproject.toml': project, Makefile: 'install:\n\tvenv/bin/pip install -e ".[dev,test]"\n' },
    `${PIP} -e '.[dev,test]'`,
  ],
  ['nothing of settings alone', { 'pyproject.toml': '[tool.ruff]\nline-length = 100\n' }, undefined],
]

const environments: [title: string, files: Files, environment: string][] = [
  ['.venv by itself', {}, '.venv'],
  [
    'what the README makes',
    { 'README.md': '```\npython -m venv env\nsource env/bin/activate\n```\n' },
    'env',
  ],
  ['what a Makefile calls', { Makefile: 'run:\n\t./venv/bin/python app.py\n' }, 'venv'],
  ['what virtualenv is told', { 'README.md': 'virtualenv -p python3.11 .env-shop\n' }, '.env-shop'],
  ['the one that git ignores', { '.gitignore': '*.pyc\n/venv/\n' }, 'venv'],
  ['.venv of several that git ignores', { '.gitignore': 'venv/\n.venv\n' }, '.venv'],
]

describe('an install by pip', () => {
  it.each(installs)('takes %s', async (_title, files, install) => {
    expect(makePackageManagerLookup(await factsOf(files))('python', '')?.install).toBe(install)
  })

  it.each(environments)('uses the environment that is %s', async (_title, files, environment) => {
    const found = makePackageManagerLookup(await factsOf({ 'requirements.txt': '', ...files }))('python', '')
    expect(found?.environment).toBe(environment)
  })

  it('is below its folder, also where the root’s README tells', async () => {
    const files = {
      'backend/requirements.txt': 'django\n',
      'README.md': 'cd backend && python3 -m venv venv && venv/bin/pip install -r requirements.txt\n',
    }
    expect(makePackageManagerLookup(await factsOf(files))('python', 'backend')).toMatchObject({
      folder: 'backend',
      install: `${PIP} -r requirements.txt`,
      environment: 'venv',
    })
  })
})
