import uPlot from './uplot.js'
import { element, svg } from './element.js'
import { SIDES, colourOf, widthOf } from './sides.js'

const HEIGHT = 190
const KEPT_SECONDS = 90

const CHARTS = [
  {
    root: 'database-charts',
    figure: 'inFlight',
    title: 'Loads in flight',
    unit: 'loads',
  },
  { root: 'database-charts', figure: 'loads', title: 'Loads begun', unit: 'loads/s' },
  { root: 'client-charts', figure: 'p99', title: 'Latency, p99', unit: 'ms', log: true },
  { root: 'client-charts', figure: 'p50', title: 'Latency, p50', unit: 'ms', log: true },
  { root: 'client-charts', figure: 'requests', title: 'Requests answered', unit: 'requests/s' },
  { root: 'client-charts', figure: 'waiting', title: 'Requests that wait for another’s load', unit: 'requests' },
]

/** The charts over the last seconds. Returns how seconds are added, and how the seconds with a press are marked. */
export function createCharts() {
  const ticks = []
  const marks = new Set()
  const draw = drawnCharts(CHARTS, { lines: SIDES, legend: 'legend', since: 'the start', marks })
  return {
    add: (added) => {
      ticks.push(...added)
      ticks.splice(0, ticks.length - KEPT_SECONDS)
      draw(ticks)
    },
    mark: (seconds) => seconds.forEach((second) => marks.add(second)),
  }
}

/** Charts with the same lines, a sample for each of which is in every tick. Returns how they are drawn. */
export function drawnCharts(charts, group) {
  const create = () => charts.map((chart) => createChart(chart, group))
  let created = create()
  let drawn = []
  const draw = (ticks) => {
    drawn = ticks
    created.forEach((chart) => chart.draw(ticks))
  }
  document.getElementById(group.legend).append(...group.lines.map(legendOf))
  // The canvas does not follow the reader's choice of light or dark by itself.
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    created.forEach((chart) => chart.remove())
    created = create()
    draw(drawn)
  })
  return draw
}

function createChart({ root, figure, title, unit, log = false }, { lines, ...rest }) {
  const place = element('div', {
    class: 'canvas',
    role: 'img',
    'aria-label': `${title}, ${unit}, of each side over the seconds since ${rest.since}`,
  })
  const chart = element('div', { class: 'chart', 'data-chart': figure }, element('h3', {}, title), place)
  document.getElementById(root).append(chart)
  const options = optionsOf({ ...rest, lines, unit, log, width: place.clientWidth })
  const plot = new uPlot(options, [[], ...lines.map(() => [])], place)
  const observer = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }))
  observer.observe(place)
  return {
    draw: (ticks) => {
      const at = ticks.map((tick) => tick.at)
      plot.setData([at, ...lines.map((_, line) => ticks.map(({ samples }) => valueOf(samples[line]?.[figure], log)))])
    },
    remove: () => {
      observer.disconnect()
      plot.destroy()
      chart.remove()
    },
  }
}

/** A logarithmic scale has no zero. */
function valueOf(value, log) {
  return log && value !== null && value !== undefined ? Math.max(value, 0.1) : value
}

function optionsOf({ width, lines, unit, log, since, marks }) {
  const text = colourOf('dim')
  const axis = {
    stroke: text,
    grid: { stroke: colourOf('grid'), width: 1 },
    ticks: { stroke: colourOf('grid'), width: 1 },
  }
  const font = '12px system-ui, sans-serif'
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    hooks: { drawClear: [(plot) => drawMarks(plot, marks, text)] },
    scales: {
      x: { time: false },
      y: log
        ? { distr: 3, range: (_plot, least, most) => [1, Math.max(100, 10 ** Math.ceil(Math.log10(most ?? 1)))] }
        : { range: (_plot, _least, most) => [0, Math.max(4, most * 1.1)] },
    },
    axes: [
      { ...axis, font, labelFont: font, label: `seconds since ${since}`, labelSize: 18, size: 30 },
      {
        ...axis,
        font,
        labelFont: font,
        label: unit,
        labelSize: 18,
        size: 54,
        values: (_plot, ticks) => ticks.map((tick) => tick?.toLocaleString('en') ?? ''),
      },
    ],
    series: [
      {},
      ...lines.map(({ id, name, dash }) => ({
        label: name,
        stroke: colourOf(id),
        width: widthOf(id),
        dash,
        points: { show: false },
      })),
    ],
  }
}

/** A dashed line at each second with a press. */
function drawMarks({ ctx, bbox, scales, valToPos }, marks, colour) {
  ctx.save()
  ctx.strokeStyle = colour
  ctx.setLineDash([3, 5])
  ctx.beginPath()
  for (const second of marks) {
    if (second < scales.x.min || second > scales.x.max) continue
    const x = Math.round(valToPos(second, 'x', true)) + 0.5
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
  }
  ctx.stroke()
  ctx.restore()
}

function legendOf({ id, name, dash }) {
  const line = svg('line', {
    x1: 0,
    y1: 5,
    x2: 40,
    y2: 5,
    'stroke-width': widthOf(id) + 0.5,
    'stroke-dasharray': dash.join(' '),
  })
  line.style.stroke = `var(--${id})`
  return element('span', {}, svg('svg', { viewBox: '0 0 40 10', 'aria-hidden': 'true' }, line), name)
}
