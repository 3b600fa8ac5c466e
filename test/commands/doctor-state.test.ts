// What `penv doctor` says of the state directory, the ledger and the environments in it, and that what it advises
// helps when it is followed literally.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type Diagnosis,
  diagnose,
  failuresOf,
  follow,
  GOOD_SCRIPTS,
  readDiagnosis,
  warningsOf,
} from '../support/doctor.ts'
import { pause, pidOf } from '../support/lifecycle.ts'
import { makeSandbox, PROGRAM, type Sandbox, waitFor } from '../support/sandbox.ts'
import { ALICE, findUserObstacle, giveTo, publishProgram, runAs } from '../support/users.ts'

const obstacle = findUserObstacle()
const notHere = obstacle === undefined ? '' : ` (not here: ${obstacle})`

async function withLedger(): Promise<[Sandbox, string]> {
  const box = makeSandbox()
  const tree = box.worktree('login')
  for (const name of ['web', 'api', 'admin']) await box.penv(tree, ['get', 'port', name])
  return [box, tree]
}

const revisionsOf = (box: Sandbox) => box.revisions().map(name => join(box.stateDir, 'ledger', name))
const newestOf = (box: Sandbox) => revisionsOf(box).at(-1) as string
const portsOf = (box: Sandbox) => Object.keys(Object.values(box.ledger().environments)[0]?.ports as object)
const ofState = ({ area }: { area: string }) => area === 'state'
const wordsOf = (diagnosis: Diagnosis) => diagnosis.findings.map(({ message }) => message).join('\n')

describe('a damaged ledger, to doctor', () => {
  it.each<[string, (file: string) => void]>([
    ['torn', file => truncateSync(file, 40)],
    ['empty', file => truncateSync(file, 0)],
    ['of another shape', file => writeFileSync(file, '[]')],
  ])('fails when it is %s, and what is advised brings the previous revision back', async (_, damage) => {
    const [box, tree] = await withLedger()
    damage(newestOf(box))
    const [failure] = failuresOf(await diagnose(box, tree))
    expect(failure).toMatchObject({ area: 'state', code: 'LEDGER_DAMAGED' })
    expect(failure?.message).toContain(newestOf(box))
    follow(box, failure, box.root)
    expect(failuresOf(await diagnose(box, tree))).toEqual([])
    expect(portsOf(box)).toEqual(['web', 'api'])
    await box.penv(tree, ['get', 'port', 'admin'])
    expect(portsOf(box)).toEqual(['web', 'api', 'admin'])
  })

  it('is brought back from before all that is damaged', async () => {
    const [box, tree] = await withLedger()
    for (const file of revisionsOf(box).slice(1)) truncateSync(file, 40)
    follow(box, failuresOf(await diagnose(box, tree))[0], tree)
    expect(portsOf(box)).toEqual(['web'])
  })

  it('is set aside where nothing is left to bring back', async () => {
    const [box, tree] = await withLedger()
    for (const file of revisionsOf(box)) truncateSync(file, 40)
    const damaged = newestOf(box)
    for (const file of revisionsOf(box).slice(0, -1)) rmSync(file)
    follow(box, failuresOf(await diagnose(box, tree))[0], tree)
    expect(statSync(`${damaged}.damaged`).size).toBe(40)
    expect((await diagnose(box, tree)).ok).toBe(true)
  })

  it('is not advised away when a newer penv wrote it', async () => {
    const [box, tree] = await withLedger()
    const newer = JSON.stringify({ ...box.ledger(), version: 99 })
    writeFileSync(newestOf(box), newer)
    const [failure] = failuresOf(await diagnose(box, tree))
    expect(failure).toMatchObject({ code: 'LEDGER_NEWER' })
    expect(failure?.message).toContain('99')
    expect(failure?.run ?? '').not.toMatch(/\b(rm|mv|ln)\b/)
    expect(readFileSync(newestOf(box), 'utf8')).toBe(newer)
  })

  it('is a finding too where the revision is a link to nowhere', async () => {
    const [box, tree] = await withLedger()
    symlinkSync('nowhere', join(box.stateDir, 'ledger', '000000000099.json'))
    expect(failuresOf(await diagnose(box, tree))).toMatchObject([{ code: 'LEDGER_UNREADABLE' }])
  })
})

describe('the revisions of the ledger, to doctor', () => {
  it('are listed newest first, and each is brought back by its command', async () => {
    const [box, tree] = await withLedger()
    const { revisions } = await diagnose(box, tree)
    expect(revisions.map(({ revision }) => revision)).toEqual(
      box
        .revisions()
        .map(name => Number(name.slice(0, 12)))
        .reverse(),
    )
    expect(revisions[0]).toMatchObject({ environments: 1, restore: null })
    const oldest = revisions.at(-1)
    execFileSync('sh', ['-ec', oldest?.restore as string], { env: box.env })
    expect(portsOf(box)).toEqual(['web'])
    expect((await box.penv(tree, ['get', 'port', 'web'])).stdout).toMatch(/^\d+\n$/)
  })

  it('are shown with -v, the damaged ones as such, with the command for the latest', async () => {
    const [box, tree] = await withLedger()
    truncateSync(revisionsOf(box).at(-2) as string, 40)
    const { stdout } = await box.run(['doctor', '-v'], { cwd: tree })
    expect(stdout.match(/^ {2}\d+ {2}\S+Z {2}.*$/gm)?.map(line => line.split(/ {2,}/)[3])).toEqual([
      '1 environment',
      'damaged',
      '1 environment',
    ])
    const command = /^ {2}To go back to revision 1, .*, run: (.*)$/m.exec(stdout)?.[1]
    execFileSync('sh', ['-ec', command as string], { env: box.env })
    expect(portsOf(box)).toEqual(['web'])
    expect((await box.run(['doctor'], { cwd: tree })).stdout).not.toContain('revisions of the ledger, newest')
  })
})

