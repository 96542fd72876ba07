// Fills the generated regions of docs/ from the docstrings of the sources: `npm run docs`.
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Tree } from '../house/tree.mjs'
import { fill, regionsOf } from './regions.mjs'

const tree = new Tree(resolve(import.meta.dirname, '../..'))
for (const file of tree.matching(/^docs\/.*\.md$/)) {
  if (regionsOf(tree.text(file)).length === 0) continue
  const text = await fill(tree, file)
  const changed = text !== tree.text(file)
  if (changed) writeFileSync(join(tree.root, file), text)
  console.log(`${changed ? 'wrote' : 'same '} ${file}`)
}
