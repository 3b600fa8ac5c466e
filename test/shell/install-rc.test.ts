import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { barePath, type InstallSandbox, makeInstallSandbox, snapshot, writeFile } from '../support/install.ts'
import { describeWith } from '../support/programs.ts'

const isRoot = process.getuid?.() === 0
const begin = '# >>> penv >>>'
const end = '# <<< penv <<<'

const rcOf: Record<string, string> = { bash: '.bashrc', zsh: '.zshrc', fish: '.config/fish/conf.d/penv.fish' }

/** How often text holds a whole block. */
function countBlocks(path: string): number {
  const text = readFileSync(path, 'latin1')
  expect(text.split(begin).length).toBe(text.split(end).length)
  return text.split(begin).length - 1
}

/** The lines of an rc without the block. */
function withoutBlock(text: string): string {
  return text.slice(0, text.indexOf(begin)) + text.slice(text.indexOf(end) + end.length + 1)
}

describe('the block in an rc file', () => {
  const contents: [string, Buffer][] = [
    ['is empty', Buffer.from('')],
    ['ends in a line end', Buffer.from('alias ll="ls -l"\nexport A=1\n')],
    ['has no final line end', Buffer.from('alias ll="ls -l"\nexport A=1')],
    ['has no line end at all', Buffer.from('x')],
    ['ends in blank lines', Buffer.from('export A=1\n\n\n')],
    ['is one blank line', Buffer.from('\n')],
    ['has CRLF line ends', Buffer.from('export A=1\r\nexport B=2\r\n')],
    ['has CRLF line ends but for the last', Buffer.from('export A=1\r\nexport B=2')],
    ['is not UTF-8', Buffer.from([0x23, 0xff, 0xfe, 0x80, 0x0a, 0x23, 0xc3])],
    ['has a BOM', Buffer.from('\ufeffexport A=1\n')],
    ['has a block of another tool', Buffer.from('# >>> conda >>>\nx=1\n# <<< conda <<<\n')],
    ['mentions the marks', Buffer.from(`x=1 ${begin}\n ${end}\n# ${end}\n`)],
    ['has very long lines', Buffer.from(`x='${'y'.repeat(100_000)}'\n`)],
  ]
  for (const [shell, rc] of Object.entries(rcOf))
    it.each(shell === 'zsh' ? contents : contents.slice(0, 3))(
      `comes and goes without a trace in a ${rc} that %s`,
      (_, content) => {
        const box = makeInstallSandbox()
        writeFile(join(box.home, rc), content, 0o640)
        writeFile(join(box.home, '.bash_profile'), '. ~/.bashrc\n')
        const before = snapshot(box.home)
        expect(box.install(['--shell', shell])).toMatchObject({ code: 0, stderr: '' })
        const installed = readFileSync(join(box.home, rc))
        expect(installed.subarray(0, content.length)).toEqual(content)
        expect(installed.toString('latin1').split(`${begin}\n`)).toHaveLength(
          2 + countOwn(content, `${begin}\n`),
        )
        expect(statSync(join(box.home, rc)).mode & 0o777).toBe(0o640)
        box.install(['--shell', shell])
        expect(readFileSync(join(box.home, rc))).toEqual(installed)
        expect(box.uninstall()).toMatchObject({ code: 0, stderr: '' })
        expect(snapshot(box.home)).toEqual(before)
      },
    )

  function countOwn(content: Buffer, mark: string): number {
    return content.toString('latin1').split(mark).length - 1
  }

  it('is replaced where it stands, not doubled, by an installation to another prefix', () => {
    const box = makeInstallSandbox()
    const rc = join(box.home, '.bashrc')
    writeFile(rc, 'above')
    const before = snapshot(box.home)
    box.install(['--prefix', join(box.root, 'first'), '--shell', 'bash'])
    writeFileSync(rc, `${readFileSync(rc, 'utf8')}below\n`)
    expect(box.install(['--prefix', join(box.root, 'second')]).stdout).toMatch(/^replaced /m)
    expect(countBlocks(rc)).toBe(1)
    expect(readFileSync(rc, 'utf8')).toContain(join(box.root, 'second', 'bin'))
    expect(withoutBlock(readFileSync(rc, 'utf8'))).toBe('above\nbelow\n')
    expect(box.uninstall(['--prefix', join(box.root, 'first')]).stdout).toMatch(/^already .*bashrc/m)
    expect(countBlocks(rc)).toBe(1)
    writeFileSync(rc, readFileSync(rc, 'utf8').replace('below\n', ''))
    box.uninstall(['--prefix', join(box.root, 'second')])
    expect(snapshot(box.home)).toEqual(before)
  })

  it('is put in order when somebody doubled it', () => {
    const box = makeInstallSandbox()
    const rc = join(box.home, '.zshrc')
    writeFile(rc, 'above\n')
    box.install(['--shell', 'zsh'])
    writeFileSync(rc, `${readFileSync(rc, 'utf8')}middle\n${readFileSync(rc, 'utf8')}`)
    expect(box.install(['--shell', 'zsh']).stdout).toMatch(/^replaced /m)
    expect(countBlocks(rc)).toBe(1)
    expect(withoutBlock(readFileSync(rc, 'utf8'))).toBe('above\nmiddle\nabove\n')
    writeFileSync(rc, `${readFileSync(rc, 'utf8')}${readFileSync(rc, 'utf8')}`)
    box.uninstall()
    expect(readFileSync(rc, 'utf8')).toBe('above\nmiddle\nabove\nabove\nmiddle\nabove\n')
  })

  it.each([
    ['with a line end', 'export OWN=1\n'],
    ['without a line end', 'export OWN=1'],
  ])('leaves what was written below it since, %s', (_, below) => {
    const box = makeInstallSandbox()
    const rc = join(box.home, '.zshrc')
    writeFile(rc, 'above')
    box.install(['--shell', 'zsh'])
    writeFileSync(rc, `${readFileSync(rc, 'utf8')}${below}`)
    box.install(['--shell', 'zsh'])
    box.uninstall()
    expect(readFileSync(rc, 'utf8')).toBe(`above\n${below}`)
  })

  it('leaves a file that was made for it when something was written there since', () => {
    const box = makeInstallSandbox()
    const rc = join(box.home, '.zshrc')
    box.install(['--shell', 'zsh'])
    writeFileSync(rc, `${readFileSync(rc, 'utf8')}own\n`)
    box.uninstall()
    expect(readFileSync(rc, 'utf8')).toBe('own\n')
  })

  it('is found after an editor turned its line ends into CRLF', () => {
    const box = makeInstallSandbox()
    const rc = join(box.home, '.zshrc')
    writeFile(rc, 'above\n')
    box.install(['--shell', 'zsh'])
    writeFileSync(rc, readFileSync(rc, 'utf8').replaceAll('\n', '\r\n'))
    box.install(['--shell', 'zsh'])
    expect(countBlocks(rc)).toBe(1)
    writeFileSync(rc, readFileSync(rc, 'utf8').replaceAll(/\r?\n/g, '\r\n'))
    box.uninstall()
    expect(readFileSync(rc, 'utf8')).toBe('above\r\n')
  })

  it.each([
    ['relative', () => [['.zshrc', 'dot files/zshrc']] as [string, string][]],
    [
      'absolute',
      (box: InstallSandbox) => [['.zshrc', join(box.home, 'dot files', 'zshrc')]] as [string, string][],
    ],
    [
      'in a chain',
      () =>
        [
          ['.zshrc', 'links/one'],
          ['links/one', '../links/two'],
          ['links/two', '../dot files/zshrc'],
        ] as [string, string][],
    ],
  ])('goes through a symlink that is %s, which stays', (_, linksOf) => {
    const box = makeInstallSandbox()
    const target = join(box.home, 'dot files', 'zshrc')
    writeFile(target, 'above')
    mkdirSync(join(box.home, 'links'))
    const links = linksOf(box)
    for (const [name, to] of links) symlinkSync(to, join(box.home, name))
    const before = snapshot(box.home)
    expect(box.install(['--shell', 'zsh'])).toMatchObject({ code: 0, stderr: '' })
    for (const [name, to] of links) expect(readlinkSync(join(box.home, name))).toBe(to)
    expect(countBlocks(target)).toBe(1)
    box.uninstall()
    expect(snapshot(box.home)).toEqual(before)
  })

  it('goes through a symlink whose target is not there yet', () => {
    const box = makeInstallSandbox()
    symlinkSync('dot files/zshrc', join(box.home, '.zshrc'))
    const before = snapshot(box.home)
    expect(box.install(['--shell', 'zsh'])).toMatchObject({ code: 0, stderr: '' })
    expect(lstatSync(join(box.home, '.zshrc')).isSymbolicLink()).toBe(true)
    expect(countBlocks(join(box.home, 'dot files', 'zshrc'))).toBe(1)
    box.uninstall()
    expect(snapshot(box.home)).toEqual(before)
  })

  it.each([
    ['a directory', (rc: string) => mkdirSync(rc), 'not a file'],
    ['a circle of symlinks', (rc: string) => symlinkSync('.zshrc', rc), 'circle'],
    ['a file with a block that has no end', (rc: string) => writeFile(rc, `a\n${begin}\nb\n`), 'has no end'],
    [
      'a file whose first of two blocks has no end',
      (rc: string) => writeFile(rc, `${begin}\nb\n${begin}\nc\n${end}\n`),
      'has no end',
    ],
  ])('is refused before anything is written where the rc is %s', (_, make, why) => {
    const box = makeInstallSandbox()
    make(join(box.home, '.zshrc'))
    const before = lstatSync(join(box.home, '.zshrc')).isFile() ? snapshot(box.home) : undefined
    const outcome = box.install(['--shell', 'zsh'])
    expect(outcome).toMatchObject({ code: 1, stdout: '' })
    expect(outcome.stderr).toContain('.zshrc')
    expect(outcome.stderr).toContain(why)
    expect(outcome.stderr).toContain('--no-rc')
    expect(existsSync(box.prefix)).toBe(false)
    if (before) expect(snapshot(box.home)).toEqual(before)
    expect(box.install(['--no-rc']).code).toBe(0)
  })

  it.runIf(isRoot)('is refused where the rc is read-only, by both scripts, changing nothing', () => {
    const box = makeInstallSandbox()
    const uid = 65_534
    const rc = join(box.home, '.zshrc')
    chmodSync(box.root, 0o777)
    chownSync(box.home, uid, uid)
    writeFile(rc, 'above\n', 0o444)
    chownSync(rc, uid, uid)
    const outcome = box.install(['--shell', 'zsh'], { uid })
    expect(outcome).toMatchObject({ code: 1, stdout: '' })
    expect(outcome.stderr).toContain(`${rc}: it is not writable`)
    chmodSync(rc, 0o644)
    expect(box.install(['--shell', 'zsh'], { uid }).code).toBe(0)
    chmodSync(rc, 0o444)
    const before = snapshot(box.home)
    const refused = box.uninstall([], { uid })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain(rc)
    expect(snapshot(box.home)).toEqual(before)
    chmodSync(rc, 0o644)
    expect(box.uninstall([], { uid }).code).toBe(0)
    expect(readFileSync(rc, 'utf8')).toBe('above\n')
  })

  it('is left out with --no-rc, and for a shell that is not known, which is said', () => {
    const box = makeInstallSandbox()
    expect(box.install(['--no-rc'])).toMatchObject({ code: 0, stderr: '' })
    const outcome = box.install([], { env: { SHELL: '/usr/bin/nu' } })
    expect(outcome.code).toBe(0)
    expect(outcome.stderr).toContain('"nu"')
    expect(outcome.stderr).toContain(join(box.prefix, 'bin'))
    expect(Object.keys(snapshot(box.home)).filter(name => !name.startsWith('.local'))).toEqual([])
  })

  it('is refused for a directory that cannot be on PATH', () => {
    const box = makeInstallSandbox()
    const outcome = box.install(['--prefix', join(box.root, 'a:b')])
    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toContain('colon')
    expect(box.install(['--prefix', join(box.root, 'a:b'), '--no-rc']).code).toBe(0)
  })

  it('goes to $ZDOTDIR and to $XDG_CONFIG_HOME where those are absolute', () => {
    const box = makeInstallSandbox()
    const env = { ZDOTDIR: join(box.home, 'z sh'), XDG_CONFIG_HOME: join(box.home, 'con fig') }
    box.install(['--shell', 'zsh'], { env })
    box.install(['--shell', 'fish'], { env })
    expect(countBlocks(join(box.home, 'z sh', '.zshrc'))).toBe(1)
    expect(countBlocks(join(box.home, 'con fig', 'fish', 'conf.d', 'penv.fish'))).toBe(1)
    expect(box.uninstall()).toMatchObject({ code: 0, stderr: '' })
    expect(snapshot(box.home)).toEqual({})
    const relative = { ZDOTDIR: 'z', XDG_CONFIG_HOME: 'c' }
    box.install(['--shell', 'zsh'], { env: relative })
    box.install(['--shell', 'fish'], { env: relative })
    expect(countBlocks(join(box.home, '.zshrc'))).toBe(1)
    expect(countBlocks(join(box.home, '.config', 'fish', 'conf.d', 'penv.fish'))).toBe(1)
  })

  it.each([
    ['none, made as .profile', {}, '.profile'],
    [
      '.bash_profile that does not read .bashrc',
      { '.bash_profile': '# .bashrc\nx=1\n', '.profile': '' },
      '.bash_profile',
    ],
    ['.bash_login', { '.bash_login': '', '.profile': '' }, '.bash_login'],
    ['.profile', { '.profile': 'x=1\n' }, '.profile'],
    ['.profile that reads .bashrc', { '.profile': '. "$HOME/.bashrc"\n' }, undefined],
    ['.bash_profile that reads .bashrc', { '.bash_profile': '. ~/.bashrc\n', '.profile': '' }, undefined],
  ])('serves login shells of bash, whose file is %s', (_, files: Record<string, string>, expected) => {
    const box = makeInstallSandbox()
    for (const [name, content] of Object.entries(files)) writeFile(join(box.home, name), content)
    const before = snapshot(box.home)
    box.install()
    const withBlock = ['.bash_profile', '.bash_login', '.profile'].filter(
      name => existsSync(join(box.home, name)) && countBlocks(join(box.home, name)) > 0,
    )
    expect(withBlock).toEqual(expected === undefined ? [] : [expected])
    expect(countBlocks(join(box.home, '.bashrc'))).toBe(1)
    box.uninstall()
    expect(snapshot(box.home)).toEqual(before)
  })
})

