// The laws of the house that a compiler does not know, each a file under house/ with a test that breaks it.
//
//   node scripts/check-house.mjs [--root folder] [check …]     all checks, or those that are named
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checks } from './house/checks.mjs'
import { report } from './house/report.mjs'
import { Tree } from './house/tree.mjs'

const { values, positionals } = parseArgs({
  options: { root: { type: 'string', default: resolve(import.meta.dirname, '..') } },
  allowPositionals: true,
})
const chosen = positionals.length > 0 ? positionals : Object.keys(checks)
const unknown = chosen.filter((name) => !Object.hasOwn(checks, name))
if (unknown.length > 0)
  throw new Error(`no check called ${unknown.join(', ')}; there are ${Object.keys(checks).join(', ')}`)

const tree = new Tree(values.root)
for (const name of chosen) {
  const { passed, text } = report(name, await checks[name](tree))
  console.log(text)
  if (!passed) process.exitCode = 1
}
