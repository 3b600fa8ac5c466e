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

/** What one file tells: the arguments of each `pip install`, and the environment that it makes or uses. */
interface Instruction {
  readonly installs: readonly (readonly string[])[]
  readonly environment: string | undefined
}

const INSTRUCTIONS =
  /^((readme|contributing|development|hacking|install)[\w.]*|(gnu)?makefile|\.?justfile|taskfile[\w.]*)$/i
/** What a script can hold without quotes. */
const IS_PLAIN = /^[\w./@+-]+$/
/** Those that a developer wants come first. */
const LOCAL_FILES = ['local', 'dev', 'develop', 'development', 'base'] as const

/** Reads the instructions once, since a repository may have thousands of folders. */
export function makePipInstalls(facts: RepoFacts): (folder: string) => PipInstall {
  const paths = new Set(facts.paths)
  const byFolder = new Map<string, Instruction[]>()
  for (const { path, text } of facts.files.values()) {
    const isScript = /^(bin|scripts?)\/[\w.-]+$/.test(path)
    if (!isScript && !INSTRUCTIONS.test(nameOf(path))) continue
    const folder = isScript ? '' : folderOf(path)
    byFolder.set(folder, [...(byFolder.get(folder) ?? []), readInstruction(text)])
  }
  return folder => {
    const own = [...new Set([folder, ''])].flatMap(place => byFolder.get(place) ?? [])
    const has = (path: string) => paths.has(below(folder, path))
    return {
      what: saidIn(own, has) ?? byFiles(facts, folder, has),
      environment:
        own.find(one => one.environment !== undefined)?.environment ??
        ignoredEnvironment(facts, folder) ??
        '.venv',
    }
  }
}

function readInstruction(text: string): Instruction {
  const made =
    /(?:-m venv|\bvirtualenv)\s+(?:(?:-p\s+\S+|-\S+)\s+)*(?:\.\/)?(\.?[A-Za-z][\w-]*)(?=[\s/`"']|$)/m.exec(
      text,
    )?.[1]
  const used = /(?:^|[\s"'`/=])(\.?v?env[\w-]*)\/bin\/(?:activate|python3?|pip3?)\b/m.exec(text)?.[1]
  return {
    installs: [...text.matchAll(/\bpip3?\s+install\s+([^\n`&|;#]+)/g)].map(match =>
      (match[1] as string).replace(/["']/g, '').trim().split(/\s+/),
    ),
    environment: made ?? used,
  }
}

/** All requirement files that are named, else the project itself, with the extras that are named. */
function saidIn(instructions: readonly Instruction[], has: (path: string) => boolean): string | undefined {
  const files = new Set<string>()
  const projects = new Set<string>()
  const isProject = has('pyproject.toml') || has('setup.py')
  for (const words of instructions.flatMap(one => one.installs))
    for (const [at, word] of words.entries()) {
      const file = /^(?:-r|--requirement=?)(.*)$/.exec(word)?.[1]
      const path = file === undefined ? undefined : file || (words[at + 1] ?? '')
      if (path !== undefined && IS_PLAIN.test(path) && has(path) && isForDevelopment(path)) files.add(path)
      if (isProject && /^\.(\[[\w,-]+\])?$/.test(word)) projects.add(word)
    }
  const project = [...projects].sort((a, b) => b.length - a.length)[0]
  if (files.size > 0) return [...files].map(file => `-r ${file}`).join(' ')
  return project === undefined ? undefined : `-e ${project === '.' ? project : `'${project}'`}`
}

function isForDevelopment(path: string): boolean {
  return /^(development|neutral)$/.test(scopeOf(path))
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
