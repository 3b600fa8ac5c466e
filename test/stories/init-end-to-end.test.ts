// Small real repositories from `git clone` to a verified second worktree and back, with nothing but `penv init`,
// `penv up`, `penv verify` and `penv destroy`, against real servers and the apps' own migration tools.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  askLines,
  type Clone,
  cloneFixture,
  expectDifferent,
  type Fixture,
  missingFor,
  type Ports,
  type StartedServer,
  startApp,
  together,
  type Variables,
  variablesOf,
} from '../support/end-to-end.ts'
import { describeServer, noteServer } from '../support/servers.ts'
import { nodeFixtures } from './init-end-to-end-node.ts'
import { otherFixtures } from './init-end-to-end-other.ts'

const CANARY = 'written in the main checkout'

for (const fixture of [...nodeFixtures, ...otherFixtures])
  describeServer(`${fixture.name}, end to end`, missingFor(fixture), () => {
    const servers = new Map<string, StartedServer>()
    beforeAll(async () => {
      for (const [name, server] of Object.entries(fixture.servers)) {
        const started = await server.start()
        servers.set(name, started)
        noteServer('ran', `${fixture.name}, end to end: ${name} ${started.version}`)
      }
    })
    afterAll(async () => {
      for (const server of servers.values()) await server.stop()
    })
    const look = () => Promise.all([...servers.values()].map(server => server.look()))

    it('takes three commands to a verified second worktree, and leaves no trace', {
      timeout: 300_000,
    }, async () => {
      const ports: Ports = Object.fromEntries([...servers].map(([name, { port }]) => [name, port]))
      const clone = cloneFixture(fixture, ports)
      await prepareMain(clone, fixture)
      const before = await look()

      await writeScripts(clone)
      const [one, two] = [clone.worktree('one'), clone.worktree('the second one')]
      await together([one, two].map(tree => clone.penv(tree, 'up')))
      await together([one, two].map(tree => clone.penv(tree, 'verify')))
      const variables = await together([one, two].map(tree => variablesOf(clone, tree)))
      for (const key of fixture.own)
        expectDifferent(
          key,
          [clone.mainVariables, ...variables].map(all => all[key]),
        )

      await useBoth(clone, fixture, [one, two], variables)
      await addMigration(clone, fixture, [one, two], variables)
      const isTold = fixture.isCloned || fixture.seeded !== undefined
      const further = isTold ? [await addFurther(clone, fixture)] : []
      expect(Object.keys(clone.box.ledger().templates ?? {}).length > 0, 'a template').toBe(fixture.isCloned)

      const gone = (await clone.penv(two, 'id')).trim()
      rmSync(two, { recursive: true })
      if (fixture.isCloned) await clone.penv(one, 'bootstrap', '--drop')
      await together([
        clone.penv(clone.main, 'destroy', gone),
        ...[one, ...further].map(tree => clone.penv(tree, 'destroy')),
      ])
      expect(await look()).toEqual(before)
      expect(clone.box.ledger()).toMatchObject({ environments: {}, templates: {} })
      await expectMainUntouched(clone, fixture)
      expect(await clone.penv(clone.main, 'init'), 'init again').not.toMatch(/^(wrote|replaced|wired) /m)
      expect(clone.box.git(clone.main, 'status', '--porcelain')).toBe('')
    })
  })

/** The main checkout as its developer left it last week: installed, migrated, with a row of its own. */
async function prepareMain(clone: Clone, fixture: Fixture): Promise<void> {
  expect(clone.box.git(clone.main, 'status', '--porcelain'), 'env files are ignored').toBe('')
  for (const command of fixture.prepare) await clone.type(clone.main, command)
  await fixture.ask(clone.mainVariables, clone.main, fixture.queries.plant(CANARY))
  expect(clone.box.git(clone.main, 'status', '--porcelain'), 'preparing changes no tracked file').toBe('')
}

async function writeScripts(clone: Clone): Promise<void> {
  await clone.penv(clone.main, 'doctor')
  const answer = JSON.parse(await clone.penv(clone.main, 'init', '--json')) as { questions: string[] }
  expect(answer.questions).toEqual([])
  clone.box.git(clone.main, 'add', '--all')
  clone.box.git(clone.main, 'commit', '--quiet', '-m', 'Add preview environments')
}

/** Both apps at once, each on its own port and its own data, which the migration tool has made. */
async function useBoth(
  clone: Clone,
  fixture: Fixture,
  trees: readonly [string, string],
  variables: readonly Variables[],
): Promise<void> {
  const inMain = await askLines(fixture, clone.mainVariables, clone.main, fixture.queries.applied)
  expect(inMain.length, 'the fixture has migrations').toBeGreaterThan(0)
  const apps = await together(trees.map(tree => startApp(clone, fixture, tree)))
  for (const [index, tree] of trees.entries()) {
    expect(await askLines(fixture, variables[index] as Variables, tree, fixture.queries.applied)).toEqual(
      inMain,
    )
    await clone.penv(tree, 'verify')
    expect(clone.box.git(tree, 'status', '--porcelain'), 'up and the app change no tracked file').toBe('')
  }
  const [first, second] = apps.map(app => app.base) as [string, string]
  await fixture.write(first, 'from one')
  expect(await fixture.read(first)).toEqual(['from one'])
  expect(await fixture.read(second)).toEqual([])
  await expectMainUntouched(clone, fixture)
  await together(apps.map(app => app.stop()))
}

/** A branch with a newer migration has it after its next up, and nobody else has; another up is harmless. */
async function addMigration(
  clone: Clone,
  fixture: Fixture,
  [one, two]: readonly [string, string],
  variables: readonly Variables[],
): Promise<void> {
  const applied = (index: number, tree: string) =>
    askLines(fixture, variables[index] as Variables, tree, fixture.queries.applied)
  const before = await applied(0, one)
  clone.box.write(one, fixture.migration.files)
  await together([one, two].map(tree => clone.penv(tree, 'up')))
  const { applied: added, isAlone } = fixture.migration
  expect(await applied(0, one)).toEqual(isAlone ? [added] : [...before, added])
  expect(await wordsOf(fixture, variables[0], one)).toEqual(['from one'])
  expect(await applied(1, two)).toEqual(before)
  expect(await askLines(fixture, clone.mainVariables, clone.main, fixture.queries.applied)).toEqual(before)
}

/** A worktree that is made when there is a template, with the repository's own sample rows. */
async function addFurther(clone: Clone, fixture: Fixture): Promise<string> {
  const tree = clone.worktree('further')
  const said = await clone.penv(tree, 'up', '--seed', '--json')
  expect(JSON.parse(said)).toMatchObject({ state: 'ready' })
  await clone.penv(tree, 'verify')
  expect(await wordsOf(fixture, await variablesOf(clone, tree), tree)).toEqual(fixture.seeded ?? [])
  return tree
}

async function expectMainUntouched(clone: Clone, fixture: Fixture): Promise<void> {
  expect(await wordsOf(fixture, clone.mainVariables, clone.main)).toEqual([CANARY])
  for (const [file, text] of Object.entries(clone.mainFiles))
    expect(readFileSync(join(clone.main, file), 'utf8'), file).toBe(text)
}

function wordsOf(fixture: Fixture, variables: Variables | undefined, tree: string): Promise<string[]> {
  return askLines(fixture, variables ?? {}, tree, fixture.queries.words)
}
