// Composes servers.sh from what is known of each server, and says when it is needed at all.

import type { Stack } from '../stack.ts'
import { isPlain, type ServerLines, serverLines } from './init-servers.ts'
import type { Slice } from './init-slices.ts'
import type { InitSources } from './init-sources.ts'
import { scriptText } from './init-text.ts'
import { needsAccount } from './init-values.ts'

/** A script that asks the main checkout sources it. */
export const MAIN_FILE = '$PENV_ADAPTERS/main.sh'

/** @param isShared whether the main checkout uses the same servers. */
export function accountsOf(
  stack: Stack,
  slices: readonly Slice[],
  sources: InitSources,
  isShared: boolean,
): ServerLines {
  const all = slices
    .filter((slice, at) => slices.findIndex(other => other.kind === slice.kind) === at)
    .map(slice => {
      const server = sources.compose?.servers.find(one => one.kind === slice.kind)
      const lines = serverLines(slice.kind, server, stack.envKeys, sources, isShared)
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
  const asks = asksMain || accounts.lines.some(line => /\bmain_/.test(line))
  return scriptText(
    [
      '#!/bin/sh',
      '# servers.sh: where the shared servers are, and with which account. The other scripts source it.',
      "# The caller's environment goes first, then what the main checkout says, then the files that init read.",
      ...(asks
        ? [
            '# shellcheck disable=SC1091,SC2154 # main.sh is found when it runs, and sets main_host and its like',
          ]
        : []),
    ],
    asks ? [`. "${MAIN_FILE}"`, mainReads(sources)] : [],
    [...accounts.lines, `export ${accounts.variables.join(' ')}`],
  )
}

/** Where the main checkout's files are, for the functions of main.sh. */
export function mainReads(sources: InitSources): string {
  return `main_reads ${sources.mainFiles.join(' ')}`
}
