import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { EXIT_BY_CODE } from '../../src/errors.ts'
import {
  anchorOf,
  codeBlocksOf,
  codeSpansOf,
  headingsOf,
  sectionOf,
  tableOf,
  withoutCodeBlocks,
} from '../support/markdown.ts'
import { makeSandbox } from '../support/sandbox.ts'

const directory = join(import.meta.dirname, '..', '..', 'contract')
const contract = readFileSync(join(directory, 'CONTRACT.md'), 'utf8')
const rowsOf = (title: string) => tableOf(sectionOf(contract, title))
const spanOf = (cell: string | undefined) => codeSpansOf(cell ?? '')[0] ?? ''

const HEADINGS = ['Purpose', 'When it runs', 'Environment', 'Success and failure', 'Example']

describe('CONTRACT.md', () => {
  it('describes each lifecycle script under the same five headings', () => {
    const scripts = rowsOf('Lifecycle scripts').map(([file]) => spanOf(file).replace('.preview/', ''))
    expect(scripts.sort()).toEqual(
      ['bootstrap.sh', 'down.sh', 'provision.sh', 'seed.sh', 'teardown.sh', 'verify.sh'].sort(),
    )
    for (const script of scripts) {
      const section = sectionOf(contract, script)
      expect(headingsOf(section).map(({ title }) => title)).toEqual(HEADINGS)
      const [example] = codeBlocksOf(section)
      expect(example?.text, script).toMatch(/^#!\/bin\/sh\nset -eu\n/)
    }
  })

  it('gives every script failure the code and exit of the table', () => {
    for (const [file, , , failure] of rowsOf('Lifecycle scripts')) {
      const code = spanOf(failure)
      expect({ file, failure }).toEqual({
        file,
        failure: `\`${code}\`, exit ${EXIT_BY_CODE[code as keyof typeof EXIT_BY_CODE]}`,
      })
    }
  })

  it('lists exactly the error codes of penv, each with its exit code', () => {
    const listed = rowsOf('Error codes').map(([code, exit]) => [spanOf(code), Number(exit)])
    expect(Object.fromEntries(listed)).toEqual(EXIT_BY_CODE)
    expect(listed).toHaveLength(Object.keys(EXIT_BY_CODE).length)
  })

  it('lists every exit code that an error code has', () => {
    const listed = rowsOf('Exit codes').map(([exit]) => exit)
    const used = Object.entries(EXIT_BY_CODE).map(([code, exit]) =>
      code === 'INTERRUPTED' ? '128 + n' : String(exit),
    )
    for (const exit of used) expect(listed).toContain(exit)
    const ofErrors = listed.filter(exit => exit !== '0' && exit !== '125, 126, 127')
    expect(ofErrors).toEqual(
      [...new Set(used)].sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
    )
  })

  it('names only codes that exist', () => {
    const settings = new Set([
      'XDG_STATE_HOME',
      'GIT_DIR',
      'CLAUDE_ENV_FILE',
      'DB_HOST',
      'DB_PORT',
      'DB_NAME',
    ])
    const named = codeSpansOf(contract).filter(
      span => /^[A-Z]+(_[A-Z]+)+$/.test(span) && !span.startsWith('PENV_') && !settings.has(span),
    )
    const servers = new Set(['MYSQL_HOST', 'REDIS_URL'])
    for (const code of named) if (!servers.has(code)) expect(Object.keys(EXIT_BY_CODE)).toContain(code)
    expect(named).toContain('ENV_FOREIGN')
  })

  it('stands on its own', () => {
    expect(contract).not.toMatch(/DESIGN|CASES|STYLE\.md|\bissue\b|#\d/i)
    expect(contract).not.toMatch(/\b[CS]\d{2,3}\b/)
    const anchors = headingsOf(contract).map(({ title }) => anchorOf(title))
    const links = [...withoutCodeBlocks(contract).matchAll(/\]\(([^)]*)\)/g)].map(match => match[1])
    expect(links.length).toBeGreaterThan(2)
    for (const link of links) expect(anchors.map(anchor => `#${anchor}`)).toContain(link)
  })
})

