// Plots as plain SVG: no script, no font of their own, and colours that follow the reader's choice of light or dark.
const WIDTH = 720
const FONT = 'font-family="system-ui, -apple-system, Segoe UI, sans-serif" font-size="12"'
const STYLE = `<style>
text { fill: #24292f } .axis { stroke: #8c959f; stroke-width: 1 } .grid { stroke: #d0d7de; stroke-width: 0.5 }
.ours { fill: #1f883d } .peer { fill: #8c959f } .floor { fill: #54aeff }
.line { fill: none; stroke-width: 2 } .line.ours { stroke: #1f883d } .line.peer { stroke: #8c959f } .line.floor { stroke: #54aeff }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .axis { stroke: #7d8590 } .grid { stroke: #30363d }
.ours { fill: #3fb950 } .peer { fill: #6e7681 } .floor { fill: #1f6feb }
.line.ours { stroke: #3fb950 } .line.peer { stroke: #6e7681 } .line.floor { stroke: #1f6feb }
}
</style>`

/** Which column of which table is shown as bars, and what the bars mean. */
const bars = {
  hit: 'speed, the async function over a Map = 1; longer is faster',
  'redis-64': 'speed, GET on a default node-redis client = 1; longer is faster',
  'stampede-cold': 'loads for one cold key; 1 is the least',
  'http-hit': 'requests/s; longer is faster',
  memory: 'heap per entry, Map = 1; shorter is better',
  size: 'brotli, kB; shorter is better',
}
const shownColumn = {
  hit: 'ratio',
  'redis-64': 'speed',
  'stampede-cold': 'loads',
  'http-hit': 'rate',
  memory: 'ratio',
  size: 'brotli',
}

/** The plots of one result: `{ id, title, svg }`. */
export function plotsOf(result) {
  const charts = result.tables
    .filter(({ id }) => id in bars)
    .map((table) => ({ id: table.id, title: `${table.title}: ${bars[table.id]}`, svg: barChart(table) }))
  return [...charts, ...result.plots.map((plot) => ({ id: plot.id, title: plot.title, svg: lineChart(plot) }))]
}

function barChart({ id, title, rows }) {
  const column = shownColumn[id]
  const shown = rows.flatMap(({ name, is, cells }) => {
    const value = valueOf(cells[column])
    return value === undefined ? [] : [{ name, is, value }]
  })
  const most = Math.max(...shown.map(({ value }) => value))
  const [left, right, top, step] = [280, 70, 48, 22]
  const parts = shown.map(({ name, is, value }, index) => {
    const y = top + index * step
    const length = Math.max(1, (value / most) * (WIDTH - left - right))
    return [
      text(left - 8, y + 13, name, 'end'),
      `<rect class="${is}" x="${left}" y="${y + 2}" width="${round(length)}" height="15" rx="2"/>`,
      text(left + length + 6, y + 13, short(value)),
    ].join('')
  })
  return svg(top + shown.length * step + 10, `${title}: ${bars[id]}`, [
    text(8, 18, title, 'start', true),
    text(8, 36, bars[id]),
    ...parts,
  ])
}

/** Both axes by powers of ten: curves over orders of magnitude. */
function lineChart({ title, x, y, curves }) {
  const points = curves.flatMap((curve) => curve.points)
  const box = { left: 70, right: 170, top: 48, bottom: 44, height: 320 }
  const across = scale(
    points.map(([at]) => at),
    box.left,
    WIDTH - box.right,
  )
  const up = scale(
    points.map(([, value]) => value),
    box.height - box.bottom,
    box.top,
  )
  const axes = [
    ...across.ticks.map((tick) => {
      const at = round(across.place(tick))
      return `<path class="grid" d="M${at} ${box.top}V${box.height - box.bottom}"/>${text(at, box.height - box.bottom + 16, short(tick), 'middle')}`
    }),
    ...up.ticks.map((tick) => {
      const at = round(up.place(tick))
      return `<path class="grid" d="M${box.left} ${at}H${WIDTH - box.right}"/>${text(box.left - 6, at + 4, short(tick), 'end')}`
    }),
    `<path class="axis" fill="none" d="M${box.left} ${box.top}V${box.height - box.bottom}H${WIDTH - box.right}"/>`,
    text((box.left + WIDTH - box.right) / 2, box.height - 8, x, 'middle'),
    text(8, 36, y),
  ]
  const labels = placed(curves.map(({ points: own }) => up.place(own.at(-1)?.[1] ?? 1)))
  const drawn = curves.map(({ name, is, points: own }, index) => {
    const path = own.map(
      ([at, value], step) => `${step === 0 ? 'M' : 'L'}${round(across.place(at))} ${round(up.place(value))}`,
    )
    return `<path class="line ${is}" d="${path.join('')}"/>${text(WIDTH - box.right + 6, labels[index] + 4, name)}`
  })
  return svg(box.height, title, [text(8, 18, title, 'start', true), ...axes, ...drawn])
}

/** Names beside the ends of their curves, and not upon each other. */
function placed(ends) {
  const places = []
  let last = -Infinity
  for (const index of ends.map((_, at) => at).toSorted((one, other) => ends[one] - ends[other])) {
    last = Math.max(ends[index], last + 14)
    places[index] = last
  }
  return places
}

function scale(values, from, to) {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  return {
    place: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from),
    ticks: Array.from({ length: high - low + 1 }, (_, step) => 10 ** (low + step)),
  }
}

function svg(height, title, parts) {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" ${FONT}>`
  return `${[head, `<title>${escape(title)}</title>`, STYLE, ...parts, '</svg>'].join('\n')}\n`
}

function text(x, y, content, anchor = 'start', bold = false) {
  const weight = bold ? ' font-weight="600"' : ''
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}"${weight}>${escape(content)}</text>`
}

function valueOf(cell) {
  if (typeof cell === 'number') return cell
  return typeof cell === 'object' && cell !== null ? (cell.median ?? undefined) : undefined
}

function short(value) {
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString('en', { minimumFractionDigits: 0, maximumFractionDigits: digits })
}

function round(value) {
  return Math.round(value * 10) / 10
}

function escape(content) {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
