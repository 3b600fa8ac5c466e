// Adds one command to a shell command line that somebody else wrote, and takes it out again.
// It must never touch the rest of the line; where nothing can be added safely it says why.

/** How often `command` (its first two words, `penv up`) is called in a command line, comments aside. */
export function countCommand(line: string, command: string): number {
  const verb = command.split(' ').slice(0, 2).join(' ')
  const calls = new RegExp(`(?<=^|[\\s;&|(])(?:[^\\s;&|(]*/)?${verb}(?=$|[\\s;&|)])`, 'g')
  return withoutComments(line).match(calls)?.length ?? 0
}

/**
 * Whether a command line is this command and nothing else; flags may differ. One that begins or ends in a blank
 * was there before penv was added to it.
 */
export function isOnlyCommand(line: string, command: string): boolean {
  return countCommand(line, command) === 1 && /^\S*penv( [\w=./-]+)+$/.test(line)
}

function withoutComments(line: string): string {
  return line.replace(/(^|\s)#.*$/gm, '$1')
}

export type Suffix = { suffix: string } | { refused: string }

/** What to append to `line` so that it also runs `command`, after what is there has succeeded. */
export function suffixFor(line: string, command: string): Suffix {
  // The blank before a command in an empty string is how removal knows that the string was there.
  if (line.trim() === '') return line.endsWith('\n') ? { suffix: `${command}\n` } : { suffix: ` ${command}` }
  const lastLine = line.trimEnd().split(/\r?\n/).at(-1) ?? ''
  if (/^\s*(exit|exec)\b/.test(lastLine)) return { refused: 'its last line leaves the shell' }
  if (line.includes('\n')) {
    if (/(\\|&&|\|)$/.test(lastLine)) return { refused: 'its last line is not complete' }
    return { suffix: line.endsWith('\n') ? `${command}\n` : `\n${command}` }
  }
  if (/(\\|&|;|\|)\s*$/.test(line)) return { refused: `it ends in "${line.trimEnd().slice(-1)}"` }
  if (withoutComments(line) !== line) return { refused: 'it ends in a comment' }
  if (line.includes('<<')) return { refused: 'it holds a here-document' }
  return { suffix: ` && ${command}` }
}

/** The suffix that `suffixFor` gave this line, or undefined when the command stands there in another way. */
export function findSuffix(line: string, command: string): string | undefined {
  const suffixes = [` && ${command}`, `\n${command}`, `${command}\n`, ` ${command}`]
  return suffixes.find(suffix => {
    if (!line.endsWith(suffix)) return false
    const made = suffixFor(line.slice(0, -suffix.length), command)
    return 'suffix' in made && made.suffix === suffix
  })
}
