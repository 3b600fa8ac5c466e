import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const repository = join(import.meta.dirname, '..', '..')

it('the JSON parser works in the bundle, which takes its ES build', async () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  const alias = Object.fromEntries(
    [...scripts.build.matchAll(/--alias:([^= ]+)=(\S+)/g)].map(([, from, to]) => [from, to]),
  )
  const { outputFiles } = await build({
    stdin: {
      contents: "export { readJson } from './src/core/json-document.ts'",
      resolveDir: repository,
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
    alias,
  })
  const module = { exports: {} as { readJson?: (text: string) => object } }
  new Function('module', 'exports', outputFiles[0]?.text ?? '')(module, module.exports)
  expect(module.exports.readJson?.('{"a": [1,] /* b */}')).toHaveProperty('root')
})