describe('the state directory, to doctor', () => {
  it('fails where it cannot be made, and keeps its name', async () => {
    const box = makeSandbox()
    writeFileSync(join(box.root, 'file'), '')
    const diagnosis = await diagnose(box, box.main, { env: { PENV_HOME: join(box.root, 'file', 'state') } })
    expect(failuresOf(diagnosis)).toMatchObject([{ area: 'state', code: 'STATE_UNWRITABLE' }])
  })

  it('warns where others can read it, with a command that also takes a path with a space', async () => {
    const box = makeSandbox()
    const home = join(box.root, 'state of "mine"')
    mkdirSync(home)
    chmodSync(home, 0o755)
    const [warning] = warningsOf(await diagnose(box, box.main, { env: { PENV_HOME: home } })).filter(ofState)
    follow(box, warning, box.root)
    expect(statSync(home).mode & 0o777).toBe(0o700)
  })

  it('warns of files among the revisions that penv did not put there', async () => {
    const [box, tree] = await withLedger()
    const directory = join(box.stateDir, 'ledger')
    for (const name of ['notes.txt', '42.json', '000000000099.json.damaged'])
      writeFileSync(join(directory, name), '')
    mkdirSync(join(directory, 'old'))
    const warned = warningsOf(await diagnose(box, tree))
      .filter(({ code }) => code === 'STATE_STRANGER')
      .map(({ message }) => message.split(' ')[0])
    expect(warned.sort()).toEqual([
      'ledger/000000000099.json.damaged',
      'ledger/42.json',
      'ledger/notes.txt',
      'ledger/old',
    ])
  })

  it('is a finding where HOME says nothing, and other commands could not go on', async () => {
    const box = makeSandbox()
    expect((await diagnose(box, box.main, { env: { HOME: 'relative' } })).ok).toBe(true)
    const result = await box.run(['doctor'], { env: { PENV_HOME: 'relative' } })
    expect(result.exit).toBe(2)
  })

  it.skipIf(obstacle !== undefined)(`fails where this user cannot write it${notHere}`, () => {
    const box = makeSandbox()
    const program = publishProgram(PROGRAM, box.root)
    const parent = join(box.root, 'locked')
    mkdirSync(parent, { mode: 0o555 })
    const state = join(box.root, 'state')
    mkdirSync(state, { mode: 0o500 })
    giveTo(ALICE, state)
    const hidden = join(box.root, 'hidden')
    mkdirSync(join(hidden, 'state'), { recursive: true })
    chmodSync(hidden, 0o700)
    giveTo(ALICE, box.main)
    for (const home of [join(parent, 'penv'), state, join(hidden, 'state')]) {
      const env = { ...box.env, PENV_HOME: home }
      const diagnosis = readDiagnosis(runAs(ALICE, [program, 'doctor', '--json'], { cwd: box.main, env }))
      expect(failuresOf(diagnosis)[0], home).toMatchObject({ area: 'state', code: 'STATE_UNWRITABLE' })
    }
  })

  it.skipIf(obstacle !== undefined)(`fails where this user has no home at all${notHere}`, () => {
    const box = makeSandbox()
    const program = publishProgram(PROGRAM, box.root)
    giveTo(ALICE, box.main)
    const { HOME: _, ...env } = box.env
    const diagnosis = readDiagnosis(runAs(ALICE, [program, 'doctor', '--json'], { cwd: box.main, env }))
    expect(failuresOf(diagnosis)).toMatchObject([{ area: 'state', code: 'STATE_UNWRITABLE' }])
    expect(diagnosis.place).toBe('main')
  })

  it.skipIf(obstacle !== undefined)(
    `fails with a revision that this user cannot read${notHere}`,
    async () => {
      const [box] = await withLedger()
      const program = publishProgram(PROGRAM, box.root)
      giveTo(ALICE, box.home)
      giveTo(ALICE, box.main)
      chownSync(newestOf(box), 0, 0)
      const result = runAs(ALICE, [program, 'doctor', '--json'], { cwd: box.main, env: box.env })
      const diagnosis = readDiagnosis(result)
      expect(failuresOf(diagnosis)).toMatchObject([{ code: 'LEDGER_UNREADABLE' }])
      expect(failuresOf(diagnosis)[0]?.remedy).toContain('uid 0')
      expect(warningsOf(diagnosis).map(({ code }) => code)).toContain('STATE_FOREIGN')
    },
  )
})

