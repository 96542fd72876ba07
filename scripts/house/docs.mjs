// The generated pages say what the sources and the kept results say: their regions and figures are up to date, every options
// interface and the events have a region, and docs/errors.md has a heading for every code in packages/*/src/errors.ts and for no other.
import { fill, generatedPages, interfacesToShow, regionsOf } from '../docs/regions.mjs'
import { walk } from './tree.mjs'

const errorsPage = 'docs/errors.md'
const code = /^CATTLEGRID_[A-Z_]+$/

async function regionFaults(tree, file) {
  try {
    const filled = await fill(tree, file)
    const stale = filled.split('\n').findIndex((line, index) => line !== tree.text(file).split('\n')[index])
    return filled === tree.text(file)
      ? []
      : [{ file, line: stale + 1, message: 'behind the sources or the kept results: npm run docs' }]
  } catch (error) {
    return [{ file, line: 1, message: error.message }]
  }
}

function unshownFaults(tree, pages) {
  const shown = new Set(pages.flatMap((file) => regionsOf(tree.text(file)).map(({ kind, name }) => `${kind} ${name}`)))
  return [...interfacesToShow(tree)]
    .filter(([region]) => !shown.has(region))
    .map(([region, { file, node }]) =>
      tree.fault(file, node.start, `no page of docs/ has a region <!-- generated: ${region} -->`),
    )
}

/** Each error code with the place of its first mention. */
function codesOf(tree) {
  const codes = new Map()
  for (const file of tree.matching(/^packages\/[^/]+\/src\/(.+\/)?errors\.ts$/)) {
    walk(tree.module(file).program, ({ type, value, start }) => {
      if (type === 'Literal' && code.test(value) && !codes.has(value)) codes.set(value, { file, offset: start })
    })
  }
  return codes
}

function headingFaults(tree) {
  const codes = codesOf(tree)
  const text = tree.has(errorsPage) ? tree.text(errorsPage) : ''
  const headings = new Map(
    [...text.matchAll(/^#+ `?(CATTLEGRID_[A-Z_]+)`?$/gm)].map(({ 1: name, index }) => [name, index]),
  )
  return [
    ...[...codes]
      .filter(([name]) => !headings.has(name))
      .map(([name, { file, offset }]) => tree.fault(file, offset, `${errorsPage} has no heading ${name}`)),
    ...[...headings]
      .filter(([name]) => !codes.has(name))
      .map(([name, offset]) => tree.fault(errorsPage, offset, `${name} is no code of any errors.ts`)),
  ]
}

/** @param {import('./tree.mjs').Tree} tree @returns {Promise<import('./tree.mjs').Finding>} */
export async function checkDocs(tree) {
  const pages = generatedPages(tree)
  const stale = await Promise.all(pages.map((file) => regionFaults(tree, file)))
  return {
    looked: `${pages.length} generated pages, ${codesOf(tree).size} error codes`,
    faults: [...stale.flat(), ...unshownFaults(tree, pages), ...headingFaults(tree)],
  }
}
