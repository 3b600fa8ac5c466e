// Hands variables to the later shell commands of an agent: lines of export, appended to the file that the agent
// names. Claude Code: CLAUDE_ENV_FILE, https://code.claude.com/docs/en/hooks

import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** Appends the lines that are not there yet; a session that resumes must not pile them up. */
export function appendExports(file: string, exports: string): void {
  const present = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (exports === '' || present.includes(exports)) return
  const gap = present === '' || present.endsWith('\n') ? '' : '\n'
  appendFileSync(file, `${gap}${exports}`, { mode: 0o600 })
}
