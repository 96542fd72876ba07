// A drawer invites everything and explains nothing: a type or a function lives with its owner.
const drawer = /(^|\/)(utils?|helpers?|common|types|constants)(\.[cm]?[jt]sx?$|\/)/

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkNames(tree) {
  const files = tree.matching(/\.[cm]?[jt]sx?$/)
  const faults = files
    .filter((file) => drawer.test(file))
    .map((file) => ({ file, line: 1, message: 'a drawer, not a name: move what is in it to the file that owns it' }))
  return { looked: `${files.length} names`, faults }
}
