// How a Python folder without a manager of its own is installed: with pip into a virtual environment, with the
// arguments and the folder that the repository's own instructions give, else by the files that are there.
import { folderOf, nameOf, type RepoFacts, valueAt } from './facts.ts'
import { scopeOf } from './scope.ts'

export interface PipInstall {
  /** What goes to `pip install`; undefined where nothing says what to install. */
  readonly what: string | undefined
  /** The folder of the virtual environment, below that of the project. */
  readonly environment: string
}

const INSTRUCTIONS =
  /^((readme|contributing|development|hacking|install)[\w.]*|(gnu)?makefile|\.?justfile|taskfile[\w.]*)$/i
/** What a script can hold without quotes. */
const IS_PLAIN = /^[\w./@+-]+$/
/** Those that a developer wants come first. */
const LOCAL_FILES = ['local', 'dev', 'develop', 'development', 'base'] as const

/** @param paths those of the facts. */
export function findPipInstall(facts: RepoFacts, folder: string, paths: ReadonlySet<string>): PipInstall {
  const texts = [...facts.files.values()]
    .filter(
      ({ path }) =>
        ([folder, ''].includes(folderOf(path)) && INSTRUCTIONS.test(nameOf(path))) ||
        /^(bin|scripts?)\/[\w.-]+$/.test(path),
    )
    .map(file => file.text)
  const has = (path: string) => paths.has(below(folder, path))
  return {
    what: saidIn(texts, has) ?? byFiles(facts, folder, has),
    environment: environmentSaidIn(texts) ?? ignoredEnvironment(facts, folder) ?? '.venv',
  }
}

/** All requirement files that are named, else the project itself, with the extras that are named. */
function saidIn(texts: readonly string[], has: (path: string) => boolean): string | undefined {
  const files = new Set<string>()
  const projects = new Set<string>()
  for (const text of texts)
    for (const match of text.matchAll(/\bpip3?\s+install\s+([^\n`&|;#]+)/g)) {
      const words = (match[1] as string).replace(/["']/g, '').trim().split(/\s+/)
      for (const [at, word] of words.entries()) {
        const file = /^(?:-r|--requirement=?)(.*)$/.exec(word)?.[1]
        const path = file === undefined ? undefined : file || (words[at + 1] ?? '')
        if (
          path !== undefined &&
          IS_PLAIN.test(path) &&
          has(path) &&
          /^(development|neutral)$/.test(scopeOf(path))
        )
          files.add(path)
        if (/^\.(\[[\w, -]+\])?$/.test(word) && (has('pyproject.toml') || has('setup.py'))) projects.add(word)
      }
    }
  const project = [...projects].sort((a, b) => b.length - a.length)[0]
  if (files.size > 0) return [...files].map(file => `-r ${file}`).join(' ')
  return project === undefined ? undefined : `-e ${/\[/.test(project) ? `'${project}'` : project}`
}

function byFiles(facts: RepoFacts, folder: string, has: (path: string) => boolean): string | undefined {
  const names = [
    'requirements.txt',
    ...LOCAL_FILES.map(name => `requirements/${name}.txt`),
    ...LOCAL_FILES.flatMap(name => [
      `requirements-${name}.txt`,
      `requirements_${name}.txt`,
      `${name}-requirements.txt`,
    ]),
  ]
  const file = names.find(has)
  if (file !== undefined) return `-r ${file}`
  const manifest = facts.toml.get(below(folder, 'pyproject.toml'))
  return has('setup.py') || valueAt(manifest, 'project') !== undefined ? '-e .' : undefined
}

function environmentSaidIn(texts: readonly string[]): string | undefined {
  for (const text of texts) {
    const made =
      /(?:-m venv|\bvirtualenv)\s+(?:(?:-p\s+\S+|-\S+)\s+)*(?:\.\/)?(\.?[A-Za-z][\w-]*)(?=[\s/`"']|$)/m.exec(
        text,
      )?.[1]
    const used = /(?:^|[\s"'`/=])(\.?v?env[\w-]*)\/bin\/(?:activate|python3?|pip3?)\b/m.exec(text)?.[1]
    if (made !== undefined || used !== undefined) return made ?? used
  }
  return undefined
}

/** The usual list of what Python leaves behind names several; .venv is the first choice. */
function ignoredEnvironment(facts: RepoFacts, folder: string): string | undefined {
  const lines = [...new Set([folder, ''])].flatMap(
    place => facts.files.get(below(place, '.gitignore'))?.text.split('\n') ?? [],
  )
  const names = lines.map(line => line.trim().replace(/^\/|\/$/g, ''))
  return ['.venv', 'venv'].find(name => names.includes(name))
}

function below(folder: string, path: string): string {
  return folder === '' ? path : `${folder}/${path}`
}
