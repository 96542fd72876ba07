// What the pages show of the kept results, bench/results/*.json.
import { plotsOf } from './plots.mjs'
import { table } from './docstring.mjs'

const order = [
  'hit',
  'miss',
  'redis',
  'stampede',
  'overload',
  'http',
  'nodes',
  'start',
  'memory',
  'size',
  'curves',
  'purge',
  'burst',
  'road',
  'profile',
]

function keptResults(tree) {
  const files = order.map((name) => `bench/results/${name}.json`)
  return files.filter((file) => tree.has(file)).map((file) => tree.json(file))
}

/** Every plot that the results have, as path → SVG. */
export function plotFiles(tree) {
  return new Map(plotsOf(keptResults(tree)).map(({ id, svg }) => [`docs/plots/${id}.svg`, svg]))
}

/** @throws where the plot in the repository is not the one that the results have. */
export function plotImage(tree, id) {
  const plot = plotsOf(keptResults(tree)).find((one) => one.id === id)
  const file = `docs/plots/${id}.svg`
  if (plot === undefined) throw new Error(`no result has a plot ${id}`)
  if (!tree.has(file) || tree.text(file) !== plot.svg) throw new Error(`${file} is behind bench/results: npm run docs`)
  return `![${plot.title}](plots/${id}.svg)`
}

/** @param {string} name a bench, `targets` or `machines` */
export function benchRegion(tree, name) {
  const results = keptResults(tree)
  if (name === 'targets') return targetsTable(results)
  if (name === 'machines') return machinesTable(results)
  const result = results.find(({ bench }) => bench === name)
  if (result === undefined) return `No result is kept yet: \`npm run bench -- ${name} --keep\`.`
  return result.tables.map(resultTable).join('\n\n')
}

/** The middle value of one cell. @param {string} place `table | row | column` @param {string} [missing] what stands for a cell that is not there, else it throws */
export function figureAt(tree, place, missing) {
  const [id, name, column] = place.split(' | ')
  const found = [...keptResults(tree).flatMap(({ tables }) => tables), ...recordedTables(tree)].find(
    (one) => one.id === id,
  )
  const cell = found?.rows.find((row) => row.name === name)?.cells[column]
  if (cell === undefined && missing !== undefined) return missing
  if (cell === undefined) throw new Error(`no result has the figure ${place}`)
  const { digits } = found.columns.find((one) => one.id === column)
  return medianOf(cell).toLocaleString('en', { maximumFractionDigits: digits })
}

/** The expiry that `npm run demo -- record` has recorded, as a table `one-expiry` with a row for each strategy. */
function recordedTables(tree) {
  if (!tree.has('docs/stampede.json')) return []
  const { clients, sides } = tree.json('docs/stampede.json')
  const columns = [
    { id: 'queries', digits: 0 },
    { id: 'clients', digits: 0 },
  ]
  return [
    {
      id: 'one-expiry',
      columns,
      rows: sides.map(({ strategy: name, queries }) => ({ name, cells: { queries, clients } })),
    },
  ]
}

function resultTable({ title, at, columns, rows }) {
  const mark = { ours: '**', floor: '_', peer: '' }
  const body = rows.map(({ name, is, cells }) => [
    `${mark[is]}${name}${mark[is]}`,
    ...columns.map(({ id, digits }) => cellText(cells[id], digits)),
  ])
  const run = at === undefined ? '' : ` (run of ${at.slice(0, 16).replace('T', ' ')})`
  return `**${title}**${run}\n\n${table(['', ...columns.map((column) => column.title)], body, '--:')}`
}

/** A row for each scenario, `Scenario: what is measured of it`, and in it a line for each of these. */
function targetsTable(results) {
  const scenarios = new Map()
  const targets = results.flatMap(({ targets: own }) => own)
  for (const target of targets) {
    const [scenario, measured = ''] = target.what.split(': ')
    const lines = scenarios.get(scenario) ?? new Map()
    scenarios.set(scenario, lines.set(measured, [...(lines.get(measured) ?? []), targetText(target)]))
  }
  const rows = [...scenarios].map(([scenario, lines]) => [
    scenario,
    [...lines].map(([measured, texts]) => (measured && `${measured}: `) + texts.join('; ')).join('<br>'),
  ])
  const sum = `${targets.filter(isMet).length} of ${targets.length} targets are met. Those in bold are not.`
  return `${sum}\n\n${table(['Scenario', 'Measured (target)'], rows)}`
}

function targetText(target) {
  const { op, wanted, got, unit } = target
  const value = medianOf(got)
  const digits = { maximumFractionDigits: value < 1000 ? 2 : 0 }
  const counted = value === 1 ? unit.replace(/^(load|run)s/, '$1') : unit
  const measured = `${value.toLocaleString('en', digits)} ${counted}${spread(got).replace(' ±0 %', '')}`
  const text = `${measured} (${{ '<=': '≤', '>=': '≥', '=': '=' }[op]} ${wanted.toLocaleString('en')})`
  return isMet(target) ? text : `**${text}**`
}

function isMet({ op, wanted, got }) {
  const value = medianOf(got)
  return op === '<=' ? value <= wanted : op === '>=' ? value >= wanted : value === wanted
}

function machinesTable(results) {
  const rows = results.map(({ bench, at, machine, conditions }) => [
    `\`${bench}\``,
    at.slice(0, 16).replace('T', ' '),
    `${machine.cpu}, ${machine.cores} cores, ${machine.memory}`,
    `${machine.os}, Node ${machine.node}`,
    `load ${machine.loadBefore.toFixed(1)} before, cores ${Math.round(machine.busy * 100)} % busy${conditions ? `; ${conditions}` : ''}`,
  ])
  const versions = Object.entries(Object.assign({}, ...results.map((result) => result.versions)))
    .filter(([name]) => !/^@(types|cattlegrid)\//.test(name))
    .map(([name, version]) => `${name} ${version}`)
  const heads = ['Result of', 'measured (UTC)', 'machine', 'system', 'other work']
  return `${table(heads, rows)}\n\nVersions: ${versions.join(', ')}.`
}

/** The median and its spread. JSON has no NaN: a figure that could not be measured is null. */
function cellText(cell, digits) {
  if (typeof cell === 'string') return cell
  return (medianOf(cell) ?? null) === null ? '' : grouped(medianOf(cell), digits) + spread(cell)
}

const medianOf = (cell) => (typeof cell === 'number' ? cell : cell?.median)

/** Half the distance between the quartiles, as a share of the median. */
function spread({ median, low, high }) {
  if (median === undefined) return ''
  return ` ±${median === 0 ? 0 : Math.round((50 * (high - low)) / Math.abs(median))} %`
}

function grouped(value, digits) {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
