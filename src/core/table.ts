// Plain tables for terminals and pipes. Pure.

/** Columns padded to their widest cell; the last one is left as it is. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length)
    })
  return rows
    .map(row =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** A path below the home directory, as a person writes it. */
export function shortenHome(path: string, home: string | undefined): string {
  return home && home !== '/' && (path === home || path.startsWith(`${home}/`))
    ? `~${path.slice(home.length)}`
    : path
}

/** Text on lines of at most `width` characters, where no word is longer: `first` begins it, `others` the lines below. */
export function wrapText(text: string, first: string, others: string, width: number): string {
  const lines: string[] = []
  let line = first
  let isFresh = true
  for (const word of text.split(' ')) {
    if (!isFresh && line.length + 1 + word.length > width) {
      lines.push(line)
      line = others + word
    } else line += isFresh ? word : ` ${word}`
    isFresh = false
  }
  return [...lines, line].join('\n')
}
