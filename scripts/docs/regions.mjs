// A page of docs/ is written by hand around regions that are generated from the docstrings of the sources:
//
//   <!-- generated: options CacheOptions -->     a table of that interface's own members, and where the others are told
//   <!-- generated: events CacheEvents -->       a table of the events and their fields
//   <!-- generated: guards rules -->             a table of the protocol's rules and the tests that hold them
//   <!-- generated: faults matrix -->            a table of what callers got in each fault
//   <!-- generated: bench hit -->                the tables and plots of a kept result of bench/
//   …
//   <!-- /generated -->
//
// `npm run docs` fills them in place; the house check `docs` refuses a page that is behind its sources.
import { format } from 'prettier'
import { Declarations } from '../house/options.mjs'
import { benchRegion } from './bench-tables.mjs'
import { eventsTable } from './events-table.mjs'
import { matrixTable } from './matrix-table.mjs'
import { optionsTable } from './options-table.mjs'
import { rulesTable } from './rules-table.mjs'

/** @typedef {{ tree: import('../house/tree.mjs').Tree, declarations: Declarations, link(name: string): string | undefined }} Page   `link` to where an interface is told */

const region = /(<!-- generated: (\w+) (\w+) -->\n)([\s\S]*?)(<!-- \/generated -->)/g
const documented = /^packages\/[^/]+\/src\/(options|load|decorator\/.*)\.ts$/
const events = 'packages/core/src/events.ts'

/** Every interface that a page must show, as `kind name` → where it is declared. */
export function interfacesToShow(tree) {
  const declarations = new Declarations(tree)
  const interfacesOf = (file) =>
    [...declarations.in(file)].filter(([, { node, exported }]) => exported && node.type === 'TSInterfaceDeclaration')
  const options = tree
    .matching(documented)
    .flatMap(interfacesOf)
    .filter(([name]) => name.endsWith('Options'))
    .map(([name, found]) => [`options ${name}`, found])
  const told = tree.has(events) ? interfacesOf(events).filter(([name]) => name === 'CacheEvents') : []
  return new Map([...options, ...told.map(([name, found]) => [`events ${name}`, found])])
}

/** The regions of a page: `{ kind, name, offset }`, `offset` that of the first marker. */
export function regionsOf(text) {
  return [...text.matchAll(region)].map(({ 2: kind, 3: name, index }) => ({ kind, name, offset: index }))
}

/** The page with every region as the sources have it now. */
export async function fill(tree, file) {
  const text = tree.text(file)
  const wanted = interfacesToShow(tree)
  const page = { tree, declarations: new Declarations(tree), link: (name) => linkTo(text, name) }
  const parts = []
  let end = 0
  for (const match of text.matchAll(region)) {
    const { 0: whole, 1: open, 2: kind, 3: name, 5: close, index } = match
    const table =
      kind === 'guards' ? await rulesTable(page, file) : tableOf(page, kind, name, wanted.get(`${kind} ${name}`), file)
    parts.push(text.slice(end, index), open, '\n', await format(table, { parser: 'markdown' }), '\n', close)
    end = index + whole.length
  }
  return [...parts, text.slice(end)].join('')
}

function tableOf(page, kind, name, found, file) {
  if (kind === 'bench') return benchRegion(page.tree, name)
  if (kind === 'faults') return matrixTable(page)
  if (found === undefined) throw new Error(`${file} shows ${kind} ${name}, which the sources do not have`)
  return kind === 'events' ? eventsTable(page, found) : optionsTable(page, name, found)
}

/** A link to the heading above an interface's region: its words, and the fragment that GitHub makes of them. */
function linkTo(text, name) {
  const shown = regionsOf(text).find((one) => one.name === name)
  const heading = [...text.slice(0, shown?.offset ?? 0).matchAll(/^#+ (.+)$/gm)].at(-1)?.[1]
  if (heading === undefined) return undefined
  const fragment = heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')
  return `[${heading}](#${fragment})`
}
