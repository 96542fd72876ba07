import { met, type Cell, type Column, type Result, type Row, type Table, type Target } from './result.ts'

/** All tables of a run, for people. */
export function printed(result: Result): string {
  const { machine } = result
  const parts = [
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; cores ${percent(machine.busy)} busy, load before ${machine.loadBefore.toFixed(1)}`,
    ...result.tables.map(printedTable),
  ]
  if (result.smoke) parts.push('A smoke run: it shows that the bench works, and measures nothing.')
  else if (result.targets.length > 0) parts.push(printedTargets(result.targets))
  return parts.join('\n\n')
}

function printedTable(table: Table): string {
  const heads = ['', ...table.columns.map(({ title }) => title)]
  const rows = table.rows.map((row) => [
    label(row),
    ...table.columns.map((column) => cellText(row.cells[column.id], column)),
  ])
  return [table.title, aligned([heads, ...rows])].join('\n')
}

function printedTargets(targets: readonly Target[]): string {
  const rows = targets.map((target) => [
    met(target) ? 'met' : 'NOT met',
    target.what,
    `${target.op} ${target.wanted} ${target.unit}`.trimEnd(),
    cellText(target.got, { id: '', title: '', digits: 2 }),
  ])
  return ['Targets', aligned([['', '', 'wanted', 'got'], ...rows])].join('\n')
}

/** Labels to the left, figures to the right. */
function aligned(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const written = lines.map((line) =>
    line.map((text, column) => (column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0))),
  )
  return written.map((line) => `  ${line.join('   ')}`.trimEnd()).join('\n')
}

function label({ is, name }: Row): string {
  return is === 'ours' ? `> ${name}` : is === 'floor' ? `_ ${name}` : `  ${name}`
}

/** The median, and how far the quartiles lie from it, in per cent. */
function cellText(cell: Cell | undefined, { digits }: Column): string {
  if (cell === undefined) return ''
  if (typeof cell === 'string') return cell
  if (typeof cell === 'number') return grouped(cell, digits)
  const spread = cell.median === 0 ? 0 : (cell.high - cell.low) / 2 / Math.abs(cell.median)
  return `${grouped(cell.median, digits)} ±${percent(spread)}`
}

function grouped(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`
}
