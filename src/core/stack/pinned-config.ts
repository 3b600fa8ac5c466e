// Finds a database that a configuration names itself, so that no variable points a migration tool at another one: what
// it would migrate is the main checkout's. What is read from a variable, or from another module, is not pinned.
import { type FactFile, lineAt } from './facts.ts'

const LITERAL =
  /["'`](?:postgres(?:ql)?|postgis|mysql2?|mariadb|mongodb(?:\+srv)?|sqlserver)(?:\+\w+)?:\/\/[^"'`$]+["'`]|=\s*(?:jdbc:)?(?:postgres(?:ql)?|mysql|mariadb|sqlserver):[^\s$]+$|["']?\b(?:host|hostname|database|dbName)["']?\s*[:=]\s*["'][\w.-]+["']/m
const READS =
  /\benv\b|\benv[.[(!]|ENV\b|environ|getenv|get_env|fetch_env|\bconfig\(|use_env_variable|\$\{|dotenv|(?:import\s[^\n]*from|require\(|from)\s*["']?\.{1,2}\/|\bprocess\.|configService/

/** Sections of a configuration that a developer's run does not use. */
const OTHER_MODES = /["']?\b(?:staging|production|test)["']?\s*:\s*\{/

/** The line of a literal address in a text that reads nothing from elsewhere. */
export function findPinnedLine({ text }: FactFile): number | undefined {
  const others = text.search(OTHER_MODES)
  const own = others < 0 ? text : text.slice(0, others)
  if (READS.test(own)) return undefined
  const at = own.search(LITERAL)
  return at < 0 ? undefined : lineAt(text, at)
}

/** The same for the part of a file that speaks of the database: a section between a beginning and an end. */
export function findPinnedSection(
  file: FactFile,
  begins: RegExp,
  ends: RegExp,
  names: RegExp,
): number | undefined {
  const start = file.text.search(begins)
  if (start < 0) return undefined
  const rest = file.text.slice(start)
  const first = rest.indexOf('\n') + 1
  const length = first === 0 ? -1 : rest.slice(first).search(ends)
  const section = length < 0 ? rest : rest.slice(0, first + length)
  const at = section.search(names)
  return at < 0 || READS.test(section) ? undefined : lineAt(file.text, start + at)
}
