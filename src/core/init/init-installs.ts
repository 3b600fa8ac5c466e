// What has to be installed in a new worktree before its commands can run, and how: by the repository's own package
// manager, and for pip in a virtual environment of the worktree's own.
import type { PackageManager } from '../stack/package-manager.ts'
import type { Stack } from '../stack.ts'
import { callStep, ecosystemOf, type Step } from './init-steps.ts'
import { quoteWord } from './init-text.ts'

const VENV = '$PENV_ADAPTERS/venv.sh'

/** Files that the lines of `installLines` and `callLines` need sourced. */
export function installSources(stack: Stack, steps: readonly Step[]): string[] {
  return environmentsOf(stack, steps).length > 0 ? [VENV] : []
}

/**
 * Installs what the steps need and a new worktree does not have. Again is quick.
 * @param inEnvironment whether the variables of .env.preview have to be brought
 */
export function installLines(stack: Stack, steps: readonly Step[], inEnvironment: boolean): string[] {
  const managers = [...new Set(steps.flatMap(step => managerOf(stack, step) ?? []))]
  return managers.flatMap(manager => {
    const { name, folder, install, installed } = manager
    if (install === undefined) return []
    // At their end these run the repository's own programs, a generator for one, which read what the app reads.
    const hasHooks = manager.ecosystem === 'node' || manager.ecosystem === 'php'
    const call = callStep({ folder, command: install }, inEnvironment && hasHooks)
    const environment = environmentOf(manager)
    if (environment !== undefined) return [useLine(environment), call]
    if (installed !== undefined) return [`[ -e ${quoteWord(inFolder(folder, installed))} ] || ${call}`]
    if (name === 'bundler')
      return [
        folder === ''
          ? 'bundle check >/dev/null || bundle install'
          : `(cd ${quoteWord(folder)} && { bundle check >/dev/null || bundle install; })`,
      ]
    // These install into whatever environment is activated.
    if (/^(poetry|pdm|pipenv)$/.test(name))
      return ["# An environment that is activated now is another checkout's.", 'unset VIRTUAL_ENV', call]
    return /^(uv|mix)$/.test(name) ? [call] : []
  })
}

/**
 * The calls themselves; where there are several virtual environments, each in its own.
 * @param installed the steps whose installs the script has called before
 */
export function callLines(
  stack: Stack,
  steps: readonly Step[],
  inEnvironment: boolean,
  installed: readonly Step[],
): string[] {
  const isMixed = environmentsOf(stack, installed).length > 1
  return steps.flatMap(step => {
    const environment = isMixed ? environmentOf(managerOf(stack, step)) : undefined
    return [...(environment === undefined ? [] : [useLine(environment)]), callStep(step, inEnvironment)]
  })
}

/** What a person types in the folder of a program before calling it, so that no other checkout's packages answer. */
export function activation(stack: Stack, { folder, command }: Pick<Step, 'folder' | 'command'>): string {
  const ecosystem = ecosystemOf(command)
  if (ecosystem !== 'python') return ''
  const manager = managerOf(stack, { ecosystem, project: folder })
  if (manager?.environment === undefined) return ''
  const up = folder === manager.folder ? '' : '../'.repeat(folder.split('/').length - depthOf(manager.folder))
  return `. ${quoteWord(`${up}${manager.environment}`)}/bin/activate && `
}

function depthOf(folder: string): number {
  return folder === '' ? 0 : folder.split('/').length
}

function useLine(environment: string): string {
  return environment === '.venv' ? 'venv_use' : `venv_use ${quoteWord(environment)}`
}

function environmentsOf(stack: Stack, steps: readonly Step[]): string[] {
  return [...new Set(steps.flatMap(step => environmentOf(managerOf(stack, step)) ?? []))]
}

function environmentOf(manager: PackageManager | undefined): string | undefined {
  return manager?.environment === undefined ? undefined : inFolder(manager.folder, manager.environment)
}

function managerOf(
  stack: Stack,
  { ecosystem, project }: Pick<Step, 'ecosystem' | 'project'>,
): PackageManager | undefined {
  // A member's own manifest is installed from the root of its workspace.
  const isMember = stack.workspaces.members.some(one => one.kind === 'node' && one.folder === project)
  return stack.packageManagers
    .filter(
      one =>
        one.ecosystem === ecosystem &&
        (one.folder === '' || one.folder === project || project.startsWith(`${one.folder}/`)) &&
        !(isMember && one.folder === project && one.isAssumed),
    )
    .sort((a, b) => Number(a.isAssumed) - Number(b.isAssumed) || b.folder.length - a.folder.length)[0]
}

function inFolder(folder: string, path: string): string {
  return folder === '' ? path : `${folder}/${path}`
}
