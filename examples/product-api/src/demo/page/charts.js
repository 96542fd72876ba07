import uPlot from './uplot.js'
import { element, svg } from './element.js'
import { SIDES, colourOf, widthOf } from './sides.js'

const HEIGHT = 190
const KEPT_SECONDS = 90

const CHARTS = [
  {
    root: 'database-charts',
    figure: 'inFlight',
    title: 'Database queries in flight',
    unit: 'queries',
  },
  { root: 'database-charts', figure: 'queries', title: 'Database queries begun', unit: 'queries/s' },
  { root: 'client-charts', figure: 'p99', title: 'Latency, p99', unit: 'ms', log: true },
  { root: 'client-charts', figure: 'p50', title: 'Latency, p50', unit: 'ms', log: true },
  { root: 'client-charts', figure: 'requests', title: 'Requests answered', unit: 'requests/s' },
  { root: 'client-charts', figure: 'waiting', title: 'Requests that wait for the load of another', unit: 'requests' },
]

/** The charts over the last seconds. Returns a function that adds a second. */
export function createCharts() {
  const ticks = []
  let charts = CHARTS.map(createChart)
  const draw = () => charts.forEach((chart) => chart.draw(ticks))
  document.getElementById('legend').append(...SIDES.map(legendOf))
  // The canvas does not follow the reader's choice of light or dark by itself.
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    charts.forEach((chart) => chart.remove())
    charts = CHARTS.map(createChart)
    draw()
  })
  return (added) => {
    ticks.push(...added)
    ticks.splice(0, ticks.length - KEPT_SECONDS)
    draw()
  }
}

function createChart({ root, figure, title, unit, log = false }) {
  const place = element('div', {
    class: 'canvas',
    role: 'img',
    'aria-label': `${title}, ${unit}, of each side over the last seconds`,
  })
  const chart = element('div', { class: 'chart', 'data-chart': figure }, element('h3', {}, title), place)
  document.getElementById(root).append(chart)
  const plot = new uPlot(optionsOf(place.clientWidth, unit, log), [[], ...SIDES.map(() => [])], place)
  const observer = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }))
  observer.observe(place)
  return {
    draw: (ticks) => {
      const at = ticks.map((tick) => tick.at)
      const lines = SIDES.map((_, side) => ticks.map(({ samples }) => valueOf(samples[side]?.[figure], log)))
      plot.setData([at, ...lines])
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

function optionsOf(width, unit, log) {
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
    scales: {
      x: { time: false },
      y: log
        ? { distr: 3, range: (_plot, least, most) => [1, Math.max(100, 10 ** Math.ceil(Math.log10(most ?? 1)))] }
        : { range: (_plot, _least, most) => [0, Math.max(4, most * 1.1)] },
    },
    axes: [
      { ...axis, font, labelFont: font, label: 'seconds since the start', labelSize: 18, size: 30 },
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
      ...SIDES.map(({ id, name, dash }) => ({
        label: name,
        stroke: colourOf(id),
        width: widthOf(id),
        dash,
        points: { show: false },
      })),
    ],
  }
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
