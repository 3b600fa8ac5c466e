import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  barePath,
  installSources,
  makeInstallSandbox,
  makePathWithout,
  shapeOf,
  snapshot,
  writeBundle,
  writeFile,
} from '../support/install.ts'
import { describeWith, findOnPath } from '../support/programs.ts'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

describe('install.sh', () => {
  it('puts the bundle, contract, samples and skills below the prefix, and penv where git finds it', () => {
    const box = makeInstallSandbox()
    const outcome = box.install()
    expect(outcome).toMatchObject({ code: 0, stderr: '' })
    for (const path of ['dist/penv.cjs', 'contract/adapters/redis.sh', 'samples/preview/files/provision.sh'])
      expect(existsSync(join(box.prefix, 'lib', 'penv', path))).toBe(true)
    expect(existsSync(join(box.prefix, 'lib', 'penv', 'skills', 'preview-isolation', 'SKILL.md'))).toBe(true)
    const PATH = `${box.prefix}/bin:${barePath}`
    expect(box.run('penv', ['a  b', "it's"], { env: { PATH } })).toMatchObject({
      code: 0,
      stdout: "one one a  b it's\n",
    })
    expect(box.run('git', ['penv', 'up'], { env: { PATH } })).toMatchObject({
      code: 0,
      stdout: 'one one up\n',
    })
  })

  it('starts penv with no PATH to speak of, and from any directory', () => {
    const box = makeInstallSandbox()
    box.install()
    expect(
      box.run(join(box.prefix, 'bin', 'penv'), ['id'], { cwd: '/', env: { PATH: '/nowhere' } }),
    ).toMatchObject({ code: 0, stdout: 'one one id\n' })
  })

  it('starts penv with its own Node where a project has another first on PATH', () => {
    const box = makeInstallSandbox()
    box.install()
    writeFile(join(box.root, 'old', 'node'), '#!/bin/sh\nexit 99\n', 0o755)
    const env = { PATH: `${box.root}/old:${barePath}` }
    expect(box.run(join(box.prefix, 'bin', 'penv'), [], { env }).code).toBe(0)
  })

  it('starts penv with the Node on PATH when the one that installed it is gone', () => {
    const box = makeInstallSandbox()
    box.install()
    const launcher = join(box.prefix, 'bin', 'penv')
    const text = readFileSync(launcher, 'utf8').replace(/^node=.*$/m, "node='/gone/node'")
    writeFileSync(launcher, text)
    expect(box.run(launcher, [])).toMatchObject({ code: 0, stdout: 'one one\n' })
    box.install()
    expect(readFileSync(launcher, 'utf8')).not.toContain('/gone/node')
  })

  it('does nothing and says so when it runs again', () => {
    const box = makeInstallSandbox()
    box.install()
    const before = snapshot(box.home, true)
    const again = box.install()
    expect(again).toMatchObject({ code: 0, stderr: '' })
    const words = again.stdout.split('\n').filter(line => !line.startsWith('To ') && line !== '')
    expect(words.length).toBeGreaterThan(3)
    expect(words.filter(line => !line.startsWith('already '))).toEqual([])
    expect(snapshot(box.home, true)).toEqual(before)
  })

  it('replaces an older release whole, keeping every path', () => {
    const box = makeInstallSandbox()
    box.install()
    writeBundle(box.clone, 'two')
    rmSync(join(box.clone, 'contract', 'adapters'), { recursive: true })
    expect(box.install().stdout).toContain('installed')
    expect(box.run(join(box.prefix, 'bin', 'penv'), []).stdout).toBe('two two\n')
    expect(existsSync(join(box.prefix, 'lib', 'penv', 'contract', 'adapters'))).toBe(false)
    box.uninstall()
    expect(snapshot(box.home)).toEqual({})
  })

  it('keeps the release before, for what is still running from it, and none older', () => {
    const box = makeInstallSandbox()
    const program = join(box.prefix, 'lib', 'penv', 'dist', 'penv.cjs')
    box.install()
    const running = [realpathSync(program)]
    for (const release of ['two', 'three', 'four']) {
      writeBundle(box.clone, release)
      box.install()
      box.install()
      expect(running.map(path => existsSync(path))).toEqual(running.map((_, n) => n === running.length - 1))
      running.push(realpathSync(program))
    }
    expect(readdirSync(join(box.prefix, 'lib', 'penv', 'versions'))).toHaveLength(2)
  })

  it.each([
    ['a file is missing', (lib: string) => rmSync(join(lib, 'contract', 'adapters', 'redis.sh'))],
    ['a file was cut', (lib: string) => writeFileSync(join(lib, 'dist', 'penv.cjs'), '')],
    ['the link to the version is gone', (lib: string) => rmSync(join(lib, 'current'))],
    ['the launcher is gone', (lib: string) => rmSync(join(lib, '..', '..', 'bin', 'git-penv'))],
    ['the manifest is gone', (lib: string) => rmSync(lib, { recursive: true })],
  ])('repairs an installation in which %s', (_, damage) => {
    const box = makeInstallSandbox()
    box.install()
    const whole = shapeOf(join(box.prefix, 'bin'))
    damage(join(box.prefix, 'lib', 'penv'))
    expect(box.install()).toMatchObject({ code: 0, stderr: '' })
    expect(shapeOf(join(box.prefix, 'bin'))).toEqual(whole)
    expect(box.run('git', ['penv'], { env: { PATH: `${box.prefix}/bin:${barePath}` } }).stdout).toBe(
      'one one\n',
    )
  })

  it('makes what it installs readable for everybody under any umask', () => {
    const box = makeInstallSandbox()
    const script = join(box.clone, 'install', 'install.sh')
    chmodSync(join(box.clone, 'dist', 'penv.cjs'), 0o600)
    const args = ['-c', 'umask 077; sh "$1" --prefix "$2" --no-rc', 'sh', script, join(box.root, 'all users')]
    expect(box.run('sh', args).code).toBe(0)
    const loose = Object.values(snapshot(join(box.root, 'all users'))).filter(entry =>
      /^(directory )?\d?\d?[0-3][0-3] /.test(entry),
    )
    expect(loose).toEqual([])
    expect(statSync(join(box.root, 'all users', 'lib', 'penv', 'dist', 'penv.cjs')).mode & 0o777).toBe(0o755)
  })

  it('works when several run at once', async () => {
    const box = makeInstallSandbox()
    const script = join(box.clone, 'install', 'install.sh')
    const runs = Array.from({ length: 4 }, () => {
      const child = spawn('sh', [script, '--shell', 'zsh'], {
        env: { PATH: barePath, HOME: box.home, TMPDIR: box.root },
        stdio: 'ignore',
      })
      return new Promise(resolve => child.once('exit', resolve))
    })
    expect(await Promise.all(runs)).toEqual([0, 0, 0, 0])
    expect(box.run(join(box.prefix, 'bin', 'penv'), []).stdout).toBe('one one\n')
    box.install(['--shell', 'zsh'])
    expect(readdirSync(join(box.prefix, 'lib', 'penv', 'versions')).length).toBeLessThanOrEqual(2)
    box.uninstall()
    expect(snapshot(box.home)).toEqual({})
  })

  it.runIf(isRoot)('works for an ordinary user', () => {
    const box = makeInstallSandbox()
    chownSync(box.home, NOBODY, NOBODY)
    chmodSync(box.root, 0o777)
    expect(box.install([], { uid: NOBODY })).toMatchObject({ code: 0, stderr: '' })
    expect(box.run(join(box.prefix, 'bin', 'penv'), [], { uid: NOBODY }).stdout).toBe('one one\n')
    expect(box.uninstall([], { uid: NOBODY })).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(box.home)).toEqual([])
  })

  it('can be run from an installation, into another prefix', () => {
    const box = makeInstallSandbox()
    box.install()
    const other = join(box.root, 'other')
    const script = join(box.prefix, 'lib', 'penv', 'install', 'install.sh')
    expect(box.run('sh', [script, '--prefix', other, '--no-rc'])).toMatchObject({ code: 0, stderr: '' })
    expect(box.run(join(other, 'bin', 'penv'), []).stdout).toBe('one one\n')
  })

  it.each([
    ['relative', 'rel dir/x', (box: { root: string }) => join(box.root, 'rel dir', 'x')],
    ['with a trailing slash', 'p///', (box: { root: string }) => join(box.root, 'p')],
    ['with a tilde that no shell expanded', '~/tools', (box: { home: string }) => join(box.home, 'tools')],
    ['beginning with a dash', '-p', (box: { root: string }) => join(box.root, '-p')],
  ])('takes a prefix that is %s', (_, prefix, expected) => {
    const box = makeInstallSandbox()
    expect(box.install([`--prefix=${prefix}`, '--no-rc'])).toMatchObject({ code: 0, stderr: '' })
    expect(box.run(join(expected(box), 'bin', 'penv'), []).stdout).toBe('one one\n')
    expect(box.uninstall(['--prefix', prefix])).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(expected(box))).toBe(false)
  })
})

