// Blockers of data in the home directory, which all worktrees of a person share: in env examples and program text.
import { type Blocker, blockerAt } from './blocker.ts'
import { lineAt, type RepoFacts } from './facts.ts'
import { isOwnFile } from './signals-frameworks.ts'

/** A data file below the home directory is the same file for every worktree. */
export function homeBlockers(facts: RepoFacts): Blocker[] {
  const remedy = 'read the folder from a variable, and set it to PENV_DATA'
  const found: Blocker[] = []
  for (const env of facts.envFiles.values())
    for (const entry of env.entries)
      if (
        !entry.commented &&
        /(^|[:/=])(~|\$\{?HOME\}?)\/[\w./-]*(data|\.db|sqlite|uploads|storage)/.test(entry.value ?? '')
      )
        found.push(
          blockerAt(
            facts,
            'DATA_IN_HOME',
            { file: env.path, line: entry.line },
            `${entry.key} points into the home directory, where all environments meet`,
            remedy,
          ),
        )
  for (const file of facts.files.values()) {
    if (!isOwnFile(file.path) || !/\.(?:[cm]?[jt]s|py|go|rs|rb|java|kt|cs|exs?)$/.test(file.path)) continue
    if (!/home/i.test(file.text) && !file.text.includes('expanduser')) continue
    const match =
      /^(?!\s*(?:\/\/|#|\*)).*(?:homedir\(\)|expanduser\(|UserHomeDir\(\)|home_dir\(\)|Dir\.home|Path\.home\(\)|System\.user_home).*(?:\.db\b|\.sqlite3?\b|["'/](?:data|database|uploads|storage)["'/)])/m.exec(
        file.text,
      )
    if (match !== null)
      found.push(
        blockerAt(
          facts,
          'DATA_IN_HOME',
          { file: file.path, line: lineAt(file.text, match.index + 1) },
          'data lies in the home directory, where all environments meet',
          remedy,
        ),
      )
  }
  return found
}
