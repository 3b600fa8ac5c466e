// Runs the lifecycle scripts of one environment inside a recorded run: where they stand, what they are told,
// and how their failure is named.

import { existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readEnvVariables } from '../core/env-file.ts'
import { type EnvironmentRecord, lookUp, type Run } from '../core/ledger.ts'
import { composeScriptEnv } from '../core/script-env.ts'
import { type ScriptName, scriptFailed } from '../core/script-failure.ts'
import { PenvError } from '../errors.ts'
import { readEnvFile } from './env-file.ts'
import { findWorktreeOf } from './environments.ts'
import { findMainCheckout, readBranch, scrubGitVariables } from './git.ts'
import { type Interrupts, throwIfInterrupted } from './interrupts.ts'
import { readLedger } from './ledger-files.ts'
import {
  dataDirectory,
  ENV_FILE_NAME,
  environmentDirectory,
  findRealPath,
  type Here,
  isDirectory,
  isFile,
  makePrivateDirectory,
  SCRIPTS_DIRECTORY_NAME,
  snapshotRoot,
} from './paths.ts'
import { endLeftoverScript } from './process-group.ts'
import { requireReadableScripts, runScript } from './scripts.ts'
import { gatherAdapters, makeLauncher, newLogFile, scriptPidFile } from './snapshot.ts'

/** What lifecycle commands need beyond a place: this program, and a way to tell the story. */
export interface Machine extends Here {
  program: string
  shippedAdapters: string
  interactive: boolean
  note: (line: string) => void
  showOutput: (bytes: Uint8Array) => void
}

/** Where the scripts of an environment stand for one run. */
export interface Stage {
  record: EnvironmentRecord
  run: Run
  root: string
  scriptsDir: string
  gone: boolean
  interrupts: Interrupts
}

export interface ScriptOptions {
  seed?: boolean
  noMigrate?: boolean
  timeoutMs?: number | undefined
  template?: string
  isTemplateFresh?: boolean
  /** Words behind the script's name. */
  args?: readonly string[]
  /** Where others than this environment look for the process. */
  pidFile?: string
}

/** The worktree, or the snapshot in its place when that is gone. */
export function setStage(here: Here, record: EnvironmentRecord, run: Run, interrupts: Interrupts): Stage {
  const worktree = findWorktreeOf(record)
  const root = worktree ?? snapshotRoot(here.stateDir, record.id)
  const own = join(root, SCRIPTS_DIRECTORY_NAME)
  const kept = join(snapshotRoot(here.stateDir, record.id), SCRIPTS_DIRECTORY_NAME)
  // A branch without scripts may be checked out by now; the snapshot still knows how to clean up.
  const scriptsDir = isDirectory(own) ? own : kept
  return { record, run, root, scriptsDir, gone: worktree === undefined, interrupts }
}

/** The stage with the snapshot's scripts, where the branch that is checked out lacks one that `up` had. */
export function withKeptScript(here: Here, stage: Stage, name: ScriptName): Stage {
  const kept = join(snapshotRoot(here.stateDir, stage.record.id), SCRIPTS_DIRECTORY_NAME)
  const standIn = { ...stage, scriptsDir: kept }
  return !hasScript(stage, name) && hasScript(standIn, name) ? standIn : stage
}

/** Stops what a killed penv left running, and makes the directories that scripts rely on. */
export async function prepareStage(machine: Machine, stage: Stage): Promise<void> {
  const { id } = stage.record
  makePrivateDirectory(environmentDirectory(machine.stateDir, id))
  makePrivateDirectory(dataDirectory(machine.stateDir, id))
  if (await endLeftoverScript(scriptPidFile(machine.stateDir, id)))
    machine.note(`stopped the script that an ended penv had left running for ${id}`)
}

export function hasScript(stage: Stage, name: ScriptName): boolean {
  return isFile(join(stage.scriptsDir, `${name}.sh`))
}

/** All scripts are read before the first one runs. */
export function requireUsableScripts(stage: Stage, names: readonly ScriptName[]): void {
  requireReadableScripts(scriptFiles(stage, names))
}

/** Names of scripts that penv runs all the same, but nothing else would. */
export function listWithoutRunBit(stage: Stage, names: readonly ScriptName[]): string[] {
  return scriptFiles(stage, names)
    .filter(file => (statSync(file).mode & 0o111) === 0)
    .map(file => join(SCRIPTS_DIRECTORY_NAME, basename(file)))
}

