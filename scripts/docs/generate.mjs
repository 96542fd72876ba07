// `npm run docs`: draws the plots of the kept bench results, then fills the generated regions of the pages.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Tree } from '../house/tree.mjs'
import { plotFiles } from './bench-tables.mjs'
import { fill, generatedPages } from './regions.mjs'

const tree = new Tree(resolve(import.meta.dirname, '../..'))
// First: a page is filled only where the plots that it shows are there.
for (const [file, svg] of plotFiles(tree)) {
  mkdirSync(dirname(join(tree.root, file)), { recursive: true })
  writeFileSync(join(tree.root, file), svg)
}
for (const file of generatedPages(tree)) {
  const text = await fill(tree, file)
  const changed = text !== tree.text(file)
  if (changed) writeFileSync(join(tree.root, file), text)
  console.log(`${changed ? 'wrote' : 'same '} ${file}`)
}
