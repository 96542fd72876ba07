// A file or a function that does not fit the reader's head is two of them.
import { walk } from './tree.mjs'

const fileLines = 300
const functionLines = 50

function* longFunctions(tree, file) {
  const found = []
  walk(tree.module(file).program, (node) => {
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) found.push(node)
  })
  for (const { start, end } of found) {
    const lines = tree.lineAt(file, end) - tree.lineAt(file, start) + 1
    if (lines > functionLines)
      yield tree.fault(
        file,
        start,
        `a function of ${lines} lines, at most ${functionLines} (wanted: 30): give its steps names`,
      )
  }
}

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkSizes(tree) {
  const shipped = tree.matching(/^packages\/[^/]+\/src\/.*\.ts$/).filter((file) => !file.endsWith('.generated.ts'))
  const files = [
    ...shipped,
    ...tree.matching(/^((packages|examples)\/[^/]+\/)?test\/.*\.ts$|^examples\/[^/]+\/src\/.*\.ts$|^scripts\/.*\.mjs$/),
  ]
  const faults = files.flatMap((file) => {
    const lines = tree.text(file).trimEnd().split('\n').length
    if (lines <= fileLines) return []
    return [
      {
        file,
        line: fileLines + 1,
        message: `${lines} lines, at most ${fileLines} (wanted: 200): which part has a name of its own?`,
      },
    ]
  })
  // A contract suite is one long list of tests: its functions are bounded by the size of the file alone.
  const judged = shipped.filter((file) => !file.startsWith('packages/testkit/'))
  return {
    looked: `${files.length} files`,
    faults: [...faults, ...judged.flatMap((file) => [...longFunctions(tree, file)])],
  }
}
