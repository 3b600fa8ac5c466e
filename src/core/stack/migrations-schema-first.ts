// Finds Prisma and Drizzle, whose migrations are made from a schema: without a folder of migrations the schema itself
// is pushed. See core/migration-tool.ts for what a finding holds.
import { folderOf, nameOf, valueAt } from './facts.ts'
import {
  DRIVER_KIND,
  type FoundTool,
  foldersWith,
  inFolder,
  type MigrationContext,
  relativeTo,
  shellWord,
} from './migration-tool.ts'

const MANIFEST = /(^|\/)package\.json$/

export function findPrisma(context: MigrationContext): FoundTool[] {
  const schemas = context.paths.filter(path => /\.prisma$/.test(path))
  const seen = new Set<string>()
  return schemas.flatMap(path => {
    const text = context.text(path)
    const source = /datasource\s+\w+\s*\{([^}]*)\}/.exec(text)?.[1]
    // A schema of many files has its datasource in one of them; files that were not read cannot be the first.
    if (source === undefined && !(nameOf(path) === 'schema.prisma' && text === '')) return []
    const folder = context.projectOf(path, MANIFEST)
    const config = context.paths.find(
      one => /(^|\/)prisma\.config\.[cm]?[jt]s$/.test(one) && folderOf(one) === folder,
    )
    const configText = config === undefined ? '' : context.text(config)
    const manifest = context.facts.json.get(inFolder(folder, 'package.json'))
    const declared =
      valueAt(manifest, 'prisma', 'schema') ??
      /schema:\s*(?:path\.join\()?["'`]([^"'`]+)/.exec(configText)?.[1]
    const isFolder =
      schemas.filter(one => folderOf(one) === folderOf(path)).length > 1 &&
      /(^|\/)schema$/.test(folderOf(path))
    const place = isFolder ? folderOf(path) : path
    if (seen.has(place)) return []
    seen.add(place)
    const setFolder = /migrations:\s*\{[^}]*path:\s*["'`]([^"'`]+)/.exec(configText)?.[1]
    const candidates = [
      ...(setFolder === undefined ? [] : [inFolder(folder, setFolder)]),
      inFolder(folderOf(path), 'migrations'),
      ...(isFolder ? [inFolder(folderOf(folderOf(path)), 'migrations')] : []),
    ]
    const directory = candidates.find(one => context.paths.some(file => file.startsWith(`${one}/`)))
    const provider = /provider\s*=\s*"(\w+)"/.exec(source ?? '')?.[1] ?? ''
    const standard = ['prisma/schema.prisma', 'schema.prisma', 'prisma/schema']
    const written = relativeTo(folder, place)
    const flag = standard.includes(written) || declared !== undefined ? '' : ` --schema ${shellWord(written)}`
    const exec = context.exec('node', folder)
    const hasSeed = valueAt(manifest, 'prisma', 'seed') !== undefined || /\bseed\s*:/.test(configText)
    return [
      {
        tool: 'prisma',
        ecosystem: 'node',
        folder,
        directory,
        config: config ?? path,
        command: `${exec}prisma ${directory === undefined ? 'db push' : 'migrate deploy'}${flag}`,
        seed: hasSeed ? `${exec}prisma db seed` : undefined,
        applies: directory === undefined ? /\bprisma db push\b/ : /\bprisma migrate deploy\b/,
        schema: [place],
        database: DRIVER_KIND[provider],
        evidence: [context.at(path, /datasource\s/)],
      },
    ]
  })
}

export function findDrizzle(context: MigrationContext): FoundTool[] {
  const configs = context.filePaths.filter(path =>
    /(^|\/)drizzle[\w.-]*\.config[\w.-]*\.[cm]?[jt]s$|(^|\/)drizzle\.config\.json$/.test(path),
  )
  const found = configs.map(config => {
    const folder = context.projectOf(config, MANIFEST)
    const text = context.text(config)
    const out = /\bout:\s*["'`]([^"'`]+)/.exec(text)?.[1] ?? 'drizzle'
    const directory = inFolder(folder, out)
    const isThere = context.facts.paths.some(path => path.startsWith(`${directory}/`))
    const schema = /\bschema:\s*\[?\s*["'`]([^"'`]+)/.exec(text)?.[1]
    const standard = /^drizzle\.config\.[jt]s$/.test(relativeTo(folder, config))
    const flag = standard ? '' : ` --config ${shellWord(relativeTo(folder, config))}`
    return {
      tool: 'drizzle',
      ecosystem: 'node',
      folder,
      directory: isThere ? directory : undefined,
      config,
      command: `${context.exec('node', folder)}drizzle-kit ${isThere ? 'migrate' : 'push'}${flag}`,
      applies: isThere ? /\bdrizzle-kit migrate\b|drizzle-orm\/[\w-]+\/migrator/ : /\bdrizzle-kit push\b/,
      schema: schema === undefined ? [] : [inFolder(folder, schema)],
      database: DRIVER_KIND[/\b(?:dialect|driver):\s*["'`]([\w-]+)/.exec(text)?.[1] ?? ''],
      evidence: [context.at(config, /\b(out|dialect|schema):/)],
    } satisfies FoundTool
  })
  const covered = new Set(found.flatMap(one => one.directory ?? []))
  for (const [meta, journal] of foldersWith(context, /\/meta\/_journal\.json$/)) {
    const directory = folderOf(meta)
    const folder = context.projectOf(directory, MANIFEST)
    if (covered.has(directory) || found.some(one => one.folder === folder)) continue
    found.push({
      tool: 'drizzle',
      ecosystem: 'node',
      folder,
      directory,
      config: '',
      command: '',
      applies: /\bdrizzle-kit migrate\b|drizzle-orm\/[\w-]+\/migrator/,
      schema: [],
      database: undefined,
      evidence: [context.at(journal, 'dialect')],
    })
  }
  return found.map(one => (one.config === '' ? { ...one, config: undefined, command: undefined } : one))
}
