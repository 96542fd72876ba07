// Draws the plots of the kept bench results, and fills the generated regions of docs/ from them and from the docstrings of the
// sources: `npm run docs`.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Tree } from '../house/tree.mjs'
import { plotFiles } from './bench-tables.mjs'
import { fill, regionsOf } from './regions.mjs'

const tree = new Tree(resolve(import.meta.dirname, '../..'))
// First: a page is filled only where the plots that it shows are there.
for (const [file, svg] of plotFiles(tree)) {
  mkdirSync(dirname(join(tree.root, file)), { recursive: true })
  writeFileSync(join(tree.root, file), svg)
}
for (const file of tree.matching(/^docs\/.*\.md$/)) {
  if (regionsOf(tree.text(file)).length === 0) continue
  const text = await fill(tree, file)
  const changed = text !== tree.text(file)
  if (changed) writeFileSync(join(tree.root, file), text)
  console.log(`${changed ? 'wrote' : 'same '} ${file}`)
}
