// The layers inside core. The engine and the implementations are siblings: the engine sees the interfaces of a seam
// (the first file of its folder), and only the wiring brings an implementation in.
const core = 'packages/core/src/'

// Top down. A file belongs to the first row that names it; one that no row names is a leaf.
// prettier-ignore
const layers = [
  // layer        who lives there                                       may import
  ['entrance',    /^index\.ts$/,                                        ['wiring', 'decorator', 'face', 'road', 'engine', 'stores', 'policies', 'seams', 'leaves']],
  ['wiring',      /^create-cache\.ts$/,                                 ['face', 'cache', 'engine', 'stores', 'policies', 'seams', 'leaves']],
  ['decorator',   /^decorator\//,                                       ['decorator', 'face', 'seams', 'leaves']],
  ['face',        /^cache\.ts$/,                                        ['engine', 'seams', 'leaves']],
  ['cache',       /^engine-cache\.ts$/,                                 ['face', 'road', 'engine', 'seams', 'leaves']],
  ['road',        /^(refresh|ride|many)\.ts$/,                          ['road', 'engine', 'seams', 'leaves']],
  ['seams',       /^(store\/store|policy\/policy|lease\/lease)\.ts$/,   ['seams', 'leaves']],
  ['engine',      /^(engine|deck|lifecycle|admission|answer|flights?|acquire|lead|running-load|follow|wait|batch|lookup)\.ts$|^lease\//,
                                                                        ['engine', 'seams', 'leaves']],
  ['stores',      /^store\//,                                           ['stores', 'seams', 'leaves']],
  ['policies',    /^policy\//,                                          ['policies', 'seams', 'leaves']],
  ['leaves',      /^/,                                                  ['seams', 'leaves']],
]

const rowOf = (file) => layers.find(([, lives]) => lives.test(file.slice(core.length)))

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkLayers(tree) {
  const files = tree.matching(/^packages\/core\/src\/.*\.ts$/)
  const faults = files.flatMap((file) => {
    const [layer, , allowed] = rowOf(file)
    return tree
      .module(file)
      .imports.filter(({ target }) => target?.startsWith(core) && !allowed.includes(rowOf(target)[0]))
      .map(({ target, offset }) => {
        const rule = `${layer} may import ${allowed.join(', ')}, and ${target} is of ${rowOf(target)[0]}`
        return tree.fault(file, offset, `${rule}: take its interface, or let create-cache.ts hand it in`)
      })
  })
  return { looked: `${files.length} files of core`, faults }
}
