// Builds, finds and drops the templates of a repository by its `bootstrap.sh`. One build at a time per
// repository: the ledger's entry of a build is its lock, decided like that of a run.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Ledger, lookUp, withEntry, withoutEntry } from '../core/ledger.ts'
import { decideLiveness } from '../core/runs.ts'
import {
  composeTemplateName,
  decideTemplate,
  findSurplusTemplates,
  type TemplateRecord,
} from '../core/template.ts'
import { PenvError } from '../errors.ts'
import { changeLedger, readLedger } from './ledger-files.ts'
import {
  hasScript,
  type Machine,
  requireUsableScripts,
  runLifecycleScript,
  type Stage,
  throwIfStopped,
} from './lifecycle.ts'
import { makePrivateDirectory } from './paths.ts'
import { endLeftoverScript } from './process-group.ts'
import { identifySelf, readStartTime } from './processes.ts'
import { hashTemplateInputs } from './template-inputs.ts'

const BUILD_POLL_MS = 100

export interface ChosenTemplate {
  name: string
  isFresh: boolean
  /** Whether this call built it. */
  built: boolean
}

export interface TemplateOptions {
  timeoutMs?: number | undefined
  /** Builds anew although a template would do. */
  rebuild?: boolean
  /** Takes over a build of which nothing can be known: on another host, or in another pid namespace. */
  force: boolean
  /** False: clone if there is something to clone, but build nothing. */
  mayBuild: boolean
}

/** The template to clone for this stage, built first where none will do. Errors: BOOTSTRAP_FAILED, INTERRUPTED, GIT_FAILED. */
export async function obtainTemplate(
  machine: Machine,
  stage: Stage,
  options: TemplateOptions,
): Promise<ChosenTemplate | undefined> {
  if (!hasScript(stage, 'bootstrap')) return undefined
  requireUsableScripts(stage, ['bootstrap'])
  const { repo } = stage.record
  const inputs = hashTemplateInputs(machine, stage)
  const claim: TemplateRecord = {
    name: composeTemplateName(repo, inputs, randomBytes(12).toString('hex')),
    repo,
    inputs,
    state: 'building',
    builtAt: new Date().toISOString(),
    usedAt: new Date().toISOString(),
    builder: identifySelf(),
  }
  let hasToldOfWait = false
  const deadline = Date.now() + (options.timeoutMs ?? Number.POSITIVE_INFINITY)
  for (;;) {
    const claimed = await changeLedger(machine.stateDir, ledger => claimTemplate(ledger, claim, options))
    if (claimed.kind === 'none') return undefined
    if (claimed.kind === 'clone') return { name: claimed.name, isFresh: claimed.isFresh, built: false }
    if (claimed.kind === 'claimed') break
    throwIfStopped(stage)
    const liveness = decideLiveness(claimed.builder, identifySelf(), readStartTime)
    if (liveness === 'dead' || (liveness === 'unknown' && options.force)) {
      // Of another environment, whose own next run may never come.
      if (await endLeftoverScript(buildPidFile(machine.stateDir, claimed.name)))
        machine.note(`stopped the build that an ended penv had left running: ${claimed.name}`)
      await dropTemplate(machine, stage, claimed.name, options)
      continue
    }
    if (!hasToldOfWait) machine.note(`waiting for the template that pid ${claimed.builder.pid} builds`)
    hasToldOfWait = true
    if (Date.now() > deadline) throw templateBusy(claimed.name, claimed.builder)
    await delay(BUILD_POLL_MS)
  }
  try {
    await runLifecycleScript(machine, stage, 'bootstrap', {
      args: ['build'],
      pidFile: buildPidFile(machine.stateDir, claim.name),
      template: claim.name,
      timeoutMs: options.timeoutMs,
    })
  } catch (error) {
    await dropHalfBuilt(machine, stage, claim.name, options)
    throw error
  }
  await changeLedger(machine.stateDir, ledger => ({
    ledger: withTemplate(ledger, { ...claim, state: 'ready' }),
    value: undefined,
  }))
  await dropSurplus(machine, stage, options)
  return { name: claim.name, isFresh: true, built: true }
}