describe('environments, to doctor', () => {
  async function withEnvironment(scripts: Record<string, string> = {}): Promise<[Sandbox, string]> {
    const box = makeSandbox()
    box.scripts({ ...GOOD_SCRIPTS, ...scripts })
    return [box, box.worktree('log in')]
  }
  const ofEnvironment = ({ area }: { area: string }) => area === 'environment'
  const warned = async (box: Sandbox) => warningsOf(await diagnose(box, box.main)).filter(ofEnvironment)

  it('are sound when they are where the ledger says, or where git has moved them', async () => {
    const [box, tree] = await withEnvironment()
    await box.penv(tree, ['up'], { stderr: 'any' })
    expect(await warned(box)).toEqual([])
    box.git(box.main, 'worktree', 'move', tree, join(box.root, 'elsewhere'))
    expect(await warned(box)).toEqual([])
  })

  it('warn where git does not know their worktree any more, with a command that releases what they hold', async () => {
    const [box, tree] = await withEnvironment()
    await box.penv(tree, ['up'], { stderr: 'any' })
    box.git(box.main, 'worktree', 'remove', '--force', tree)
    const [warning] = await warned(box)
    expect(warning?.message).toContain(tree)
    follow(box, warning, box.root)
    expect(box.ledger().environments).toEqual({})
  })

  it('are not advised away where git still expects their worktree', async () => {
    const [box, tree] = await withEnvironment()
    await box.penv(tree, ['up'], { stderr: 'any' })
    const moved = join(box.root, 'moved by hand')
    renameSync(tree, moved)
    const [warning] = await warned(box)
    expect(warning?.code).toBe('WORKTREE_MISSING')
    expect(warning).not.toHaveProperty('run')
    const repair = /: (git .*<its new path>);/.exec(warning?.remedy ?? '')?.[1]
    execFileSync('sh', ['-ec', repair?.replace('<its new path>', `'${moved}'`) as string], {
      env: box.env,
      stdio: 'pipe',
    })
    expect(await warned(box)).toEqual([])
    expect((await box.penv(moved, ['status', '--json'])).json()).toMatchObject({ state: 'ready' })
  })

  it('warn where up has failed, with a command for anywhere', async () => {
    const [box, tree] = await withEnvironment({ 'provision.sh': '#!/bin/sh\n[ -e "$HOME/mended" ]\n' })
    await box.penv(tree, ['up'], { exit: 8, stderr: 'any' })
    const [warning] = await warned(box)
    writeFileSync(join(box.home, 'mended'), '')
    follow(box, warning, box.root)
    expect(Object.values(box.ledger().environments)[0]).toMatchObject({ state: 'ready' })
    expect(await warned(box)).toEqual([])
  })

  it('warn where teardown has failed, with a command for anywhere', async () => {
    const [box, tree] = await withEnvironment({ 'teardown.sh': '#!/bin/sh\n[ -e "$HOME/mended" ]\n' })
    await box.penv(tree, ['up'], { stderr: 'any' })
    await box.penv(tree, ['destroy'], { exit: 8, stderr: 'any' })
    const [warning] = await warned(box)
    writeFileSync(join(box.home, 'mended'), '')
    follow(box, warning, box.root)
    expect(box.ledger().environments).toEqual({})
  })

  it('warn where up was killed', async () => {
    const [box, tree] = await withEnvironment({ 'provision.sh': `#!/bin/sh\n${pause('up')}` })
    const up = box.start(['up'], { cwd: tree })
    await pidOf(box, 'up')
    expect(await warned(box)).toEqual([])
    up.kill('SIGKILL')
    await waitFor(() => up.signalCode !== null, 'the end of penv')
    expect(await warned(box)).toMatchObject([{ code: 'ENVIRONMENT_FAILED' }])
  })

  it('of other repositories are seen from everywhere', async () => {
    const [box, tree] = await withEnvironment({ 'provision.sh': '#!/bin/sh\nexit 1\n' })
    await box.penv(tree, ['up'], { exit: 8, stderr: 'any' })
    expect(warningsOf(await diagnose(box, box.root)).map(({ code }) => code)).toContain('ENVIRONMENT_FAILED')
  })

  it('warn of a PENV_ID in the shell that is another one, and not of the own', async () => {
    const [box, tree] = await withEnvironment()
    const id = (await box.penv(tree, ['id'])).stdout.trim()
    await box.penv(tree, ['get', 'port', 'web'])
    const foreign = await diagnose(box, tree, { env: { PENV_ID: 'other_aaaaaa' } })
    expect(wordsOf(foreign)).toContain('other_aaaaaa')
    expect(warningsOf(foreign).find(ofEnvironment)?.run).toBe('unset PENV_ID')
    expect(wordsOf(await diagnose(box, tree, { env: { PENV_ID: id } }))).not.toContain('PENV_ID')
    expect(wordsOf(await diagnose(box, box.main, { env: { PENV_ID: id } }))).toContain('PENV_ID')
  })
})
