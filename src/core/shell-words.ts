// Text for a POSIX shell: words in the commands that messages suggest, and lines for `eval`.

/** A word that the shell reads back as `text`, quoted only where needed. */
export function quoteForShell(text: string): string {
  return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