function buildPidFile(stateDir: string, template: string): string {
  const directory = join(stateDir, 'builds')
  makePrivateDirectory(directory)
  return join(directory, `${template}.pid`)
}

function templateBusy(template: string, { pid, host }: NonNullable<TemplateRecord['builder']>): PenvError {
  return new PenvError({
    code: 'BUSY',
    message: `the template ${template} is being built (pid ${pid}): the time to wait for it is over`,
    hint: 'If it is known to have ended, run: penv up --force',
    details: { template, pid, host },
  })
}

type Claimed =
  | { kind: 'none' }
  | { kind: 'claimed' }
  | { kind: 'clone'; name: string; isFresh: boolean }
  | { kind: 'building'; name: string; builder: NonNullable<TemplateRecord['builder']> }

function claimTemplate(
  ledger: Ledger,
  claim: TemplateRecord,
  options: TemplateOptions,
): { ledger: Ledger; value: Claimed } {
  const templates = templatesOf(ledger)
  if (templates.some(template => template.name === claim.name)) return { ledger, value: { kind: 'claimed' } }
  const decision = decideTemplate(templates, claim.repo, claim.inputs)
  if (decision.kind === 'clone' && !options.rebuild) {
    const used = templates.find(template => template.name === decision.name) as TemplateRecord
    return { ledger: withTemplate(ledger, { ...used, usedAt: claim.usedAt }), value: decision }
  }
  if (!options.mayBuild) return { ledger, value: { kind: 'none' } }
  const other = templates.find(template => template.repo === claim.repo && template.state === 'building')
  if (other?.builder !== undefined)
    return { ledger, value: { kind: 'building', name: other.name, builder: other.builder } }
  return { ledger: withTemplate(ledger, claim), value: { kind: 'claimed' } }
}

export function templatesOf(ledger: Ledger): TemplateRecord[] {
  return Object.values(ledger.templates) as TemplateRecord[]
}

function withTemplate(ledger: Ledger, template: TemplateRecord): Ledger {
  const { builder, ...rest } = template
  const entry = template.state === 'building' && builder !== undefined ? template : rest
  return { ...ledger, templates: withEntry<unknown>(ledger.templates, template.name, entry) }
}

/** Runs `bootstrap.sh drop` and forgets the template; one that cannot be dropped stays on record. */
export async function dropTemplate(
  machine: Machine,
  stage: Stage,
  name: string,
  options: Pick<TemplateOptions, 'timeoutMs'>,
): Promise<void> {
  await runLifecycleScript(machine, stage, 'bootstrap', {
    args: ['drop'],
    template: name,
    timeoutMs: options.timeoutMs,
  })
  await changeLedger(machine.stateDir, ledger => ({
    ledger:
      lookUp(ledger.templates, name) === undefined
        ? ledger
        : { ...ledger, templates: withoutEntry(ledger.templates, name) },
    value: undefined,
  }))
}

/** A drop that fails leaves the entry as a build whose builder will be dead: the next one tries again. */
async function dropHalfBuilt(
  machine: Machine,
  stage: Stage,
  name: string,
  options: TemplateOptions,
): Promise<void> {
  try {
    await dropTemplate(machine, stage, name, options)
  } catch (error) {
    if (!(error instanceof PenvError)) throw error
    machine.note(`the half-built template ${name} is left for the next build to drop`)
  }
}

async function dropSurplus(machine: Machine, stage: Stage, options: TemplateOptions): Promise<void> {
  const surplus = findSurplusTemplates(templatesOf(await readLedger(machine.stateDir)), stage.record.repo)
  for (const { name } of surplus) {
    try {
      await dropTemplate(machine, stage, name, options)
    } catch (error) {
      if (!(error instanceof PenvError) || error.code !== 'BOOTSTRAP_FAILED') throw error
      machine.note(`the old template ${name} could not be dropped`)
    }
  }
}
