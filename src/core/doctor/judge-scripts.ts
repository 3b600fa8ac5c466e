// What doctor says of the lifecycle scripts. Pure: texts in, findings out, each with its remedy.
import { QUESTION_MARK } from '../init/init-text.ts'
import type { Verdict } from '../verify-checks.ts'
import type { Finding } from './finding.ts'

/** What was read of `.preview/`. */
export interface ScriptFacts {
  file: string
  text: string
  isExecutable: boolean
}

export function judgeScripts(scripts: readonly ScriptFacts[]): Finding[] {
  if (!scripts.some(({ file }) => file.endsWith('/provision.sh')))
    return [
      {
        area: 'scripts',
        verdict: 'warn',
        message: 'there is no .preview/provision.sh on this branch',
        remedy: 'penv init',
      },
    ]
  const findings: Finding[] = []
  for (const { file, text, isExecutable } of scripts) {
    const say = (verdict: Verdict, message: string, line?: number, remedy?: string) =>
      findings.push({
        area: 'scripts',
        verdict,
        message,
        file,
        ...(line === undefined ? {} : { line }),
        ...(remedy === undefined ? {} : { remedy }),
      })
    if (text.includes('\r\n'))
      say(
        'fail',
        'it has CRLF line ends, which its interpreter cannot read',
        undefined,
        'echo "*.sh text eol=lf" >> .gitattributes',
      )
    if (!isExecutable) say('ok', 'it has no run bit; penv runs it all the same')
    for (const [at, line] of text.split('\n').entries())
      if (line.includes(QUESTION_MARK))
        say('fail', line.slice(line.indexOf(QUESTION_MARK) + 2).trim(), at + 1, `edit ${file}`)
  }
  const isMissing = (name: string) => !scripts.some(({ file }) => file.endsWith(`/${name}.sh`))
  for (const name of ['verify', 'teardown'])
    if (isMissing(name))
      findings.push({
        area: 'scripts',
        verdict: 'warn',
        message: `there is no .preview/${name}.sh`,
        remedy: 'penv init',
      })
  return findings.some(({ verdict }) => verdict !== 'ok')
    ? findings
    : [...findings, { area: 'scripts', verdict: 'ok', message: 'the lifecycle scripts are complete' }]
}