describe('install.sh builds', () => {
  /** A package without dependencies, whose build makes the bundle: npm is real, the network is not needed. */
  function makeUnbuilt(build = 'mkdir -p dist && cp bundle.cjs dist/penv.cjs') {
    const box = makeInstallSandbox()
    const { clone } = box
    writeFile(join(clone, 'bundle.cjs'), readFileSync(join(clone, 'dist', 'penv.cjs')))
    rmSync(join(clone, 'dist'), { recursive: true })
    const manifest = { name: 'git-penv', version: '1.2.3', scripts: { build } }
    writeFile(join(clone, 'package.json'), JSON.stringify(manifest))
    writeFile(
      join(clone, 'package-lock.json'),
      JSON.stringify({ ...manifest, lockfileVersion: 3, packages: { '': { ...manifest } } }),
    )
    writeFile(join(clone, 'src', 'cli.ts'), '')
    return box
  }

  it('the bundle where it is missing', () => {
    const box = makeUnbuilt()
    const outcome = box.install()
    expect(outcome.code, outcome.stderr).toBe(0)
    expect(box.run(join(box.prefix, 'bin', 'penv'), []).stdout).toBe('one one\n')
  })

  it('again where a source is newer than the bundle', () => {
    const box = makeUnbuilt()
    box.install()
    writeFile(join(box.clone, 'node_modules', '.bin', 'esbuild'), '#!/bin/sh\n', 0o755)
    writeBundle(box.clone, 'two')
    writeFile(join(box.clone, 'bundle.cjs'), readFileSync(join(box.clone, 'dist', 'penv.cjs')))
    writeBundle(box.clone, 'two')
    const stale = new Date(Date.now() - 60_000)
    writeFileSync(join(box.clone, 'dist', 'penv.cjs'), 'old')
    utimesSync(join(box.clone, 'dist', 'penv.cjs'), stale, stale)
    box.install()
    expect(box.run(join(box.prefix, 'bin', 'penv'), []).stdout).toBe('two two\n')
  })

  it('and installs nothing when the build fails', () => {
    const box = makeUnbuilt('exit 3')
    const outcome = box.install()
    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toContain('the build in')
    expect(snapshot(box.home)).not.toHaveProperty('.local')
    expect(existsSync(join(box.home, '.bashrc'))).toBe(false)
  })

  it('and refuses a bundle that Node cannot read', () => {
    const box = makeInstallSandbox()
    writeFileSync(join(box.clone, 'dist', 'penv.cjs'), 'function (')
    const outcome = box.install()
    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toContain('is damaged')
    expect(snapshot(box.home)).toEqual({})
  })

  it('and names npm when that is missing', () => {
    const box = makeUnbuilt()
    const outcome = box.install([], { env: { PATH: makePathWithout(box, ['npm']) } })
    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toContain('npm is not on PATH')
    expect(snapshot(box.home)).toEqual({})
  })
})

