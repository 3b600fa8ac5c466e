// Parses JSON as people keep it in configuration files: with comments and trailing commas. For reading only;
// a file that is to be edited goes through the editor of its format.

/** Throws a SyntaxError where the text is no JSON even without its comments. */
export function parseLooseJson(text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return JSON.parse(withoutComments(text))
  }
}

function withoutComments(text: string): string {
  let plain = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    if (char === '"') {
      let end = at + 1
      while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
      plain += text.slice(at, end + 1)
      at = end
    } else if (char === '/' && text[at + 1] === '/') {
      while (at + 1 < text.length && text[at + 1] !== '\n') at++
    } else if (char === '/' && text[at + 1] === '*') {
      const end = text.indexOf('*/', at + 2)
      at = end < 0 ? text.length : end + 1
    } else if (
      char === ',' &&
      /^(\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*[}\]]/.test(text.slice(at + 1, at + 2_000))
    ) {
    } else plain += char
  }
  return plain
}
