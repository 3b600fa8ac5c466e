// The environment of lifecycle scripts. Pure: what to keep of the caller's, and what the contract adds.

/** Settings of penv itself, which a nested penv must share. */
const OWN_SETTINGS = new Set(['PENV_HOME', 'PENV_NAMESPACE'])

export interface ScriptVariables {
  id: string
  root: string
  /** `.preview` in use. */
  scriptsDir: string
  branch: string
  bin: string
  seed: boolean
  noMigrate: boolean
  main: string
  gone: boolean
  data: string
  adapters: string
  template: string
  isTemplateFresh: boolean
  run: string
  /** Directories that come first on PATH. */
  path: readonly string[]
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * @param caller the environment of whoever called penv, without git's location variables
 * @param foreign variables of another environment's `.env.preview` that the caller may have sourced
 */
export function composeScriptEnv(
  caller: Env,
  foreign: Readonly<Record<string, string>>,
  own: ScriptVariables,
): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [key, value] of Object.entries(caller)) {
    if (value === undefined) continue
    if (key.startsWith('PENV_') && !OWN_SETTINGS.has(key)) continue
    if (key !== 'PATH' && Object.hasOwn(foreign, key) && foreign[key] === value) continue
    kept[key] = value
  }
  return {
    ...kept,
    PATH: [...own.path, kept.PATH || '/usr/local/bin:/usr/bin:/bin'].join(':'),
    PENV_ID: own.id,
    PENV_ROOT: own.root,
    PENV_DIR: own.scriptsDir,
    PENV_BRANCH: own.branch,
    PENV_BIN: own.bin,
    PENV_SEED: own.seed ? '1' : '',
    PENV_NO_MIGRATE: own.noMigrate ? '1' : '',
    PENV_MAIN: own.main,
    PENV_GONE: own.gone ? '1' : '',
    PENV_DATA: own.data,
    PENV_ADAPTERS: own.adapters,
    PENV_TEMPLATE: own.template,
    PENV_TEMPLATE_FRESH: own.isTemplateFresh ? '1' : '',
    PENV_RUN: own.run,
    PENV_CONTRACT: '1',
  }
}

export interface Interpreter {
  command: string
  args: string[]
}

/** What the first line of a script asks for; `/bin/sh` without a shebang. The rest of a shebang is one argument, as in execve(2). */
export function parseShebang(text: string): Interpreter {
  const match = /^#![ \t]*(\S+)(?:[ \t]+([^\n]*))?/.exec(text)
  const command = match?.[1]
  if (command === undefined) return { command: '/bin/sh', args: [] }
  const rest = match?.[2]?.trim() ?? ''
  return { command, args: rest === '' ? [] : [rest] }
}
