// Whether a repository's command names its database itself, so that an environment's own would not be used: a literal
// URL, a sourced .env, variables that a Makefile sets. What a Makefile sets can be given another value in the call.
import type { RepoCommand } from './repo-commands.ts'

const LITERAL_URL =
  /\b(?:postgres(?:ql)?|postgis|mysql2?|mariadb|mongodb(?:\+srv)?|cockroachdb|sqlserver|clickhouse|jdbc:\w+)(?:\+\w+)?:\/\/[^\s"'`$]/i
const LOADS_ENV =
  /(?:^|[\s;&(])(?:source|\.)\s+\S*\.env\b|\benv \$\(|\bexport \$\(|\bdotenv\b[^\n;&|]*\s(?:-o|--override)\b|\bdotenvx\b[^\n;&|]*--overload\b|\s--env-file[= ]\S/m
const URL_NAME =
  /(^|_)(DATABASE|DB|POSTGRES\w*|PG|MYSQL|MIGRATION\w*|GOOSE)\w*(URL|URI|DSN|STRING|DBSTRING|CONN\w*)$|^(DSN|DBSTRING|CONN_STR|CONNECTION_STRING)$/i
const NAME_NAME = /(^|_)(DB|DATABASE|POSTGRES|PG|MYSQL)_?(NAME|DB|DATABASE)$/i

/** True where an environment cannot choose the database that the command works on, or the command fails there. */
export function isPinned(command: RepoCommand): boolean {
  if (command.needsFile !== undefined) return true
  if (overridesOf(command).length > 0) return false
  const said = command.chain.replace(/\$\{\w+:?-[^}]*\}/g, '')
  return LITERAL_URL.test(said) || LOADS_ENV.test(said)
}

/** What has to stand in the call of a make target for it to work on another database: `DB_URL="$url"`. */
export function overridesOf(command: RepoCommand): string[] {
  const urls = command.fixed.filter(name => URL_NAME.test(name))
  if (urls.length > 0) return urls.map(name => `${name}="$url"`)
  return command.fixed.filter(name => NAME_NAME.test(name)).map(name => `${name}="$name"`)
}
