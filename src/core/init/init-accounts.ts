// Composes servers.sh from what is known of each server, and says when it is needed at all.

import type { Stack } from '../stack.ts'
import { isPlain, type ServerLines, serverLines } from './init-servers.ts'
import type { Slice } from './init-slices.ts'
import type { InitSources } from './init-sources.ts'
import { saysFrom, scriptText } from './init-text.ts'
import { needsAccount } from './init-values.ts'

export function accountsOf(stack: Stack, slices: readonly Slice[], sources: InitSources): ServerLines {
  const all = slices
    .filter((slice, at) => slices.findIndex(other => other.kind === slice.kind) === at)
    .map(slice => {
      const server = sources.compose?.servers.find(one => one.kind === slice.kind)
      const lines = serverLines(slice.kind, server, stack.envKeys, sources)
      const isNeeded = slices.some(one => one.kind === slice.kind && needsAccount(one))
      return isNeeded || !isPlain(slice.kind, lines)
        ? lines
        : { lines: [], variables: [], questions: lines.questions }
    })
  return {
    lines: all.flatMap(one => one.lines),
    variables: all.flatMap(one => one.variables),
    questions: all.flatMap(one => one.questions),
  }
}

export function serversText(accounts: ServerLines, sources: InitSources, asksMain = false): string {
  return scriptText(
    [
      '#!/bin/sh',
      '# servers.sh: where the shared servers are, and with which account. The other scripts source it.',
      `# The caller's environment goes first${saysFrom(sources) === '' ? '' : `, then what stands in the files that init read`}.`,
    ],
    asksMain || accounts.lines.some(line => line.includes('of_main')) ? ofMainLines(sources.envFiles) : [],
    [...accounts.lines, `export ${accounts.variables.join(' ')}`],
  )
}

/** The function that servers.sh needs where a value stands in the main checkout's env file. */
function ofMainLines(envFiles: readonly string[]): string[] {
  const files = envFiles.map(file => `"$_main/${file}"`).join(' ')
  return [
    '# of_main KEY [DEFAULT]: what the main checkout says in its env file.',
    'of_main() {',
    '  _main=${PENV_MAIN:-$PENV_ROOT}',
    `  _said=$(cat ${files} 2>/dev/null | sed -n "s/^$1=//p" | tail -n 1 | tr -d "\\"'\\r")`,
    `  printf '%s\\n' "\${_said:-\${2:-}}"`,
    '}',
  ]
}