describe('install.sh refuses, changing nothing,', () => {
  it.each(['node', 'git'])('a machine without %s', program => {
    const box = makeInstallSandbox()
    const outcome = box.install([], { env: { PATH: makePathWithout(box, [program]) } })
    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toContain(`${program} is not on PATH`)
    expect(snapshot(box.home)).toEqual({})
  })

  it('a Node that is too old', () => {
    const box = makeInstallSandbox()
    writeFile(
      join(box.root, 'old', 'node'),
      '#!/bin/sh\n[ "$1" = --version ] && echo v20.18.3 && exit\nexit 1\n',
      0o755,
    )
    const outcome = box.install([], { env: { PATH: `${box.root}/old:${barePath}` } })
    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toContain('v20.18.3')
    expect(outcome.stderr).toContain('20.19')
    expect(snapshot(box.home)).toEqual({})
  })

  it.each([
    [['--frobnicate']],
    [['extra']],
    [['--prefix']],
    [['--prefix=']],
    [['--prefix', '']],
    [['--shell', 'tcsh']],
    [['--no-rc', '--shell']],
  ])('the call %j, as a usage error', args => {
    const box = makeInstallSandbox()
    const outcome = box.install(args)
    expect(outcome).toMatchObject({ code: 2, stdout: '' })
    expect(outcome.stderr).toContain('--help')
    expect(snapshot(box.home)).toEqual({})
  })

  it.each([
    ['lib/penv that something else made', 'lib/penv/readme.txt'],
    ['lib/penv whose manifest is not ours', 'lib/penv/manifest'],
    ['bin/penv that something else made', 'bin/penv'],
    ['bin/git-penv that something else made', 'bin/git-penv'],
  ])('a %s', (_, path) => {
    const box = makeInstallSandbox()
    writeFile(join(box.prefix, path), '#!/bin/sh\nsomething else\n')
    const before = snapshot(box.home)
    for (const outcome of [box.install()]) {
      expect(outcome).toMatchObject({ code: 1, stdout: '' })
      expect(outcome.stderr).toContain(join(box.prefix, path.replace(/^(lib.penv).*/, '$1')))
    }
    expect(snapshot(box.home)).toEqual(before)
  })

  it('a bin/penv that is a link to something else, even when that is gone', () => {
    const box = makeInstallSandbox()
    mkdirSync(join(box.prefix, 'bin'), { recursive: true })
    symlinkSync('/gone/penv', join(box.prefix, 'bin', 'penv'))
    expect(box.install().code).toBe(1)
    expect(readdirSync(box.prefix)).toEqual(['bin'])
  })

  it.runIf(isRoot)('sudo in the home of the user who called it', () => {
    const box = makeInstallSandbox()
    chownSync(box.home, NOBODY, NOBODY)
    const env = { SUDO_UID: String(NOBODY) }
    const outcome = box.install([], { env })
    expect(outcome).toMatchObject({ code: 1, stdout: '' })
    expect(outcome.stderr).toContain('sudo')
    expect(snapshot(box.home)).toEqual({})
    expect(box.install(['--prefix', join(box.root, 'local'), '--no-rc'], { env }).code).toBe(0)
    expect(snapshot(box.home)).toEqual({})
  })

  it.runIf(isRoot)('a user without a home directory, unless a prefix is given', () => {
    const box = makeInstallSandbox()
    chmodSync(box.root, 0o777)
    const options = { uid: 54_321, env: { HOME: undefined } }
    const outcome = box.install([], options)
    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toContain('HOME is not set')
    expect(box.install(['--prefix', join(box.root, 'p')], options).code).toBe(1)
    expect(box.install(['--prefix', join(box.root, 'p'), '--no-rc'], options).code).toBe(0)
    expect(box.uninstall([], options).code).toBe(1)
    expect(box.uninstall(['--prefix', join(box.root, 'p')], options).code).toBe(0)
    expect(existsSync(join(box.root, 'p'))).toBe(false)
  })
})

