// The table of the protocol's rules: where each is kept, and the test that turns red without it.
import { posix } from 'node:path'
import { readTable, tableFile } from '../guards/table.mjs'
import { table } from './docstring.mjs'

/** @param {import('./regions.mjs').Page} page @param {string} file where the table will stand */
export function rulesTable({ tree }, file) {
  const link = (target) => `[${posix.basename(target)}](${posix.relative(posix.dirname(file), target)})`
  const rows = readTable(tree.text(tableFile))
    .filter(({ isRule }) => isRule)
    .map((guard) => [guard.sentence, link(guard.file), `${link(guard.test)}: “… ${guard.title} …”`])
  return table(['Rule', 'Kept in', 'Test that turns red without it'], rows)
}
