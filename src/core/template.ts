// Which template a new environment is cloned from. Pure: the inputs of this worktree and the templates of the
// ledger go in, the decision comes out.

import { hashOf } from './identity.ts'
import type { ProcessIdentity } from './runs.ts'

/** Hash by path of the files that shape the schema. */
export type TemplateInputs = Readonly<Record<string, string>>

export interface TemplateRecord {
  /** The database's name; no two builds ever share one. */
  name: string
  repo: string
  inputs: TemplateInputs
  /** Only a complete template is ever cloned: a build that was killed stays `building`. */
  state: 'building' | 'ready'
  builtAt: string
  usedAt: string
  builder?: ProcessIdentity
}

export type TemplateDecision =
  /** `isFresh`: no migration is newer than the template. */
  { kind: 'clone'; name: string; isFresh: boolean } | { kind: 'build' }

export const KEPT_TEMPLATES = 3

/**
 * The same inputs: clone, fresh. Else the largest template whose inputs all are among ours: clone, and the newer
 * migrations follow. Else (ours is older, or they diverge): build.
 */
export function decideTemplate(
  templates: readonly TemplateRecord[],
  repo: string,
  inputs: TemplateInputs,
): TemplateDecision {
  const size = Object.keys(inputs).length
  const usable = templates
    .filter(
      template =>
        template.repo === repo && template.state === 'ready' && isContained(template.inputs, inputs),
    )
    .sort(
      (a, b) =>
        Object.keys(b.inputs).length - Object.keys(a.inputs).length || b.usedAt.localeCompare(a.usedAt),
    )
  const [best] = usable
  return best === undefined
    ? { kind: 'build' }
    : { kind: 'clone', name: best.name, isFresh: Object.keys(best.inputs).length === size }
}

function isContained(inner: TemplateInputs, outer: TemplateInputs): boolean {
  return Object.entries(inner).every(([path, hash]) => Object.hasOwn(outer, path) && outer[path] === hash)
}

/** Templates of a repository beyond the most recently used ones; a build that goes on is not counted. */
export function findSurplusTemplates(templates: readonly TemplateRecord[], repo: string): TemplateRecord[] {
  return templates
    .filter(template => template.repo === repo && template.state === 'ready')
    .sort((a, b) => b.usedAt.localeCompare(a.usedAt))
    .slice(KEPT_TEMPLATES)
}

/** `penv_tpl_` and what tells this build from every other; adapters drop no template of another shape. */
export function composeTemplateName(repo: string, inputs: TemplateInputs, nonce: string): string {
  const content = hashOf(JSON.stringify(Object.entries(inputs).sort(([a], [b]) => (a < b ? -1 : 1))))
  return `penv_tpl_${hashOf(repo).slice(0, 6)}_${content.slice(0, 6)}_${hashOf(nonce).slice(0, 6)}`
}

/** The pathspecs of `.preview/template.inputs`: one a line, `#` starts a comment line. */
export function parseTemplateInputs(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('#'))
}
