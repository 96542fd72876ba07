// A page is written by hand around regions that are generated from the docstrings of the sources and from kept results:
//
//   <!-- generated: options CacheOptions -->     a table of that interface's own members, and where the others are told
//   <!-- generated: everyday cache -->           a table of the options that most applications set
//   <!-- generated: events CacheEvents -->       a table of the events and their fields
//   <!-- generated: metrics all -->               a table of the metrics that both exporters have
//   <!-- generated: guards rules -->             a table of the protocol's rules and the tests that hold them
//   <!-- generated: faults matrix -->            a table of what callers got in each fault
//   <!-- generated: before bentocache -->        an example of examples/migrations, as it stands; `after` likewise
//   <!-- generated: herds migrations -->         a table of what these examples did for a herd
//   <!-- generated: peers fleet -->              what peers and cattlegrid did in some of these benches, a line for each
//   <!-- generated: bench hit -->                the tables of a kept result of bench/; all `targets`; the `machines`
//   <!-- generated: plot hit -->                 the plot of one of these tables
//   <!-- generated: code send -->                that function of the adapter for Koa
//   …
//   <!-- /generated -->
//
// One figure of a kept result, or of the recorded demo, stands in a sentence, by its table, row and column:
//
//   <!-- figure: hit | getOrSet | ns -->145<!-- /figure -->
//
// `npm run docs` fills them in place; the house check `docs` refuses a page that is behind its sources.
import { posix } from 'node:path'
import { format } from 'prettier'
import { Declarations } from '../house/options.mjs'
import { benchRegion, figureAt, plotImage } from './bench-tables.mjs'
import { eventsTable } from './events-table.mjs'
import { everydayTable } from './everyday-options.mjs'
import { fragmentOf } from './fragment.mjs'
import { matrixTable } from './matrix-table.mjs'
import { metricsTable } from './metrics-table.mjs'
import { optionsTable } from './options-table.mjs'
import { exampleCode, herdsTable } from './migrations.mjs'
import { peersTable } from './peers-table.mjs'
import { rulesTable } from './rules-table.mjs'

/** @typedef {{ tree: import('../house/tree.mjs').Tree, declarations: Declarations, wanted: Map<string, object>, link(name: string): string | undefined }} Page   `link` to where an interface is shown */

const region = /(<!-- generated: (\w+) ([\w-]+) -->\n)[\s\S]*?(<!-- \/generated -->)/g
const figure = /(<!-- figure: (.+?) -->).*?(<!-- \/figure -->)/g
const documented = /^packages\/[^/]+\/src\/(.+\/)?((?:call-)?options|load|cached-method)\.ts$/
const adapter = 'examples/koa-adapter/src/koa-cache.ts'
const events = 'packages/core/src/events/cache-events.ts'

const generators = {
  guards: (page, file) => rulesTable(page, file),
  faults: (page) => matrixTable(page),
  metrics: (page) => metricsTable(page),
  before: ({ tree }, _, name) => exampleCode(tree, `${name}-before`),
  after: ({ tree }, _, name) => exampleCode(tree, `${name}-after`),
  herds: ({ tree }) => herdsTable(tree),
  peers: (page, _, name) => peersTable(page, name),
  bench: ({ tree }, _, name) => benchRegion(tree, name),
  plot: ({ tree }, _, name) => plotImage(tree, name),
  options: (page, file, name) => optionsTable(page, name, declared(page, file, `options ${name}`)),
  everyday: (page, file, name) => everydayTable(page, name, (owner) => declared(page, file, `options ${owner}`)),
  code: ({ tree }, _, name) => codeOf(tree.text(adapter), name),
  events: (page, file, name) => eventsTable(page, declared(page, file, `events ${name}`)),
}

/** The pages that have regions or figures. */
export function generatedPages(tree) {
  return tree
    .matching(/^(README|docs\/.*|bench\/results\/README)\.md$/)
    .filter((file) => regionsOf(tree.text(file)).length > 0 || tree.text(file).search(figure) >= 0)
}

/** Every interface that a page must show, as `kind name` → where it is declared. */
export function interfacesToShow(tree) {
  const declarations = new Declarations(tree)
  const found = (kind, files, wanted) =>
    files
      .flatMap((file) => [...declarations.in(file)])
      .filter(([name, { node, exported }]) => exported && node.type === 'TSInterfaceDeclaration' && wanted.test(name))
      .map(([name, declaration]) => [`${kind} ${name}`, declaration])
  return new Map([
    ...found('options', tree.matching(documented), /Options$/),
    ...found('events', tree.has(events) ? [events] : [], /^CacheEvents$/),
  ])
}

function declared({ wanted }, file, name) {
  const found = wanted.get(name)
  if (found === undefined) throw new Error(`${file} shows ${name}, which the sources do not have`)
  return found
}

/** The regions of a page: `{ kind, name, offset }`, `offset` that of the first marker. */
export function regionsOf(text) {
  return [...text.matchAll(region)].map(({ 2: kind, 3: name, index }) => ({ kind, name, offset: index }))
}

/** The page with every region and every figure as the sources have it now. */
export async function fill(tree, file) {
  const text = tree.text(file)
  const wanted = interfacesToShow(tree)
  const page = { tree, declarations: new Declarations(tree), wanted, link: (name) => linkTo(tree, file, name) }
  const contents = await Promise.all(
    regionsOf(text).map(async ({ kind, name }) =>
      // Code stays as its file has it.
      format(await generators[kind](page, file, name), { parser: 'markdown', embeddedLanguageFormatting: 'off' }),
    ),
  )
  return text
    .replaceAll(region, (_, open, _kind, _name, close) => `${open}\n${contents.shift()}\n${close}`)
    .replaceAll(figure, (_, open, place, close) => open + figureAt(tree, place) + close)
}

/** A function, with the comment above it. */
function codeOf(text, name) {
  const code = RegExp(`(?: */\\*\\*.*\n)?^( *)\\S.*\\b${name}\\(.*\\{\n[^]*?^\\1\\}\n`, 'm').exec(text)
  if (code === null) throw new Error(`${adapter} has no function ${name}`)
  return `\`\`\`ts\n${code[0].replaceAll(RegExp(`^${code[1]}`, 'gm'), '')}\`\`\`\n`
}

/** A link to the heading above an interface's region, on this page or another: its words, and the fragment that GitHub makes of them. */
function linkTo(tree, file, name) {
  const shows = (page) => regionsOf(tree.text(page)).find((one) => one.kind === 'options' && one.name === name)
  const page = [file, ...generatedPages(tree)].find(shows)
  if (page === undefined) return undefined
  const heading = [
    ...tree
      .text(page)
      .slice(0, shows(page).offset)
      .matchAll(/^#+ (.+)$/gm),
  ].at(-1)?.[1]
  const path = page === file ? '' : posix.relative(posix.dirname(file), page)
  return heading === undefined ? undefined : `[${heading}](${path}#${fragmentOf(heading)})`
}