describe('uninstall.sh', () => {
  it.each(['bash', 'zsh', 'fish'])('leaves the home directory as it was before install.sh, for %s', shell => {
    const box = makeInstallSandbox()
    writeFile(join(box.home, '.bashrc'), 'alias ll="ls -l"')
    writeFile(join(box.prefix, 'bin', 'mine'), '#!/bin/sh\n', 0o755)
    const before = snapshot(box.home)
    expect(box.install(['--shell', shell]).code).toBe(0)
    expect(snapshot(box.home)).not.toEqual(before)
    expect(box.uninstall()).toMatchObject({ code: 0, stderr: '' })
    expect(snapshot(box.home)).toEqual(before)
  })

  it('is installed too, and then removes itself', () => {
    const box = makeInstallSandbox()
    box.install(['--prefix', join(box.home, 'tools')])
    const script = join(box.home, 'tools', 'lib', 'penv', 'install', 'uninstall.sh')
    expect(box.run('sh', [script])).toMatchObject({ code: 0, stderr: '' })
    expect(snapshot(box.home)).toEqual({})
  })

  it('says "already" where nothing is installed', () => {
    const box = makeInstallSandbox()
    const outcome = box.uninstall()
    expect(outcome).toMatchObject({ code: 0, stderr: '' })
    expect(outcome.stdout).toMatch(/^already /)
  })

  it('refuses a prefix whose lib/penv install.sh did not make', () => {
    const box = makeInstallSandbox()
    writeFile(join(box.prefix, 'lib', 'penv', 'notes.txt'), 'mine')
    const before = snapshot(box.home)
    expect(box.uninstall().code).toBe(1)
    expect(snapshot(box.home)).toEqual(before)
  })

  it('keeps files that install.sh did not make, and a penv that was put in its place', () => {
    const box = makeInstallSandbox()
    box.install()
    writeFile(join(box.prefix, 'lib', 'penv', 'samples', 'mine.sh'), 'mine')
    writeFile(join(box.prefix, 'lib', 'penv', 'notes.txt'), 'mine')
    rmSync(join(box.prefix, 'bin', 'penv'))
    writeFile(join(box.prefix, 'bin', 'penv'), '#!/bin/sh\nanother\n', 0o755)
    const outcome = box.uninstall()
    expect(outcome).toMatchObject({ code: 0, stderr: '' })
    expect(outcome.stdout).toMatch(/^kept .*bin\/penv/m)
    expect(outcome.stdout).toMatch(/^kept .*lib\/penv/m)
    const left = Object.entries(snapshot(box.prefix)).filter(([, entry]) => !entry.startsWith('directory'))
    expect(left.map(([name]) => name.replace(/1\.2\.3\.\d+/, 'V'))).toEqual([
      'bin/penv',
      'lib/penv/notes.txt',
      'lib/penv/versions/V/samples/mine.sh',
    ])
  })

  it('keeps the state directory and names it', () => {
    const box = makeInstallSandbox()
    const ledger = join(box.home, '.local', 'state', 'penv', 'ledger', '000000000001.json')
    writeFile(ledger, '{}')
    box.install()
    expect(box.uninstall().stdout).toMatch(/^kept .*~\/\.local\/state\/penv/m)
    expect(readFileSync(ledger, 'utf8')).toBe('{}')
    writeFile(join(box.root, 'state', 'penv', 'x'), '')
    const outcome = box.uninstall([], { env: { XDG_STATE_HOME: join(box.root, 'state') } })
    expect(outcome.stdout).toContain(join(box.root, 'state', 'penv'))
    expect(box.uninstall([], { env: { PENV_HOME: box.root } }).stdout).toContain(`kept      ${box.root}:`)
  })

  it.each([[['--frobnicate']], [['--prefix']], [['--purge']]])('answers %j with a usage error', args => {
    const box = makeInstallSandbox()
    box.install()
    const before = snapshot(box.home)
    expect(box.uninstall(args)).toMatchObject({ code: 2, stdout: '' })
    expect(snapshot(box.home)).toEqual(before)
  })
})

