// The table of the protocol's rules: what is taken away to prove each, and the tests that then turn red.
import { posix } from 'node:path'
import { guardsOf, linkFrom, testsOf } from '../guards/of-tree.mjs'
import { table } from './docstring.mjs'

/** @param {import('./regions.mjs').Page} page @param {string} file where the table will stand */
export async function rulesTable({ tree }, file) {
  const { rules, guards } = await guardsOf(tree)
  const rows = Object.entries(rules).flatMap(([rule, sentence]) =>
    guards
      .filter((guard) => guard.rule === rule)
      .map((guard, index) => [index === 0 ? sentence : '', taken(guard), noticedBy(tree, file, guard)]),
  )
  return table(['Rule', 'Guard', 'Tests that turn red without it'], rows)
}

const taken = ({ guard, file }) => `${guard} (\`${posix.basename(file)}\`)`

function noticedBy(tree, page, guard) {
  return testsOf(tree, guard)
    .map(({ file, titles }) => `${linkFrom(page, file)}: ${titles.map((title) => `“${title}”`).join(', ')}`)
    .join('; ')
}
