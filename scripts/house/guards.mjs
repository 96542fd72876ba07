// The tables of guards name tests that exist, and each rule of the protocol has a guard: docs/protocol.md tells them.
import { regionsOf } from '../docs/regions.mjs'
import { guardsOf, testsOf } from '../guards/of-tree.mjs'

const tables = 'scripts/guards/tables/index.mjs'
const rulesFile = 'scripts/guards/rules.mjs'
const page = 'docs/protocol.md'

function* titleFaults(tree, guard) {
  const { table, titles } = guard
  for (const test of guard.tests.filter((file) => !tree.has(file)))
    yield { file: tables, line: 1, message: `${table}: “${guard.guard}” names ${test}, which does not exist` }
  const there = { ...guard, tests: guard.tests.filter((file) => tree.has(file)) }
  for (const { file } of testsOf(tree, there).filter((tested) => titles !== undefined && tested.titles.length === 0))
    yield { file, line: 1, message: `no test is called “… ${titles} …”, as the table ${table} has it` }
}

/** @param {import('./tree.mjs').Tree} tree @returns {Promise<import('./tree.mjs').Finding>} */
export async function checkGuards(tree) {
  const { rules, guards } = await guardsOf(tree)
  const proven = new Set(guards.map(({ rule }) => rule))
  const unproven = Object.keys(rules).filter((rule) => !proven.has(rule))
  const shown = tree.has(page) && regionsOf(tree.text(page)).some(({ kind }) => kind === 'guards')
  return {
    looked: `${guards.length} guards`,
    faults: [
      ...guards.flatMap((guard) => [...titleFaults(tree, guard)]),
      ...unproven.map((rule) => ({ file: rulesFile, line: 1, message: `no guard of a table is the rule ${rule}` })),
      ...(shown ? [] : [{ file: page, line: 1, message: 'there is no region <!-- generated: guards rules -->' }]),
    ],
  }
}
