// The tables under tables/: each row names a guard of the sources, how to take it away, and the tests that must notice.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { guarantees } from './guarantees.mjs'
import { rules } from './rules.mjs'

/**
 * @typedef {object} Guard
 * @property {keyof typeof guarantees} guarantee
 * @property {keyof typeof rules} [rule] the rule of docs/protocol.md that it is: its tests are told there, by their titles
 * @property {string} guard what holds thanks to it, as a sentence
 * @property {string} file
 * @property {string} find the guard's code: stands in the file exactly once
 * @property {string} replace the same code without the guard; it must still run
 * @property {string[]} tests those that must notice
 * @property {string} [titles] which of their titles; without it all: for files of which most tests have to wait
 */

/** `unit` or `integration`: a run of jest is for one of them, since only the latter needs a Redis. */
export const projectOf = (test) => (test.endsWith('.int.test.ts') ? 'integration' : 'unit')

/** Every row of the tables, in the order of the guarantees. @returns {(Guard & { table: string })[]} */
export function rowsOf(tables) {
  const order = Object.keys(guarantees)
  return Object.entries(tables)
    .flatMap(([table, guards]) => guards.map((guard) => ({ ...guard, table })))
    .toSorted((one, other) => order.indexOf(one.guarantee) - order.indexOf(other.guarantee))
}

/** Why a row proves nothing as it stands: the sources have moved on without it. */
export function rot(root, { guarantee, rule, file, find, replace, tests, titles }) {
  if (!Object.hasOwn(guarantees, guarantee)) return `there is no guarantee called ${guarantee}`
  if (rule !== undefined && !Object.hasOwn(rules, rule)) return `there is no rule called ${rule}`
  if (rule !== undefined && titles === undefined) return 'a rule names the titles of its tests'
  if (!existsSync(join(root, file))) return 'the file is gone'
  const found = readFileSync(join(root, file), 'utf8').split(find).length - 1
  if (found !== 1) return `the snippet stands in the file ${found} times, not once: ${JSON.stringify(find)}`
  if (find === replace) return 'the replacement changes nothing'
  if (tests.length === 0 || new Set(tests.map(projectOf)).size > 1) return 'name tests, of one project'
  const missing = tests.filter((test) => !existsSync(join(root, test)))
  return missing.length > 0 ? `there is no ${missing.join(', ')}` : undefined
}
