// Every shell file that ships or that tests run: shellcheck, dash, the words that STYLE bans and why, the verbs of adapters.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import { describeServer, findProgram, missingPrograms, runClient } from '../support/servers.ts'

const repository = join(import.meta.dirname, '..', '..')

function shellFiles(directory: string, isDeep = true): string[] {
  const root = join(repository, directory)
  if (!existsSync(root)) return []
  return readdirSync(root, { recursive: isDeep, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => path.endsWith('.sh') || readFileSync(path, 'utf8').startsWith('#!/bin/sh'))
    .map(path => relative(repository, path))
    .sort()
}

const adapters = shellFiles('contract/adapters')
const copied = [...shellFiles('samples'), ...shellFiles('.preview')]
const scripts = [...shellFiles('install'), ...shellFiles('test', false), ...copied]
const all = [...adapters, ...scripts]

const textOf = (path: string) => readFileSync(join(repository, path), 'utf8')

/** Numbered lines that run: without comments, nor the JavaScript, Lua and SQL that an adapter holds as text. */
function codeOf(path: string): string[] {
  return textOf(path)
    .split('\n')
    .map((line, index) => (/^\s*#/.test(line) ? '' : `${path}:${index + 1}: ${line}`))
    .filter(line => line !== '')
}

const COMMAND = String.raw`(?:: |[;&|(){}]|\b(?:then|do|else|if|while|!)\s)\s*`

const BANNED: { word: string; why: string; pattern: RegExp; allowed?: RegExp }[] = [
  { word: 'eval', why: 'runs text of git or of a user as code', pattern: new RegExp(`${COMMAND}eval\\s`) },
  {
    word: 'local',
    why: 'is not POSIX; a function in ( ) has variables of its own',
    pattern: new RegExp(`${COMMAND}local\\s`),
  },
  { word: 'declare, typeset', why: 'are not POSIX', pattern: new RegExp(`${COMMAND}(?:declare|typeset)\\s`) },
  {
    word: 'function',
    why: 'is not POSIX; name() is',
    pattern: new RegExp(`${COMMAND}function\\s+\\w+\\s*(?:\\(\\s*\\)\\s*)?\\{`),
  },
  { word: 'source', why: 'is not POSIX; . is', pattern: new RegExp(`${COMMAND}source\\s+["$/.\\w]`) },
  { word: '[[', why: 'is not POSIX; case and [ are', pattern: /\[\[\s/, allowed: /\[\[:/ },
  { word: '==', why: 'is not POSIX in [ ]; = is', pattern: /\[ [^\]]*==/ },
  { word: '<<<', why: 'is not POSIX; printf and a pipe are', pattern: /<<</, allowed: /# <<</ },
  { word: '&>', why: 'is not POSIX: sh reads it as & and >', pattern: /&>/ },
  { word: 'pipefail', why: 'is not in the sh of Debian', pattern: /pipefail/ },
  { word: 'which', why: 'is not everywhere; command -v is', pattern: new RegExp(`${COMMAND}which\\s`) },
  {
    word: 'echo -e, echo -n',
    why: 'print their option in some shells; printf is',
    pattern: /\becho\s+-[en]/,
  },
  { word: 'sed -i', why: 'takes other arguments on macOS', pattern: /\bsed\s+(?:-\w+\s+)*-i/ },
  { word: 'readlink -f', why: 'is not on older macOS', pattern: /\breadlink\s+-f/ },
  { word: 'grep -P', why: 'is not on macOS', pattern: /\bgrep\s+-\w*P/ },
  { word: 'FLUSHALL', why: 'empties the indexes of everybody', pattern: /flushall/i },
  {
    word: 'redis-cli -n … FLUSHDB',
    why: 'empties database 0 when the index does not exist',
    pattern: /-n\s.*flushdb/i,
  },
  {
    word: '|| true on a drop',
    why: 'prints success over a slice that is still there',
    pattern: /(?:drop|flush|delete|remove|\brm\b).*\|\|\s*(?:true|:)(?:\s|$)/i,
  },
  {
    word: 'psql without ON_ERROR_STOP',
    why: 'exits 0 after an error in what it reads',
    pattern: new RegExp(`${COMMAND}psql\\s(?!.*(?:ON_ERROR_STOP=1|\\s-\\w*c\\s))`),
  },
  {
    word: 'a password as an argument',
    why: 'shows it to every process of the machine',
    pattern: /--password[= ]"?\$|\s-a\s+"?\$|\s-p"?\$\{?MYSQL|-u\s+"?\$\w+:\$/,
  },
]

/** Programs on which each rule must fire, so that a rule that matches nothing is noticed. */
const CULPRITS: Record<string, string> = {
  eval: 'eval "$x"',
  local: 'f() { local x=1; }',
  'declare, typeset': 'declare -a x',
  function: 'function f { :; }',
  source: 'source "$PENV_ADAPTERS/redis.sh"',
  '[[': 'if [[ -n $x ]]; then :; fi',
  '==': '[ "$x" == 1 ]',
  '<<<': 'cat <<<"$x"',
  '&>': 'ls &>/dev/null',
  pipefail: 'set -euo pipefail',
  which: 'if which psql; then :; fi',
  'echo -e, echo -n': 'echo -e "a\\n"',
  'sed -i': 'sed -i s/a/b/ f',
  'readlink -f': 'readlink -f "$0"',
  'grep -P': 'grep -qP x f',
  FLUSHALL: 'redis-cli FLUSHALL',
  'redis-cli -n … FLUSHDB': 'redis-cli -n "$i" FLUSHDB',
  '|| true on a drop': 'dropdb "$name" || true',
  'psql without ON_ERROR_STOP': 'psql -d "$name" <schema.sql',
  'a password as an argument': 'mysql --password="$pw"',
}

describe('shell files', () => {
  it('are found', () => {
    expect(adapters.length).toBeGreaterThan(5)
    expect(scripts).toContain('test/setup.sh')
  })

  it.each(BANNED)('do without $word, which $why', ({ word, pattern, allowed }) => {
    expect(`x: ${CULPRITS[word]}`).toMatch(pattern)
    const culprits = all.flatMap(codeOf).filter(line => pattern.test(line) && !allowed?.test(line))
    expect(culprits).toEqual([])
  })

  it.each(all)('%s starts as POSIX sh, says what it is for, and has Unix line ends', path => {
    const text = textOf(path)
    expect(text).toMatch(/^(?:#!\/bin\/sh|# shellcheck shell=sh.*)\n# \S/)
    expect(text).not.toContain('\r')
  })

  // What begins without #! is sourced by a script, whose options hold.
  it.each(scripts.filter(path => textOf(path).startsWith('#!')))('%s stops at the first failure', path => {
    expect(textOf(path)).toMatch(/^set -eu$/m)
  })
})

describe('adapters', () => {
  const nameOf = (path: string) => path.replace(/^.*\/(.*)\.sh$/, '$1')
  const hasVerb = (path: string) => /^[a-z]\w*_(create|verify|drop|url|list)\(\)/m.test(textOf(path))
  const names = adapters.filter(hasVerb).map(nameOf)
  // main.sh is for the scripts that init writes.
  const libraries = adapters
    .filter(path => !hasVerb(path))
    .map(nameOf)
    .filter(name => name !== 'main')

  // init writes `. "$PENV_ADAPTERS/venv.sh"` from such a path.
  const initFiles = readdirSync(join(repository, 'src', 'core', 'init')).map(file => `src/core/init/${file}`)
  it.each(libraries)(
    '%s, which has no verbs, is sourced by those that have, or by what init writes',
    library => {
      const isUsed =
        adapters.some(path => textOf(path).includes(`\n. "$PENV_ADAPTERS/${library}.sh"\n`)) ||
        initFiles.some(path => textOf(path).includes(`$PENV_ADAPTERS/${library}.sh`))
      expect(isUsed).toBe(true)
    },
  )

  const data = mkdtempSync(join(tmpdir(), 'penv-shell-'))
  afterAll(() => rmSync(data, { recursive: true, force: true }))
  const run = (service: string, script: string) => runVerbs({ service, script, id: 'login_k3v9xa', data })

  it.each(names)('%s has the five verbs and does nothing when sourced', async name => {
    const verbs = ['create', 'verify', 'drop', 'url', 'list'].map(verb => `command -v ${name}_${verb}`)
    const { code, stdout, stderr } = await run(name, verbs.join('\n'))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trim().split('\n')).toHaveLength(5)
    expect(readdirSync(data)).toEqual([])
  })

  it.each(names)('%s gives its functions names that begin with its own', name => {
    const foreign = adapters
      .filter(path => path.endsWith(`/${name}.sh`))
      .flatMap(path => [...textOf(path).matchAll(/^([a-z_]+)\(\) [({]/gm)].map(match => match[1] as string))
      .filter(verb => !verb.replace(/^_/, '').startsWith(name))
    expect(foreign).toEqual([])
  })
})

const dash = findProgram('dash')
describeServer('dash on shell files', missingPrograms({ dash }), () => {
  it.each(all)('reads %s', async path => {
    expect(await runClient(dash as string, ['-n', join(repository, path)])).toBe('')
  })
})

const shellcheck = findProgram('shellcheck')
describeServer('shellcheck on shell files', missingPrograms({ shellcheck }), () => {
  /** Of what shellcheck prints, nothing is left; a sample sources by a variable, which it cannot follow. */
  const check = (paths: string[], options: string[]) => {
    if (paths.length === 0) return
    const args = ['-s', 'sh', '-f', 'gcc', ...options, ...paths]
    try {
      execFileSync(shellcheck as string, args, { cwd: repository, stdio: 'pipe' })
    } catch (error) {
      expect(String((error as { stdout: Buffer }).stdout)).toBe('')
      throw error
    }
  }

  it('finds nothing in the adapters', () => check(adapters, ['-x']))
  it('finds nothing in scripts', () =>
    check(
      scripts.filter(path => !copied.includes(path)),
      ['-x'],
    ))
  it('finds nothing in what people copy', () => check(copied, ['-e', 'SC1090,SC1091,SC2154']))
})
