// Reads the targets of a Makefile and the recipes of a justfile: names, lines, what they do, and which variables
// stand in them. It expands simple variables and runs no function, so what is computed stays as it is written.
import { type FactFile, type RepoFacts, resolveFrom } from './facts.ts'

export interface MakeTarget {
  readonly name: string
  readonly line: number
  /** Recipe lines with the file's own variables in place. */
  readonly recipe: string
  /** Targets that are made first. */
  readonly needs: readonly string[]
  /** Variables of the recipe that the file sets itself, so that the environment's value does not count. */
  readonly fixed: readonly string[]
}

export interface MakeVariable {
  readonly value: string
  readonly line: number
  /** `?=`: the environment's value wins. */
  readonly isDefault: boolean
}

const ASSIGNMENT = /^(?:export\s+|override\s+)*([A-Za-z_][\w.-]*)\s*(\?|::?|!|\+)?=\s*(.*)$/
const RULE = /^([A-Za-z0-9_.%/-][\w.%/ -]*?)\s*::?(?!=)\s*([^=#;]*)(?:;\s*(.*))?(?:#.*)?$/

/** Lines with their continuations, and the number of the first. */
function logicalLines(text: string): { text: string; line: number }[] {
  const lines: { text: string; line: number }[] = []
  let isContinued = false
  for (const [at, raw] of text.split('\n').entries()) {
    const part = raw.replace(/\s*\\$/, '')
    const last = lines.at(-1)
    if (isContinued && last !== undefined) last.text += ` ${part.trim()}`
    else lines.push({ text: part, line: at + 1 })
    isContinued = part !== raw
  }
  return lines
}

export function readMakeVariables(text: string): Map<string, MakeVariable> {
  const variables = new Map<string, MakeVariable>()
  for (const { text: line, line: number } of logicalLines(text)) {
    const match = line.startsWith('\t') ? null : ASSIGNMENT.exec(line)
    if (match === null) continue
    const value = (match[3] as string).replace(/\s+#.*$/, '').trim()
    variables.set(match[1] as string, { value, line: number, isDefault: match[2] === '?' })
  }
  return variables
}

export function readMakeTargets({ text }: FactFile): MakeTarget[] {
  const variables = readMakeVariables(text)
  const includesEnv = /^-?s?include\s.*\.env/m.test(text)
  const isFixed = (name: string) => {
    const variable = variables.get(name)
    return variable === undefined ? includesEnv : !variable.isDefault
  }
  const rules: { names: string[]; line: number; needs: string[]; lines: string[] }[] = []
  for (const { text: line, line: number } of logicalLines(text)) {
    if (line.startsWith('\t')) {
      rules.at(-1)?.lines.push(line.trim().replace(/^[@+-]+/, ''))
      continue
    }
    const rule = line.startsWith('#') || ASSIGNMENT.test(line) ? null : RULE.exec(line)
    if (rule === null) continue
    rules.push({
      names: (rule[1] as string).split(/\s+/).filter(name => !/^\.|%/.test(name)),
      line: number,
      needs: (rule[2] as string).split(/\s+/).filter(Boolean),
      lines: rule[3] === undefined ? [] : [rule[3]],
    })
  }
  return rules.flatMap(rule => {
    const recipe = rule.lines.join('\n')
    const fixed = [...new Set(usedInside(variablesOf(recipe), variables))].filter(isFixed)
    return rule.names.map(name => ({
      name,
      line: rule.line,
      recipe: expandMake(recipe, variables),
      needs: rule.needs,
      fixed,
    }))
  })
}

function variablesOf(text: string): string[] {
  return [...text.matchAll(/\$[({](\w+)[)}]/g)].map(match => match[1] as string)
}

/** A variable's value may hold others; the one that is overridden on the command line is the innermost. */
function usedInside(
  names: readonly string[],
  variables: ReadonlyMap<string, MakeVariable>,
  depth = 0,
): string[] {
  if (depth > 4) return []
  return names.flatMap(name => [
    name,
    ...usedInside(variablesOf(variables.get(name)?.value ?? ''), variables, depth + 1),
  ])
}

/** Puts the file's own variables in place; `$$` is a dollar sign, what is not known stays. */
export function expandMake(text: string, variables: ReadonlyMap<string, MakeVariable>, depth = 0): string {
  return text.replace(/\$\$|\$[({](\w+)[)}]/g, (whole, name?: string) => {
    if (whole === '$$') return '$'
    const value = name === undefined ? undefined : variables.get(name)?.value
    return value === undefined || depth > 4 ? whole : expandMake(value, variables, depth + 1)
  })
}

/** Recipes of a justfile, which have the same shape with other words. */
export function readJustRecipes({ text }: FactFile): MakeTarget[] {
  const lines = text.split('\n')
  const variables = new Map<string, MakeVariable>()
  const recipes: { name: string; line: number; needs: string[]; lines: string[] }[] = []
  let current: (typeof recipes)[number] | undefined
  for (const [at, line] of lines.entries()) {
    const assigned = /^(?:export\s+)?(\w+)\s*:=\s*["']?([^"'\n]*)["']?/.exec(line)
    if (assigned !== null)
      variables.set(assigned[1] as string, { value: assigned[2] as string, line: at + 1, isDefault: false })
    else if (/^[ \t]+\S/.test(line)) current?.lines.push(line.trim().replace(/^[@-]+/, ''))
    else {
      const rule = /^@?([A-Za-z_][\w-]*)(?:\s+[^:]*)?:(?!=)\s*([^#]*)/.exec(line)
      if (rule === null) continue
      current = {
        name: rule[1] as string,
        line: at + 1,
        needs: (rule[2] as string).split(/[\s&()]+/).filter(Boolean),
        lines: [],
      }
      recipes.push(current)
    }
  }
  return recipes.map(({ name, line, needs, lines: own }) => ({
    name,
    line,
    needs,
    fixed: [],
    recipe: own
      .join('\n')
      .replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, key: string) => variables.get(key)?.value ?? whole),
  }))
}

/** `include .env` without a dash: make stops where the file is not there. */
export function findMissingInclude(facts: RepoFacts, { path, text }: FactFile): string | undefined {
  const file = /^include\s+(\S*\.env\S*)/m.exec(text)?.[1]
  const target = file === undefined ? undefined : resolveFrom(path, file)
  const isKept =
    target !== undefined && (facts.tracked?.has(target) ?? facts.envFiles.get(target)?.kind === 'committed')
  return target === undefined || isKept ? undefined : target
}
