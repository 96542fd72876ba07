// The guards of a tree with the tests that they name, told from its sources: nothing is run.
import { join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { walk } from '../house/tree.mjs'
import { rowsOf } from './table.mjs'

/** @typedef {import('../house/tree.mjs').Tree} Tree */

const home = 'scripts/guards'
const contracts = /^packages\/testkit\/src\/(store|adapter)-contract\//

/** @param {Tree} tree @returns {Promise<{ rules: Record<string, string>, guards: ReturnType<typeof rowsOf> }>} */
export async function guardsOf(tree) {
  const [{ rules }, { tables }] = await Promise.all(
    ['rules.mjs', 'tables/index.mjs'].map((file) => import(pathToFileURL(join(tree.root, home, file)).href)),
  )
  return { rules, guards: rowsOf(tables) }
}

/** The titles that a guard means, in each of its test files. @param {Tree} tree @returns {{ file: string, titles: string[] }[]} */
export function testsOf(tree, { tests, titles: wanted = '' }) {
  return tests.map((file) => ({ file, titles: titlesIn(tree, file).filter((title) => means(title, wanted)) }))
}

const enough = 10

/** Whether a title has these words, or, where it has a place for a value, the first of them right before that place. */
function means(title, wanted) {
  if (title.includes(wanted)) return true
  const before = title.split(/…|%[sj]/).slice(0, -1)
  const lengths = Array.from({ length: wanted.length }, (_, index) => index + 1).filter((length) => length >= enough)
  return before.some((part) => lengths.some((length) => part.endsWith(wanted.slice(0, length))))
}

/** Every full title of a test file; of one that runs a contract of the testkit also those of the contracts. */
function titlesIn(tree, file) {
  const runs = tree.module(file).imports.some(({ specifier }) => specifier === '@cattlegrid/testkit')
  return [file, ...(runs ? tree.matching(contracts) : [])].flatMap((one) => [
    ...titlesBelow(tree.module(one).program, ''),
  ])
}

function titlesBelow(program, above) {
  const found = []
  walk(program, (node) => {
    const title = titleOf(node)
    if (title === undefined) return true
    const whole = `${above} ${title}`.trim()
    if (callee(node) === 'describe') found.push(...titlesBelow(node.arguments.slice(1), whole))
    else found.push(whole)
    return false
  })
  return found
}

/** Of `it('…')`, `it.each(…)('…')` and their like; places for values stay as they are written. */
function titleOf(node) {
  if (node.type !== 'CallExpression' || !/^(describe|it|test)$/.test(callee(node))) return undefined
  const [title] = node.arguments
  if (title?.type === 'TemplateLiteral') return title.quasis.map(({ value }) => value.cooked).join('…')
  return title?.type === 'Literal' && typeof title.value === 'string' ? title.value : undefined
}

/** The name that a call begins with. */
function callee(node) {
  let called = node
  while (called !== undefined && called.type !== 'Identifier') called = called.callee ?? called.object
  return called?.name
}

/** A link from one page to a file. */
export function linkFrom(page, file) {
  return `[${posix.basename(file)}](${posix.relative(posix.dirname(page), file)})`
}
