// No way round the compiler or the linter in what is shipped: a type that is hard to write is a design that is hard to use.
import { walk } from './tree.mjs'

const silencer = /@ts-(?:ignore|nocheck)|(?:oxlint|eslint)-disable/

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkEscapes(tree) {
  const files = tree.matching(/^packages\/[^/]+\/src\/.*\.[cm]?ts$/)
  const faults = files.flatMap((file) => {
    const { program, comments } = tree.module(file)
    const found = comments.flatMap(({ value, start }) => {
      const [word] = silencer.exec(value) ?? []
      return word === undefined ? [] : [tree.fault(file, start, `${word}: mend what it silences`)]
    })
    walk(program, ({ type, start }) => {
      if (type === 'TSAnyKeyword') found.push(tree.fault(file, start, '`any`: say what it is, or `unknown` and look'))
    })
    return found
  })
  return { looked: `${files.length} files`, faults }
}
