// The pieces that all generated scripts are made of: the header, questions, here-documents, assignments.
// Everything a script says stands in one of the functions here or beside the decision that asks for it.

import type { InitSources } from './init-sources.ts'

/** Opens the one line that says what init could not know. doctor counts these. */
const QUESTION_MARK = '# QUESTION:'

export function question(text: string): string {
  return `${QUESTION_MARK} ${text.replace(/\s+/g, ' ').trim()}?`
}

/** The questions that stand in a text, without their mark; lines from 1. */
export function findQuestions(text: string): { line: number; question: string }[] {
  return text.split('\n').flatMap((raw, at) => {
    const line = raw.trim()
    if (!line.startsWith(QUESTION_MARK)) return []
    return [{ line: at + 1, question: line.slice(QUESTION_MARK.length).trim() }]
  })
}

/** The first lines, which are the script's help. `sources` says that it reads files found at run time. */
export function header(about: readonly string[], sources: readonly string[] = []): string[] {
  const directive =
    sources.length === 0 ? [] : ['# shellcheck disable=SC1091 # these files are found when it runs']
  return [
    '#!/bin/sh',
    ...about.map(line => `# ${line}`),
    ...directive,
    'set -eu',
    ...sources.map(file => `. "${file}"`),
  ]
}

/** Joins blocks with an empty line between them. */
export function scriptText(...blocks: readonly (readonly string[])[]): string {
  return `${blocks
    .filter(block => block.length > 0)
    .map(block => block.join('\n'))
    .join('\n\n')}\n`
}

/**
 * `penv env` through stdin, since the arguments of a process can be seen by others.
 * @param passed keys that are the main checkout's
 */
export function envBlock(
  values: readonly (readonly [key: string, value: string])[],
  passed: readonly string[] = [],
): string[] {
  if (values.length === 0 && passed.length === 0) return []
  return [
    'penv env <<EOT',
    ...values.map(([key, value]) => `${key}=${value}`),
    ...(passed.length === 0 ? [] : [`$(main_pairs ${passed.join(' ')})`]),
    'EOT',
  ]
}

/** Assignments whose variable is used, in the text or by an assignment that is kept. */
export function usedAssignments(lines: readonly string[], text: string): string[] {
  const kept: string[] = []
  let seen = text
  for (const line of [...lines].reverse()) {
    const name = /^(?:export )?(\w+)=/.exec(line)?.[1]
    if (name !== undefined && !new RegExp(`\\$\\{?${name}\\b`).test(seen)) continue
    kept.unshift(line)
    seen += `\n${line}`
  }
  return kept
}

export function quoteWord(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Where the values of a generated file come from, for its header. */
export function saysFrom(sources: InitSources): string {
  const files = [...(sources.compose?.files ?? []), ...sources.exampleFiles]
  return files.length === 0 ? '' : ` from ${files.slice(0, 3).join(', ')}`
}
