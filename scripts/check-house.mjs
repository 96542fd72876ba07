// The laws of the house that a compiler does not know, each a file under house/ with a test that breaks it.
//
//   node scripts/check-house.mjs [--root folder] [check …]     all checks, or those that are named
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checkDocs } from './house/docs.mjs'
import { checkGuards } from './house/guards.mjs'
import { checkLua } from './house/lua.mjs'
import { checkMaps } from './house/maps.mjs'
import { checkNames } from './house/names.mjs'
import { checkOptions } from './house/options.mjs'
import { checkWords } from './house/words.mjs'
import { report } from './house/report.mjs'
import { Tree } from './house/tree.mjs'

const checks = {
  lua: checkLua,
  names: checkNames,
  words: checkWords,
  maps: checkMaps,
  options: checkOptions,
  docs: checkDocs,
  guards: checkGuards,
}

const { values, positionals } = parseArgs({
  options: { root: { type: 'string', default: resolve(import.meta.dirname, '..') } },
  allowPositionals: true,
})
const chosen = positionals.length > 0 ? positionals : Object.keys(checks)
const unknown = chosen.filter((name) => !Object.hasOwn(checks, name))
if (unknown.length > 0)
  throw new Error(`no check called ${unknown.join(', ')}; there are ${Object.keys(checks).join(', ')}`)

const tree = new Tree(values.root)
for (const name of chosen) report(name, await checks[name](tree))
