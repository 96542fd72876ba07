// The regions of docs/performance.md: tables and plots of the results that are kept under bench/results/.
//
//   <!-- generated: bench hit -->          the tables and the plots of bench/results/hit.json
//   <!-- generated: bench targets -->      every figure to reach, and what was got
//   <!-- generated: bench machines -->     where and when each of them was taken
import { plotsOf } from './plots.mjs'

const folder = 'bench/results'
const order = ['hit', 'redis', 'stampede', 'http', 'memory', 'size', 'curves', 'profile']

/** The kept results, in the order of the page. */
function keptResults(tree) {
  return order.flatMap((name) => {
    const file = `${folder}/${name}.json`
    return tree.has(file) ? [tree.json(file)] : []
  })
}

/** Every plot that the results have, as path → SVG. */
export function plotFiles(tree) {
  return new Map(
    keptResults(tree)
      .flatMap(plotsOf)
      .map(({ id, svg }) => [`docs/plots/${id}.svg`, svg]),
  )
}

/** @throws where a plot in the repository is not the one that the results have. */
export function benchRegion(tree, name) {
  const results = keptResults(tree)
  if (name === 'targets') return targetsTable(results)
  if (name === 'machines') return machinesTable(results)
  const result = results.find(({ bench }) => bench === name)
  if (result === undefined) return `No result is kept yet: \`npm run bench:${name} -- --keep\`.`
  const plots = plotsOf(result).map(({ id, title, svg }) => {
    const path = `docs/plots/${id}.svg`
    if (!tree.has(path) || tree.text(path) !== svg) throw new Error(`${path} is behind ${folder}: npm run docs`)
    return `![${title}](plots/${id}.svg)`
  })
  return [...plots, ...result.tables.map(resultTable)].join('\n\n')
}

function resultTable({ title, columns, rows }) {
  const body = rows.map(({ name, is, cells }) => [
    is === 'ours' ? `**${name}**` : is === 'floor' ? `_${name}_` : name,
    ...columns.map(({ id, digits }) => cellText(cells[id], digits)),
  ])
  return [`**${title}**`, '', ...lines(['', ...columns.map((column) => column.title)], body)].join('\n')
}

function targetsTable(results) {
  const body = results.flatMap(({ targets, bench }) =>
    targets.map((target) => [
      target.what,
      `${sign(target.op)} ${target.wanted} ${target.unit}`.trimEnd(),
      cellText(target.got, 2),
      isMet(target) ? 'met' : '**not met**',
      `\`bench:${bench}\``,
    ]),
  )
  return lines(['', 'wanted', 'got', '', 'measured by'], body).join('\n')
}

function machinesTable(results) {
  const body = results.map(({ bench, at, machine, conditions }) => [
    `\`bench:${bench}\``,
    at.slice(0, 16).replace('T', ' '),
    `${machine.cpu}, ${machine.cores} cores, ${machine.memory}`,
    `${machine.os}, Node ${machine.node}`,
    `load ${machine.loadBefore.toFixed(1)} before, cores ${Math.round(machine.busy * 100)} % busy${conditions ? `; ${conditions}` : ''}`,
  ])
  const versions = Object.assign({}, ...results.map((result) => result.versions))
  const named = Object.entries(versions)
    .filter(([name]) => !name.startsWith('@types/') && !name.startsWith('@cattlegrid/'))
    .map(([name, version]) => `${name} ${version}`)
  const table = lines(['', 'taken (UTC)', 'machine', 'system', 'what it was doing'], body)
  return [...table, '', `Versions: ${named.join(', ')}.`].join('\n')
}

function lines(heads, body) {
  const row = (cells) => `| ${cells.join(' | ')} |`
  return [row(heads), row(heads.map((_, index) => (index === 0 ? '---' : '--:'))), ...body.map(row)]
}

/** The median, and how far the quartiles lie from it. */
function cellText(cell, digits) {
  // JSON has no NaN: what could not be told is null.
  if (cell === undefined || cell === null || cell.median === null) return ''
  if (typeof cell === 'string') return cell
  if (typeof cell === 'number') return grouped(cell, digits)
  const spread = cell.median === 0 ? 0 : (cell.high - cell.low) / 2 / Math.abs(cell.median)
  return `${grouped(cell.median, digits)} ±${Math.round(spread * 100)} %`
}

function grouped(value, digits) {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

function sign(op) {
  return { '<=': '≤', '>=': '≥', '=': '=' }[op]
}

function isMet({ op, wanted, got }) {
  const value = typeof got === 'number' ? got : got.median
  return op === '<=' ? value <= wanted : op === '>=' ? value >= wanted : value === wanted
}