describe('the scripts of install/', () => {
  const names = readdirSync(installSources).filter(name => name.endsWith('.sh'))

  it('print their header as help', () => {
    const box = makeInstallSandbox()
    for (const outcome of [box.install(['--help']), box.uninstall(['-h'])]) {
      expect(outcome).toMatchObject({ code: 0, stderr: '' })
      expect(outcome.stdout).toContain('--prefix DIR')
      expect(outcome.stdout).not.toContain('set -eu')
    }
    expect(snapshot(box.home)).toEqual({})
  })

  for (const [shell, args] of Object.entries({
    dash: [],
    bash: [],
    busybox: ['sh'],
    zsh: ['--emulate', 'sh'],
  }))
    describeWith(shell, `run by ${shell}`, () => {
      it('install and uninstall as with sh', () => {
        const box = makeInstallSandbox()
        const run = (name: string) =>
          box.run(findOnPath(shell) ?? '', [...args, join(box.clone, 'install', name)])
        box.install()
        const expected = shapeOf(box.home)
        box.uninstall()
        expect(run('install.sh')).toMatchObject({ code: 0, stderr: '' })
        expect(shapeOf(box.home)).toEqual(expected)
        expect(run('install.sh').stdout).not.toMatch(/^(added|installed|replaced)/m)
        expect(run('uninstall.sh')).toMatchObject({ code: 0, stderr: '' })
        expect(snapshot(box.home)).toEqual({})
      })
    })

  describeWith('shellcheck', 'read by shellcheck', () => {
    it('are clean', () => {
      const paths = names.map(name => join('install', name))
      const result = spawnSync('shellcheck', ['-x', ...paths], {
        cwd: join(installSources, '..'),
        encoding: 'utf8',
      })
      expect(result.stdout).toBe('')
      expect(result.status).toBe(0)
    })
  })

  describeWith('dash', 'read by dash', () => {
    it.each(names)('%s is POSIX', name => {
      expect(spawnSync('dash', ['-n', join(installSources, name)], { encoding: 'utf8' }).stderr).toBe('')
    })
  })

  it.each([
    ['readlink -f', 'macOS before 12.3 lacks it'],
    ['sed -i', 'its argument differs on macOS'],
    ['grep -P', 'GNU only'],
    ['mv -T', 'GNU only'],
    ['echo', 'printf is the same everywhere'],
    ['which', 'command -v is POSIX'],
    ['local', 'not POSIX'],
    ['eval', 'data would become code'],
    ['head -n -', 'GNU only'],
  ])('do without %s: %s', word => {
    for (const name of names) {
      const code = readFileSync(join(installSources, name), 'utf8').replaceAll(/^\s*#.*$|\s# .*$/gm, '')
      expect(code, name).not.toMatch(new RegExp(`(^|[;|&({]|then|else|do)[ \\t]*${word}([\\s;]|$)`, 'm'))
    }
  })
})
