// Blockers of how a repository is set up for worktrees: what git tracks, copies or leaves out of a new one.
import { quoteForShell } from '../shell-words.ts'
import { type Blocker, blockerAt } from './blocker.ts'
import { nameOf, type RepoFacts } from './facts.ts'

export function gitBlockers(facts: RepoFacts): Blocker[] {
  return [...trackedPreview(facts), ...worktreeInclude(facts), ...hooksPath(facts), ...crlfScripts(facts)]
}

function trackedPreview(facts: RepoFacts): Blocker[] {
  return [...(facts.tracked ?? [])]
    .filter(path => nameOf(path) === '.env.preview')
    .map(file => ({
      ...blockerAt(
        facts,
        'ENV_PREVIEW_TRACKED',
        { file },
        "git tracks it: every worktree starts with another environment's values, and its own would be committed",
        'take it out of the index; the file stays',
        'fail',
      ),
      run: `git rm --cached -- ${quoteForShell(file)}`,
    }))
}

/** Files that match are copied into new worktrees: .env.preview must not be one of them. */
function worktreeInclude(facts: RepoFacts): Blocker[] {
  return [...facts.files.values()]
    .filter(file => nameOf(file.path) === '.worktreeinclude')
    .flatMap(file => {
      let match: number | undefined
      for (const [index, raw] of file.text.split('\n').entries()) {
        const isNegated = raw.startsWith('!')
        if (matchesPreview(isNegated ? raw.slice(1) : raw)) match = isNegated ? undefined : index + 1
      }
      if (match === undefined) return []
      return blockerAt(
        facts,
        'WORKTREE_INCLUDE',
        { file: file.path, line: match },
        'this pattern copies .env.preview, and with it the values of another environment, into new worktrees',
        'add the line !.env.preview at the end',
      )
    })
}

/** gitignore's rules, for the one path .env.preview at the root. */
function matchesPreview(raw: string): boolean {
  const pattern = raw.replace(/\\#/, '#').trimEnd()
  if (pattern === '' || raw.startsWith('#') || pattern.endsWith('/')) return false
  const bare = pattern.replace(/^\//, '').replace(/^(\*\*\/)+/, '')
  if (bare.includes('/')) return false
  const source = bare
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replace(/\*+/g, '[^/]*')
    .replace(/\?/g, '[^/]')
    .replace(/\[!/g, '[^')
  try {
    return new RegExp(`^${source}$`).test('.env.preview')
  } catch {
    return false
  }
}

/** git runs no hooks, and says nothing, where a relative core.hooksPath names a folder that is not there. */
function hooksPath(facts: RepoFacts): Blocker[] {
  const path = facts.hooksPath
  if (path === undefined || path.startsWith('/') || path.startsWith('~')) return []
  const folder = path.replace(/^\.\//, '').replace(/\/+$/, '')
  const known = facts.tracked ?? new Set(facts.paths)
  if ([...known].some(file => file.startsWith(`${folder}/`) && nameOf(file) !== '.gitignore')) return []
  return [
    blockerAt(
      facts,
      'HOOKS_PATH',
      { file: '.git/config' },
      `core.hooksPath is ${path}, which git does not track: hooks do not run in a new worktree until it is generated there`,
      'start environments from the session hook of the agent, or by hand, rather than from a git hook',
    ),
  ]
}

function crlfScripts(facts: RepoFacts): Blocker[] {
  return [...facts.files.values()]
    .filter(file => /^\.preview\/([^/]+\/)*[^/]+\.sh$/.test(file.path) && file.hasCrlf === true)
    .map(file =>
      blockerAt(
        facts,
        'CRLF_SCRIPT',
        { file: file.path, line: 1 },
        'it has CRLF line ends, which no shell runs',
        'save it with LF, and add "*.sh text eol=lf" to .gitattributes',
        'fail',
      ),
    )
}
