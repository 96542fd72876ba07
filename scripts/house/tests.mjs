// The tests of a package lie where the code lies that they test.
import { posix } from 'node:path'

/** What no folder of src/ holds: guarantees of the whole package, and what its tests share. */
const own = new Set(['guarantees', 'support'])
const place = /^(packages\/[^/]+)\/test\/(.+)$/
const inPlace = /^options-table\.ts$|^types\.test-d\.ts$|-member\.ts$/

/** Why a test file lies where nobody looks for it; `undefined` when it does not. */
function faultOf(tree, home, path) {
  const [first, ...rest] = path.split('/')
  const folder = posix.dirname(path)
  if (rest.length > 0) {
    const mirrors = own.has(first) || tree.has(`${home}/src/${folder}`)
    return mirrors ? undefined : `${home}/src has no folder ${folder}: a test lies in the folder of what it tests`
  }
  if (!/\.[cm]?[jt]s$/.test(path) || inPlace.test(path)) return undefined
  if (!/\.test\.[cm]?ts$/.test(path)) return 'what tests share lies in test/support'
  const sources = tree.matching(new RegExp(`^${home}/src/`)).map((file) => file.slice(`${home}/src/`.length))
  if (!sources.some((file) => file.includes('/'))) return undefined
  const [subject] = path.split('.')
  if (sources.some((file) => file.split('.')[0] === subject)) return undefined
  return `${home}/src has no file ${subject}: move the test to the folder of what it tests, or to test/guarantees`
}

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkTests(tree) {
  const files = tree.matching(place)
  const faults = files.flatMap((file) => {
    const [, home, path] = place.exec(file)
    const message = faultOf(tree, home, path)
    return message === undefined ? [] : [{ file, line: 1, message }]
  })
  return { looked: `${files.length} files of tests`, faults }
}
