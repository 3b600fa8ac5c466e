// penv's entries in the JSON and TOML files of other programs: their shape, and how they are found again.
// The shapes are those of the programs' own documents, named at each; nothing here touches text.
import { countCommand, isOnlyCommand } from './command-line.ts'
import type { JsonObject, JsonValue } from './json-document.ts'
import { commandItem, type FoundEntry, type ItemWant, type JsonWants } from './wiring-json.ts'
import { DESTROY, SESSION, SESSION_JSON, UP } from './wiring-text.ts'
import type { TomlFile } from './wiring-toml.ts'

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What an object itself has: never what a key named `__proto__` would lend it. */
function field(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** The command line of a script, a task or a hook; empty where it has none. */
function commandOf(value: JsonValue): string {
  const command = field(value, 'command')
  return typeof command === 'string' ? command : ''
}

function isSameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSameJson(item, b[index]))
  if (!isObject(a) || !isObject(b)) return a === b
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every(key => isSameJson(field(a, key), field(b, key)))
}

function listAt(root: JsonValue, path: readonly string[]): readonly JsonValue[] {
  const value = path.reduce<JsonValue | undefined>(field, root)
  return Array.isArray(value) ? value : []
}

/** A hook that runs at the start of a session: groups of hooks, of which one group is penv's. */
function sessionHook(hook: JsonObject & { command: string }, matcher?: string): ItemWant {
  const group: JsonObject = { ...(matcher === undefined ? {} : { matcher }), hooks: [hook] }
  const isCall = (value: JsonValue) => countCommand(commandOf(value), SESSION) > 0
  const findInGroup = (item: JsonValue, index: number): FoundEntry[] => {
    // An older shape, without a group around it.
    if (isCall(item)) return [{ at: [index], isCurrent: false, isOurs: true }]
    const hooks = field(item, 'hooks')
    if (!Array.isArray(hooks)) return []
    return hooks.flatMap((other: JsonValue, place: number): FoundEntry[] => {
      if (!isCall(other)) return []
      // A line that calls penv among others is somebody's own arrangement.
      if (!isOnlyCommand(commandOf(other), SESSION)) return [{ at: [], isCurrent: true, isOurs: false }]
      if (hooks.length === 1) return [{ at: [index], isCurrent: isSameJson(item, group), isOurs: true }]
      return [{ at: [index, 'hooks', place], isCurrent: commandOf(other) === hook.command, isOurs: true }]
    })
  }
  return { path: ['hooks', 'SessionStart'], item: group, find: list => list.flatMap(findInGroup) }
}

/** Claude Code, hooks reference: the timeout is in seconds. */
export const claudeSession: JsonWants = () => [
  sessionHook({ type: 'command', command: SESSION, timeout: 120 }, 'startup|resume|clear|compact'),
]

/** Codex, hooks page: the same shape as Claude Code's. */
export const codexSession: JsonWants = claudeSession

/** Gemini CLI, hooks reference: milliseconds; a matcher of a lifecycle event is one exact word, so there is none. */
export const geminiSession: JsonWants = () => [
  sessionHook({ name: 'penv', type: 'command', command: SESSION_JSON, timeout: 120_000 }),
]

/** Cursor, worktrees page: the key with the system's name wins over the plain one. */
export const cursorSetup: JsonWants = root => {
  const chosen = field(root, 'setup-worktree-unix') === undefined ? 'setup-worktree' : 'setup-worktree-unix'
  const wants = ['setup-worktree', 'setup-worktree-unix'].map(key => commandItem([key], UP))
  return wants.filter(want => want.path[0] === chosen || want.find(listAt(root, want.path)).length > 0)
}

export const wtCommands: JsonWants = () => [
  commandItem(['setup-worktree'], UP),
  commandItem(['teardown-worktree'], DESTROY),
]

/** Superset, setup and teardown scripts. */
export const supersetCommands: JsonWants = () => [
  commandItem(['setup'], UP),
  commandItem(['teardown'], DESTROY),
]

/** phantom, configuration. */
export const phantomCommands: JsonWants = () => [
  commandItem(['postCreate', 'commands'], UP),
  commandItem(['preDelete', 'commands'], DESTROY),
]

/** Conductor, scripts in conductor.json: one command line each. */
export const conductorScripts: JsonWants = () => [
  { path: ['scripts', 'setup'], command: UP },
  { path: ['scripts', 'archive'], command: DESTROY },
]

/** T3 Code runs the first script that asks for it when a worktree is made, and no other: a script that is there runs penv too. */
export const t3Script: JsonWants = root => {
  const scripts = listAt(root, ['scripts'])
  const runs = (script: JsonValue) => field(script, 'runOnWorktreeCreate') === true
  const isOurs = (script: JsonValue) =>
    isOnlyCommand(commandOf(script), UP) && (runs(script) || field(script, 'name') === 'penv')
  const find = (list: readonly JsonValue[]) =>
    list.flatMap((script, index) =>
      isOurs(script) ? [{ at: [index], isCurrent: runs(script), isOurs: true }] : [],
    )
  const first = scripts.findIndex(runs)
  if (first >= 0 && find(scripts).length === 0) return [{ path: ['scripts', first, 'command'], command: UP }]
  return [{ path: ['scripts'], item: { name: 'penv', command: UP, runOnWorktreeCreate: true }, find }]
}

/** VS Code, tasks: started by hand, because what runs by itself needs trust. */
export const vscodeTask: JsonWants = () => {
  const item = { label: UP, type: 'shell', command: UP, problemMatcher: [] }
  const find = (list: readonly JsonValue[]) =>
    list.flatMap((task, index) => {
      if (countCommand(commandOf(task), UP) === 0) return []
      return [{ at: [index], isCurrent: true, isOurs: field(task, 'label') === UP }]
    })
  return [{ path: ['tasks'], item, find }]
}

/** Codex app, local environments: it rewrites the file, and states every script even when it is empty. */
export const codexEnvironment = (project: string): TomlFile => ({
  wants: [
    { table: 'setup', key: 'script', value: UP, kind: 'command' },
    { table: 'cleanup', key: 'script', value: DESTROY, kind: 'command' },
  ],
  preface: `version = 1\nname = ${JSON.stringify(project)}`,
  keepsEmpty: true,
})

/** Conductor, settings of a repository. */
export const conductorSettings: TomlFile = {
  wants: [
    { table: 'scripts', key: 'setup', value: UP, kind: 'command' },
    { table: 'scripts', key: 'archive', value: DESTROY, kind: 'command' },
  ],
}

/** worktrunk, hooks: tables of named commands. */
export const worktrunkHooks: TomlFile = {
  wants: [
    { table: 'post-start', key: 'penv', value: UP, kind: 'command', anyKey: true },
    { table: 'pre-remove', key: 'penv', value: DESTROY, kind: 'command', anyKey: true },
  ],
}

/** mise, environments. */
export const miseEnv: TomlFile = {
  wants: [{ table: 'env', key: '_.file', value: '.env.preview', kind: 'text' }],
}
