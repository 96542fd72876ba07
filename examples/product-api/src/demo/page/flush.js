import { drawnCharts } from './charts.js'

/** A sample of each: those of the two sides, and the limit. */
const LINES = [
  { id: 'limited', name: 'cattlegrid', dash: [] },
  { id: 'unlimited', name: 'with maxLoads: false', dash: [8, 4] },
  { id: 'limit', name: 'limit of the loads at once, from cattlegrid’s event load-limit', dash: [2, 3] },
]

const CHARTS = [
  { root: 'flush-charts', figure: 'good', title: 'Calls answered within 2 s', unit: 'calls/s' },
  {
    root: 'flush-charts',
    figure: 'atSource',
    title: 'Loads at the source, its queue included',
    unit: 'loads',
    log: true,
  },
]

/** The fleets that lose all their keys. Returns a function that shows their seconds. */
export function createFlush({ told, drawn }) {
  const options = { lines: LINES, legend: 'flush-legend', since: 'the flush', marks: new Set([0]) }
  let draw
  return (shown) => {
    // Read aloud only when it changes.
    if (told.textContent !== shown.told) told.textContent = shown.told
    drawn.hidden = false
    draw ??= drawnCharts(CHARTS, options)
    draw(shown.ticks.map(({ at, sides }) => ({ at, samples: [...sides, { atSource: sides[0].limit }] })))
  }
}