function scriptFiles(stage: Stage, names: readonly ScriptName[]): string[] {
  return names.filter(name => hasScript(stage, name)).map(name => join(stage.scriptsDir, `${name}.sh`))
}

/** Runs one script to its end. Errors: the script's own code (PROVISION_FAILED …), INTERRUPTED. */
export async function runLifecycleScript(
  machine: Machine,
  stage: Stage,
  name: ScriptName,
  options: ScriptOptions,
): Promise<void> {
  const { record, interrupts } = stage
  throwIfStopped(stage)
  requireOwnDirectory(stage)
  const file = join(stage.scriptsDir, `${name}.sh`)
  const logFile = newLogFile(machine.stateDir, record.id, name)
  machine.note(`running ${SCRIPTS_DIRECTORY_NAME}/${name}.sh for ${record.id}`)
  const end = await runScript({
    file,
    args: options.args ?? [],
    cwd: stage.root,
    env: await composeEnv(machine, stage, options),
    logFile,
    pidFiles: [scriptPidFile(machine.stateDir, record.id), ...(options.pidFile ? [options.pidFile] : [])],
    interactive: machine.interactive,
    timeoutMs: options.timeoutMs,
    interrupts,
    onOutput: machine.showOutput,
  })
  throwIfStopped(stage)
  if (end.exitCode !== 0 || end.timedOut)
    throw scriptFailed({
      id: record.id,
      gone: stage.gone,
      name,
      file: `${SCRIPTS_DIRECTORY_NAME}/${name}.sh`,
      end,
      timeoutMs: options.timeoutMs,
      logFile,
    })
}

/** An empty or vanished directory would make "here" of it, and a script must never run in the main checkout. */
function requireOwnDirectory({ root, record }: Stage): void {
  if (root.startsWith('/') && isDirectory(root)) return
  throw new PenvError({
    code: 'SCRIPT_UNUSABLE',
    message: `no script was run for ${record.id}: its directory ${root} does not exist`,
    hint: `To see its state, run: penv list`,
    details: { id: record.id, root },
  })
}

async function composeEnv(
  machine: Machine,
  stage: Stage,
  options: ScriptOptions,
): Promise<Record<string, string>> {
  const { record, run, root, scriptsDir, gone } = stage
  const { stateDir } = machine
  const launcher = makeLauncher(stateDir, record.id, machine.program)
  return composeScriptEnv(scrubGitVariables(machine.env), await readForeignVariables(machine, record.id), {
    id: record.id,
    root,
    scriptsDir,
    // The git directory of a worktree that is gone may belong to its successor.
    branch: gone ? record.branch : readBranch(record.gitDir),
    bin: launcher,
    seed: options.seed === true,
    noMigrate: options.noMigrate === true,
    main: isDirectory(record.repo) ? (findMainCheckout(record.repo, machine.env) ?? '') : '',
    gone,
    data: findRealPath(dataDirectory(stateDir, record.id)) ?? dataDirectory(stateDir, record.id),
    adapters: gatherAdapters(stateDir, record.id, machine.shippedAdapters, scriptsDir),
    template: options.template ?? '',
    isTemplateFresh: options.isTemplateFresh === true,
    run: run.token,
    path: [join(environmentDirectory(stateDir, record.id), 'bin'), join(root, 'node_modules', '.bin')],
  })
}

/** Variables that the caller's shell got by sourcing another environment's file: they must not pass as ours. */
async function readForeignVariables({ env, stateDir }: Machine, id: string): Promise<Record<string, string>> {
  const sourced = env.PENV_ID
  if (!sourced || sourced === id) return {}
  const other = lookUp((await readLedger(stateDir)).environments, sourced)
  if (other === undefined) return {}
  const file = [join(other.root, ENV_FILE_NAME), join(snapshotRoot(stateDir, other.id), ENV_FILE_NAME)].find(
    candidate => existsSync(candidate),
  )
  const text = file === undefined ? undefined : readEnvFile(file)
  return text === undefined ? {} : Object.fromEntries(await readEnvVariables(text))
}

/** Before each step: a signal that has come ends the run here. */
export function throwIfStopped({ interrupts, record }: Stage): void {
  throwIfInterrupted(interrupts, `${record.id} keeps its allocations`, { id: record.id })
}