const prefixes: [string, (box: InstallSandbox) => string][] = [
  ['the default prefix', box => box.prefix],
  ['a prefix with a space and quotes', box => join(box.root, `it's a "new" \\ $prefix`)],
]

const shells: Record<string, { args: string[]; printPath: string }> = {
  bash: { args: ['-ic'], printPath: 'printf "%s" "$PATH"' },
  zsh: { args: ['-ic'], printPath: 'printf "%s" "$PATH"' },
  fish: { args: ['-ic'], printPath: 'string join : $PATH' },
}

for (const [shell, { args, printPath }] of Object.entries(shells))
  describeWith(shell, `a new ${shell}`, () => {
    it.each(prefixes)('finds penv, installed to %s', (_, prefixOf) => {
      const box = makeInstallSandbox()
      const prefix = prefixOf(box)
      box.install(['--prefix', prefix, '--shell', shell])
      const found = box.run(shell, [...args, 'command -v penv; penv up; git penv id'])
      expect(found.stdout).toBe(`${prefix}/bin/penv\none one up\none one id\n`)
    })

    it.each(prefixes)('has bin once on PATH, however often it starts, for %s', (_, prefixOf) => {
      const box = makeInstallSandbox()
      const prefix = prefixOf(box)
      box.install(['--prefix', prefix, '--shell', shell])
      const nested = box.run(shell, [...args, `${shell} ${args.join(' ')} '${printPath}'`])
      expect(
        nested.stdout
          .trim()
          .split(':')
          .filter(entry => entry === join(prefix, 'bin')),
      ).toHaveLength(1)
      const present = { PATH: `${barePath}:${join(prefix, 'bin')}` }
      expect(box.run(shell, [...args, printPath], { env: present }).stdout.trim()).toBe(present.PATH)
    })

    it('does not find penv after uninstall.sh', () => {
      const box = makeInstallSandbox()
      box.install(['--shell', shell])
      box.uninstall()
      expect(box.run(shell, [...args, 'command -v penv']).stdout).toBe('')
    })
  })

describeWith('bash', 'a login shell', () => {
  it.each([['-lc'], ['-lic']])('of bash finds penv, started with %s', option => {
    const box = makeInstallSandbox()
    box.install()
    expect(box.run('bash', [option, 'command -v penv']).stdout).toBe(`${box.prefix}/bin/penv\n`)
  })
})
