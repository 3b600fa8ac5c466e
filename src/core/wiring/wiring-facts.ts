// What is known of a repository before its wiring is planned, and what in it speaks for an integration.
// Plain data and questions to it; the host gathers it, and nothing here decides what is written.

/** What is known of a repository and its machine; paths are relative to the worktree's root, with `/`. */
export interface WiringFacts {
  files: ReadonlyMap<string, string>
  directories: ReadonlySet<string>
  /** Names of programs on PATH. */
  commands: ReadonlySet<string>
  /** Paths that cannot be edited: links out of the repository, text that is not UTF-8. */
  problems?: ReadonlyMap<string, FileProblem>
  /** Paths that are links within the repository, with the path that they lead to. */
  links?: ReadonlyMap<string, string>
}

export interface FileProblem {
  status: 'foreign' | 'invalid'
  reason: string
}

export interface Evidence {
  files?: readonly string[]
  directories?: readonly string[]
  commands?: readonly string[]
}

/** Whether something is at `path`, be it usable or not. */
export function isThere(facts: WiringFacts, path: string): boolean {
  return facts.files.has(path) || facts.problems?.has(path) === true
}

/** The first of the evidence that these facts hold, in words. */
export function findEvidence(facts: WiringFacts, evidence: Evidence): string | undefined {
  const file = evidence.files?.find(name => isThere(facts, name))
  const directory = evidence.directories?.find(name => facts.directories.has(name))
  const command = evidence.commands?.find(name => facts.commands.has(name))
  return file ?? (directory && `${directory}/`) ?? (command && `${command} on PATH`)
}
