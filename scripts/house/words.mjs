// Paths of one machine: they say nothing to the next reader and break the next clone.
// Each pattern has a bracket in it, so that it does not find itself here.
const paths = /(?<![\w.:/-])(?:\/w[o]rk\/|\/r[o]ot\/|\/h[o]me\/\w|\/U[s]ers\/\w|\/tmp\/br[i]ef)|\b[A-Z]:\\Users\\/g
const binary = /\.(png|jpe?g|gif|ico|woff2?|gz|tgz|tsbuildinfo)$/

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkWords(tree) {
  const files = tree.files.filter((file) => !binary.test(file))
  const faults = files.flatMap((file) =>
    [...tree.text(file).matchAll(paths)].map((found) =>
      tree.fault(file, found.index, `${found[0]} is a path of one machine: write it relative to the repository`),
    ),
  )
  return { looked: `${files.length} files`, faults }
}