describe('the JSON examples', () => {
  const ajv = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true })
  ;(formats as unknown as (instance: Ajv) => void)(ajv)
  const schemas = readdirSync(join(directory, 'schema')).map(file => file.replace('.schema.json', ''))
  const rows = rowsOf('JSON').map(([schema, , example]) => [spanOf(schema), spanOf(example)] as const)

  it('are one for each schema', () => {
    expect(rows.map(([schema]) => schema).sort()).toEqual(schemas.sort())
  })

  it.each(rows)('%s has the shape of its schema', (schema, example) => {
    const shape = JSON.parse(readFileSync(join(directory, 'schema', `${schema}.schema.json`), 'utf8'))
    const validate = ajv.compile(shape)
    expect(validate(JSON.parse(example)) ? [] : validate.errors).toEqual([])
  })

  it('tell in words only of shapes that the schemas have', () => {
    for (const [schema, when] of rowsOf('JSON')) {
      const validate = ajv.compile(
        JSON.parse(readFileSync(join(directory, 'schema', `${spanOf(schema)}.schema.json`), 'utf8')),
      )
      for (const span of codeSpansOf(when ?? '').filter(text => text.startsWith('{') && !text.includes('…')))
        expect({ schema, span, isValid: validate(JSON.parse(span)) }).toEqual({ schema, span, isValid: true })
    }
  })

  it('of doctor and init are the shape of their answers', async () => {
    const box = makeSandbox()
    const places = [box.main, box.worktree('login'), box.home]
    const calls: [command: string, cwds: string[], options?: string[]][] = [
      ['doctor', places],
      ['init', places.slice(0, 2), ['--dry-run']],
      ['init', places.slice(0, 2), ['--print', 'verify.sh']],
      ['init', places.slice(0, 2)],
      ['init', places.slice(0, 2), ['--uninstall']],
    ]
    for (const [command, cwds, options = []] of calls) {
      const validate = ajv.compile(
        JSON.parse(readFileSync(join(directory, 'schema', `${command}.schema.json`), 'utf8')),
      )
      for (const cwd of cwds) {
        const answer = (await box.run([command, ...options, '--json'], { cwd })).json() as unknown
        expect(validate(answer) ? [] : validate.errors, `${command} ${options}`).toEqual([])
      }
    }
  })
})

describe('the adapters', () => {
  const folder = join(directory, 'adapters')
  const verbs = rowsOf('Adapters').map(([verb]) => /^<service>_(\w+)/.exec(spanOf(verb))?.[1] as string)
  const services = readdirSync(folder)
    .filter(file => file.endsWith('.sh'))
    .map(file => file.replace('.sh', ''))
    .filter(service => !['common', 'http', 'main', 'prefix', 'venv'].includes(service))
  const definedIn = (service: string) =>
    [...readFileSync(join(folder, `${service}.sh`), 'utf8').matchAll(/^([a-z]\w*)\(\)/gm)]
      .map(match => match[1] as string)
      .filter(name => name.startsWith(`${service}_`))
      .map(name => name.slice(service.length + 1))

  it('have verbs that the contract names', () => {
    expect(verbs).toEqual(['create', 'verify', 'drop', 'url', 'list', 'freeze', 'drop_template'])
    expect(services).toContain('postgres')
  })

  it.each(services)('%s has the five verbs, and no public one but those of the contract', service => {
    const defined = definedIn(service)
    for (const verb of ['create', 'verify', 'drop', 'url', 'list']) expect(defined).toContain(verb)
    for (const verb of defined) expect(verbs).toContain(verb)
    expect(defined.includes('freeze'), 'freeze and drop_template come together').toBe(
      defined.includes('drop_template'),
    )
  })
})
