// Finds migrate-mongo by its configuration; see core/migration-tool.ts for what a finding holds.
import { folderOf } from './facts.ts'
import {
  type FoundTool,
  inFolder,
  type MigrationContext,
  pinnedQuestion,
  relativeTo,
  shellWord,
} from './migration-tool.ts'

const MANIFEST = /(^|\/)package\.json$/

export function findMigrateMongo(context: MigrationContext): FoundTool[] {
  return context.filePaths
    .filter(path => /(^|\/)migrate-mongo-config\.[cm]?[jt]s$/.test(path))
    .map(config => {
      const folder = context.projectOf(config, MANIFEST)
      const written = /migrationsDir:\s*["'`]([^"'`]+)/.exec(context.text(config))?.[1] ?? 'migrations'
      const directory = inFolder(folder, written)
      const isStandard = folderOf(config) === folder && config.endsWith('-config.js')
      const flag = isStandard ? '' : ` -f ${shellWord(relativeTo(folder, config))}`
      // It wins over the name in the URL.
      const named = context.at(config, /^\s*databaseName:\s*["'`]/m)
      return {
        tool: 'migrate-mongo',
        ecosystem: 'node',
        folder,
        directory: context.facts.paths.some(path => path.startsWith(`${directory}/`)) ? directory : undefined,
        config,
        command: `${context.exec('node', folder)}migrate-mongo up${flag}`,
        ...(/databaseName:/.test(named.text ?? '')
          ? { question: pinnedQuestion('migrate-mongo', config, named.line) }
          : {}),
        applies: /\bmigrate-mongo\b[^\n;&|]*\bup\b/,
        database: 'mongodb',
        evidence: [context.at(config, /migrationsDir|mongodb\s*:/)],
      }
    })
}
