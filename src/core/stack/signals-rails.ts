// Signals of the configuration of Rails: the databases of its development section, Mongoid, Action Cable and the cache.
import { plainPath } from './copied.ts'
import { asRecord, type FactFile, filesMatching, findLine, lineAt, type RepoFacts, valueAt } from './facts.ts'
import type { Signal } from './signals.ts'
import { wordSignal } from './signals-frameworks.ts'
import { storeByWord } from './store-names.ts'

export function railsSignals(facts: RepoFacts): Signal[] {
  const signals: Signal[] = []
  const configs = filesMatching(facts, /(^|\/)config\/database[\w.-]*$/).filter(
    file => !/(^|\/)(spec|test)s?\//.test(file.path),
  )
  const written = configs.filter(file => /database\.ya?ml$/.test(file.path))
  const chosen =
    written.length > 0 ? written : configs.filter(file => /database\.ya?ml$/.test(plainPath(file.path)))
  const adapters = (chosen.length > 0 ? chosen : configs).flatMap(file => adaptersOf(facts, file))
  // Several databases of one section are all used; several files are branches.
  const isChoice =
    new Set(adapters.map(entry => entry.file)).size > 1 &&
    new Set(adapters.map(entry => storeByWord(entry.word)?.kind)).size > 1
  for (const { file, word, line } of adapters)
    signals.push(
      ...wordSignal(facts, file, line, word, `${file.path} uses ${word}`, isChoice ? 'named' : 'run'),
    )
  for (const file of filesMatching(facts, /(^|\/)config\/mongoid\.ya?ml(\.\w+)?$/))
    signals.push(
      ...wordSignal(facts, file, findLine(file, 'development') ?? 1, 'mongodb', 'Mongoid is configured'),
    )
  for (const file of filesMatching(facts, /(^|\/)config\/cable\.ya?ml(\.\w+)?$/)) {
    const section = /^development:[^\n]*\n((?:[ \t].*\n|\n)*)/m.exec(`${file.text}\n`)
    const body = section?.[1] ?? ''
    if (section !== null && /adapter:\s*["']?redis/.test(body))
      signals.push(
        ...wordSignal(
          facts,
          file,
          lineAt(file.text, section.index),
          'redis',
          'Action Cable uses it in development',
          'named',
        ),
      )
  }
  for (const file of filesMatching(facts, /(^|\/)config\/environments\/development\.rb$/))
    for (const match of file.text.matchAll(/^\s*config\.(?:cache_store|session_store)\s*=?\s*:?(\w+)/gm))
      signals.push(
        ...wordSignal(
          facts,
          file,
          lineAt(file.text, match.index),
          match[1] as string,
          'the cache store of development',
          'named',
        ),
      )
  return signals
}

interface Adapter {
  readonly file: FactFile
  readonly word: string
  readonly line: number
}

/** What the development section uses, each kind once: its own adapter, or those of the databases that it lists. */
function adaptersOf(facts: RepoFacts, file: FactFile): Adapter[] {
  const section = valueAt(facts.yaml.get(file.path)?.[0]?.value, 'development')
  const written = [section, ...Object.values(asRecord(section) ?? {})].flatMap(one => {
    const word = valueAt(one, 'adapter')
    return typeof word === 'string' && storeByWord(word) !== undefined ? [word] : []
  })
  if (written.length > 0)
    return [...new Set(written)].map(word => ({
      file,
      word,
      line: findLine(file, new RegExp(`^\\s*adapter:\\s*["']?${word}\\b`, 'm')) ?? 1,
    }))
  const text = /^development:[^\n]*\n((?:[ \t#].*\n|\n)*)/m.exec(`${file.text}\n`)
  const inSection = text === null ? undefined : adapterIn(text[1] as string)
  const start = text === null || inSection === undefined ? 0 : text.index
  const word = inSection ?? adapterIn(file.text)
  return word === undefined
    ? []
    : [{ file, word, line: lineAt(file.text, file.text.indexOf('adapter', start)) }]
}

/** The last adapter that is named wins: in `ENV.fetch("DB", "postgresql")` it is the default. */
function adapterIn(text: string): string | undefined {
  const line = /^\s*adapter:\s*(.+)$/m.exec(text)?.[1]
  const words = line?.match(/postgresql|postgis|mysql2|trilogy|sqlite3|sqlserver|oracle_enhanced/g)
  return words?.at(-1)
}
