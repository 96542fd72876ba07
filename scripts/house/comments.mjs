// A comment is read in one column beside others: it is narrower than code, which Prettier breaks.
const WIDTH = 110
/** Code of an example, a row of a table or a numbered interleaving cannot be broken. */
const unbreakable = / {2,}\S|^(?:app|(?:export )?const)\b/

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkComments(tree) {
  const files = tree.matching(/^packages\/[^/]+\/src\/.*(?<!\.generated)\.ts$/)
  const faults = files.flatMap((file) =>
    tree
      .text(file)
      .split('\n')
      .flatMap((text, index) => {
        const comment = /^\s*(?:\/\/|\/\*\*|\*) (.*)$/.exec(text)?.[1]
        if (comment === undefined || text.length <= WIDTH || unbreakable.test(comment)) return []
        return { file, line: index + 1, message: `a comment of ${text.length} columns, at most ${WIDTH}: shorten it` }
      }),
  )
  return { looked: `${files.length} sources`, faults }
}
