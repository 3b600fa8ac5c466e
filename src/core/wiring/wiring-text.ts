// The words and the program text that penv puts into other tools' files. Constants only; they must stay the
// same from run to run, because hosts trust a hook by the hash of its command line.

export const UP = 'penv up'
export const DESTROY = 'penv destroy --force'
export const SESSION = 'penv session'
/** Gemini CLI takes nothing but JSON from a hook's stdout (its hooks reference). */
export const SESSION_JSON = 'penv session --json'

export const INSTRUCTIONS = `## Preview environment

In a linked git worktree this repository runs in its own environment, kept by penv: ports, database, cache
index and files of its own. On the main checkout penv does nothing.

- Begin with \`penv up\`, and run it again after changes to migrations or \`.preview/\`; it is quick when nothing is to do.
- \`penv status\` shows what this worktree holds. The app reads \`.env.preview\`; \`penv exec -- <command>\` runs with it.
- Take ports only from \`penv get port <name>\`. Never pick one, and never write one into a file that is committed.
- Never use or change the main checkout's database, cache, ports or \`.env\`.
- Before claiming that something works, run \`penv verify\`; repair what fails, do not work around it.
- At the end, before the worktree is removed, run \`penv destroy\`.`

/** First line of the plugin; a file without it is somebody else's. */
export const PLUGIN_MARK = '// Made by penv init; penv init --uninstall removes it.'

/** opencode loads every file of .opencode/plugins; \`shell.env\` fires before each shell (its plugin page). */
export const OPENCODE_PLUGIN = [
  PLUGIN_MARK,
  "import { execFileSync } from 'node:child_process'",
  '',
  'const readVariables = cwd => {',
  '  try {',
  "    const stdio = ['ignore', 'pipe', 'ignore']",
  "    return JSON.parse(execFileSync('penv', ['env', '--json'], { cwd, stdio, timeout: 5000 }).toString())",
  '  } catch {',
  '    return {}',
  '  }',
  '}',
  '',
  'export const PenvPlugin = async ({ directory }) => ({',
  "  'shell.env': async (input, output) => {",
  '    Object.assign(output.env, readVariables(input.cwd ?? directory))',
  '  },',
  '})',
  '',
].join('\n')

/** git config syntax; a section may be repeated, and both keys hold several values (the runner's README). */
export const GTR_HOOKS = `[hooks]\n\tpostCreate = ${UP}\n\tpreRemove = ${DESTROY}`

/** direnv's stdlib: loads the file where there is one, which on the main checkout there is not. */
export const ENVRC_LINE = 'dotenv_if_exists .env.preview'
