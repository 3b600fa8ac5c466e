// Which of a repository's commands destroy data before or instead of what they are named for: drops, resets, flushes.
// In two worktrees that share a server such a command of one empties the other. Recognised by what is run, not by name.
import type { Evidence } from './facts.ts'
import type { RepoCommand } from './repo-commands.ts'

export interface DestructiveCommand {
  readonly name: string
  readonly folder: string
  readonly run: string
  /** The words that destroy. */
  readonly what: string
  /** Its name promises a set-up, a start or a migration, so that it is run without a second thought. */
  readonly isUnexpected: boolean
  readonly evidence: Evidence
}

const DROPS: readonly RegExp[] = [
  /\bprisma migrate reset\b/,
  /\bprisma db push\b[^\n;&|]*--(?:force-reset|accept-data-loss)\b/,
  /\bdrizzle-kit push\b[^\n;&|]*--force\b/,
  /\b(?:rails|rake)\b[^\n;&|]*\bdb:(?:drop|reset|purge|setup|schema:load|structure:load|migrate:reset|truncate_all|seed:replant)\b/,
  /\bartisan\b[^\n;&|]*\b(?:migrate:(?:fresh|refresh|reset)|db:wipe)\b/,
  /\bmix ecto\.(?:drop|reset)\b/,
  /\bsequelize(?:-cli)?\b[^\n;&|]*\bdb:(?:drop|migrate:undo:all)\b/,
  /\bknex\b[^\n;&|]*\bmigrate:rollback\b[^\n;&|]*--all\b/,
  /\bschema:drop\b/,
  /\bmikro-orm\b[^\n;&|]*\b(?:schema:fresh|migration:fresh|database:drop)\b/,
  /\bdoctrine:(?:database|schema):drop\b|\bdoctrine:fixtures:load\b(?![^\n;&|]*--append)/,
  /\bflyway(?::|\s[^\n;&|]*)clean\b|\bflywayClean\b/,
  /\bliquibase\b[^\n;&|]*\bdrop-?all\b/i,
  /\bdbmate\b[^\n;&|]*\bdrop\b/,
  /\bsqlx (?:database|db) (?:drop|reset)\b/,
  /\bdiesel database reset\b/,
  /\bsea-orm-cli migrate (?:fresh|refresh|reset)\b/,
  /\bmanage(?:\.py)?\b[^\n;&|]*\b(?:flush|reset_db)\b/,
  /\bdotnet ef database drop\b/,
  /\bmigrate\b[^\n;&|]*-(?:database|path|source)\b[^\n;&|]*\bdrop\b/,
  /\bgoose\b[^\n;&|]*\breset\b/,
  /\balembic\b[^\n;&|]*\bdowngrade\s+base\b/,
  /\bsupabase db reset\b/,
  /\bdropdb\b/,
  /\bDROP\s+(?:DATABASE|SCHEMA)\b/i,
  /\bdropDatabase\s*\(/,
  /\bFLUSHALL\b/i,
  /\bdocker[- ]compose\b[^\n;&|]*\bdown\b[^\n;&|]*\s(?:-v|--volumes)\b/,
  /\bdocker volume (?:rm|prune)\b/,
  /\brm\s+-\w+\s[^\n;&|]*\.(?:sqlite3?|db)\b/,
  /\bsynchronize\(true\)|\.sync\(\s*\{\s*force:\s*true/,
]

/** The words of a text that destroy data, or undefined. */
export function findDrop(text: string): string | undefined {
  for (const pattern of DROPS) {
    const match = pattern.exec(text)
    if (match !== null) return match[0].replace(/\s+/g, ' ').trim().slice(0, 80)
  }
  return undefined
}

export function findDestructiveCommands(commands: readonly RepoCommand[]): DestructiveCommand[] {
  return commands.flatMap(({ name, folder, run, body, evidence }) => {
    const what = findDrop(body)
    if (what === undefined) return []
    const isNamed =
      /drop|reset|clean|nuke|wipe|purge|destroy|fresh|teardown|down|flush|recreate|rebuild|refresh|undo|rollback/i.test(
        name,
      )
    return [{ name, folder, run, what, isUnexpected: !isNamed, evidence }]
  })
}
