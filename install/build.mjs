// Builds dist/penv.cjs: one minified CommonJS file. What a command does not need is not even parsed: esbuild splits
// the program where it imports dynamically, and each part but the first is kept as text until it is asked for.
// Parsing 540 KB at every `penv get` took longer than the rest of the command.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, transform } from 'esbuild'

const root = join(import.meta.dirname, '..')
const common = { minify: true, legalComments: 'none', logLevel: 'warning', platform: 'node', target: 'node20' }

const { outputFiles } = await build({
  ...common,
  entryPoints: [join(root, 'src', 'cli.ts')],
  outdir: join(root, 'dist'),
  bundle: true,
  splitting: true,
  format: 'esm',
  write: false,
  // Its CommonJS build requires its own files in a way that no bundler can follow.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
})

const parts = new Map()
for (const { path, text } of outputFiles) {
  const { code } = await transform(text, { ...common, format: 'cjs', supported: { 'dynamic-import': false } })
  parts.set(`./${basename(path)}`, code.trim())
}

const entry = parts.get('./cli.js')
parts.delete('./cli.js')
const texts = [...parts].map(([name, code]) => `${JSON.stringify(name)}:${JSON.stringify(code)}`).join(',\n')

const program = `#!/usr/bin/env node
"use strict";
const texts={${texts}};
const loaded=new Map();
function load(name){
if(!Object.hasOwn(texts,name))return require(name);
let part=loaded.get(name);
if(part===undefined){
loaded.set(name,part={exports:{}});
require("node:vm").compileFunction(texts[name],["exports","require","module"],{filename:__filename+name.slice(1)})(part.exports,load,part);
}
return part.exports;
}
((exports,require,module)=>{${entry}
})({},load,{});
`
mkdirSync(join(root, 'dist'), { recursive: true })
writeFileSync(join(root, 'dist', 'penv.cjs'), program)
chmodSync(join(root, 'dist', 'penv.cjs'), 0o755)
