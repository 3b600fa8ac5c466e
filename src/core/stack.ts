// Joins all findings about a repository into one description: what doctor shows and init writes from.
import type { Blocker } from './stack/blocker.ts'
import { findBlockers } from './stack/blockers.ts'
import { type EnvKey, findEnvKeys } from './stack/env-keys.ts'
import { type Problem, type RepoFacts, withoutScripts } from './stack/facts.ts'
import { makeMigrationContext } from './stack/migration-tool.ts'
import { findMigrations, type Migration } from './stack/migrations.ts'
import { findPackageManagers, type PackageManager } from './stack/package-manager.ts'
import { findRepoCommands } from './stack/repo-commands.ts'
import { scopeOf } from './stack/scope.ts'
import { findServices, type Service } from './stack/services.ts'
import { findStarts, type Start } from './stack/starts.ts'
import { type Tiering, tierOfAll, tierOfService } from './stack/tier.ts'
import { findWorkspaces, type Workspaces } from './stack/workspaces.ts'

export interface StackService extends Service {
  readonly tier: Tiering['tier']
  readonly tierReason: string
}

export interface Stack {
  readonly services: readonly StackService[]
  readonly tier: Tiering
  readonly migrations: readonly Migration[]
  readonly starts: readonly Start[]
  readonly envKeys: readonly EnvKey[]
  readonly blockers: readonly Blocker[]
  readonly packageManagers: readonly PackageManager[]
  readonly workspaces: Workspaces
  readonly problems: readonly Problem[]
  /** Facts are not complete: a bound was met while reading. */
  readonly bounded: boolean
}

export function describeStack(facts: RepoFacts): Stack {
  const program = withoutScripts(facts)
  const services = findServices(program)
  const commands = findRepoCommands(program)
  const starts = findStarts(program, commands)
  const envKeys = findEnvKeys(program, services)
  return {
    services: services.map(service => {
      const { tier, reason } = tierOfService(service)
      return { ...service, tier, tierReason: reason }
    }),
    tier: tierOfAll(services),
    migrations: findMigrations(program, makeMigrationContext(program, commands)),
    starts,
    envKeys,
    blockers: findBlockers(facts, program, { services, starts, envKeys }),
    packageManagers: findPackageManagers(program),
    workspaces: findWorkspaces(program),
    // Tests and examples keep broken files on purpose.
    problems: facts.problems.filter(({ file }) => !['test', 'aside'].includes(scopeOf(file))),
    bounded: facts.bounded,
  }
}
