// Every row of the table of guards can still be proven, every guarantee has one, and docs/protocol.md lists the rules among them.
import { regionsOf } from '../docs/regions.mjs'
import { readTable, rotOf, tableFile } from '../guards/table.mjs'

const guarantees = ['G1', 'G2', 'G3', 'G4', 'G5', 'G6', 'G7', 'G8', 'G9']
const most = 60
const page = 'docs/protocol.md'

function* faultsOf(tree, guards) {
  for (const guard of guards) {
    const why = rotOf(tree, guard)
    if (why !== undefined) yield `“${guard.sentence}” proves nothing: ${why}`
  }
  const bare = guarantees.filter((name) => guards.every(({ guarantee }) => guarantee !== name))
  if (bare.length > 0) yield `no guard for ${bare.join(', ')}`
  if (guards.length > most) yield `${guards.length} guards, at most ${most}: mutation testing is for the rest`
}

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkGuards(tree) {
  const guards = readTable(tree.text(tableFile))
  const faults = [...faultsOf(tree, guards)].map((message) => ({ file: tableFile, line: 1, message }))
  if (!tree.has(page) || !regionsOf(tree.text(page)).some(({ kind }) => kind === 'guards'))
    faults.push({ file: page, line: 1, message: 'there is no region <!-- generated: guards rules -->' })
  return { looked: `${guards.length} guards`, faults }
}
