// What keeps an interpreter from reading a script as it is meant. Pure: judged before anything of it runs.

/** Why the script is not run, as a clause; undefined where it can be. */
export function findScriptFlaw(text: string): 'crlf' | 'bom' | undefined {
  if (/\r\n|^#!.*\r/.test(text)) return 'crlf'
  // The system looks for #! in the first two bytes, and would give the script to any shell.
  return text.startsWith('\uFEFF') ? 'bom' : undefined
}

export const SCRIPT_FLAWS = {
  crlf: 'has CRLF line ends, which its interpreter cannot read',
  bom: 'begins with a byte order mark, which hides its first line',
} as const

/** Keeps git from converting line ends again, and converts those that are there. */
export const KEEP_LF = 'echo "*.sh text eol=lf" >> .gitattributes && git add --renormalize .'
