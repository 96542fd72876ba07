// No import cycle, types included: what cannot be read alone cannot be understood alone.

/** The path back to a file that is still being visited, for every edge that closes one. */
function cyclesIn(graph) {
  const done = new Set()
  const path = []
  const cycles = []
  const visit = (file) => {
    if (done.has(file)) return
    const since = path.indexOf(file)
    if (since >= 0) {
      cycles.push(path.slice(since))
      return
    }
    path.push(file)
    for (const next of graph.get(file) ?? []) visit(next)
    path.pop()
    done.add(file)
  }
  for (const file of graph.keys()) visit(file)
  return cycles
}

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding} */
export function checkCycles(tree) {
  const files = tree.matching(/^packages\/[^/]+\/src\/.*\.ts$/)
  const targets = (file) => tree.module(file).imports.map(({ target }) => target)
  const graph = new Map(files.map((file) => [file, new Set(targets(file).filter((target) => target !== undefined))]))
  const faults = cyclesIn(graph).map((cycle) => {
    const closing = tree.module(cycle.at(-1)).imports.find(({ target }) => target === cycle[0])
    const message = `import cycle ${[...cycle, cycle[0]].join(' → ')}: let the shared part live with its owner, below both`
    return tree.fault(cycle.at(-1), closing.offset, message)
  })
  return { looked: `${files.length} files`, faults }
}
