// Bar charts, and strips of what happened from second to second, as plain SVG: no script, no font of their own, and colours that follow the reader's choice of light or dark.
const WIDTH = 760
const [LEFT, RIGHT, TOP, STEP, STRIP] = [340, 60, 48, 22, 30]
const STYLE = `<style>
text { fill: #24292f } .ours { fill: #1f883d } .peer { fill: #8c959f } .floor { fill: #54aeff }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .ours { fill: #3fb950 } .peer { fill: #6e7681 } .floor { fill: #1f6feb } }
</style>`

/** The tables that have a plot: the column that it shows, and what that column means. */
const plots = {
  hit: ['ratio', 'speed, the async function over a Map = 1; longer is faster'],
  'redis-64': ['speed', 'speed, GET on a default node-redis client = 1; longer is faster'],
  'stampede-cold': ['loads', 'loads for one cold key; 1 is the least'],
  'http-hit': ['rate', 'requests/s; longer is faster'],
  memory: ['ratio', 'heap per entry, Map = 1; shorter is better'],
}

/** The tables whose rows have a strip: what each second of it shows, from 0 to 1, and what that means. */
const strips = {
  'overload-flush-30': [
    ({ good, calls }) => good.map((count, second) => count / Math.max(1, calls[second])),
    'the part of the calls of each second that had a value within 2 s; full height: all',
  ],
}

/** The plots of all results: `{ id, title, svg }`. */
export function plotsOf(results) {
  return results.flatMap(({ tables, series = [] }) =>
    tables.flatMap(({ id, title, rows }) => {
      if (id in plots) {
        const [column, meaning] = plots[id]
        return [{ id, title: `${title}: ${meaning}`, svg: barChart(title, meaning, barsOf(rows, column)) }]
      }
      if (!(id in strips)) return []
      const [valuesOf, meaning] = strips[id]
      const drawn = rows.flatMap(({ name, is }) => {
        const seen = series.find((one) => one.id === id && one.name === name)
        return seen === undefined ? [] : [{ label: name, is, values: valuesOf(seen.seconds) }]
      })
      return [{ id, title: `${title}: ${meaning}`, svg: stripChart(title, meaning, drawn) }]
    }),
  )
}

function barsOf(rows, column) {
  return rows.flatMap(({ name, is, cells }) => {
    const value = cells[column]?.median ?? cells[column]
    const label = is === 'ours' && !name.includes('cattlegrid') ? `cattlegrid: ${name}` : name
    return typeof value === 'number' ? [{ label, is, value }] : []
  })
}

function barChart(title, meaning, bars) {
  const most = Math.max(...bars.map(({ value }) => value))
  const height = TOP + bars.length * STEP + 10
  const parts = bars.map(({ label, is, value }, index) => {
    const y = TOP + index * STEP
    const length = Math.max(1, (value / most) * (WIDTH - LEFT - RIGHT))
    const bar = `<rect class="${is}" x="${LEFT}" y="${y + 2}" width="${length.toFixed(1)}" height="15" rx="2"/>`
    return text(LEFT - 8, y + 13, label, ' text-anchor="end"') + bar + text(LEFT + length + 6, y + 13, short(value))
  })
  return picture(title, meaning, height, parts)
}

/** Values from 0 to 1, a row each: a bar for each second. */
function stripChart(title, meaning, rows) {
  const width = WIDTH - LEFT - RIGHT
  const parts = rows.map(({ label, is, values }, index) => {
    const bottom = TOP + (index + 1) * STRIP
    const step = width / values.length
    const top = (value) => (bottom - value * (STRIP - 8)).toFixed(1)
    const path = values.map((value, second) => `V${top(value)}H${(LEFT + (second + 1) * step).toFixed(1)}`).join('')
    return [
      text(LEFT - 8, bottom - 8, label, ' text-anchor="end"'),
      `<path class="${is}" d="M${LEFT} ${bottom}${path}V${bottom}Z"/>`,
      `<path fill="none" stroke="#8c959f" stroke-width="0.5" d="M${LEFT} ${top(1)}H${WIDTH - RIGHT}M${LEFT} ${bottom}H${WIDTH - RIGHT}"/>`,
    ].join('')
  })
  const below = TOP + rows.length * STRIP + 18
  const seconds = Math.max(0, ...rows.map(({ values }) => values.length))
  const axis = [
    text(LEFT, below, 'the flush', ' text-anchor="middle"'),
    text(WIDTH - RIGHT, below, `${seconds} s later`, ' text-anchor="middle"'),
  ]
  return picture(title, meaning, below + 10, [...parts, ...axis])
}

function picture(title, meaning, height, parts) {
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, -apple-system, Segoe UI, sans-serif" font-size="12">`,
    `<title>${escape(`${title}: ${meaning}`)}</title>`,
    STYLE,
    text(8, 18, title, ' font-weight="600"'),
    text(8, 36, meaning),
    ...parts,
    '</svg>',
  ].join('\n')}\n`
}

const text = (x, y, content, look = '') => `<text x="${x.toFixed(1)}" y="${y}"${look}>${escape(content)}</text>`

function short(value) {
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString('en', { maximumFractionDigits: digits })
}

function escape(content) {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
