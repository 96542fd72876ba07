import type { StrategyName } from '../../strategies/strategy.ts'

export interface RecordedSide {
  readonly strategy: StrategyName
  /** The queries of the expiry. */
  readonly queries: number
  /** The most queries in flight in each step from the first query on. */
  readonly inFlight: readonly number[]
}

export interface RecordedExpiry {
  /** How the record was made. */
  readonly command: string
  readonly database: string
  readonly clients: number
  readonly stepMs: number
  readonly sides: readonly RecordedSide[]
}

const NAMES: Readonly<Record<StrategyName, string>> = {
  unprotected: 'unprotected',
  'in-process': 'in-process only',
  'token-lock': 'naive token lock',
  cattlegrid: 'cattlegrid',
}

const WIDTH = 760
const [LEFT, RIGHT, TOP, PLOT, GAP] = [60, 20, 64, 150, 16]
const PANEL = (WIDTH - LEFT - RIGHT - 3 * GAP) / 4

const STYLE = `<style>
text { fill: #24292f } .dim { fill: #59636e } .grid { stroke: #d0d7de; fill: none }
.unprotected { fill: #c62828 } .in-process { fill: #9a5b00 } .token-lock { fill: #6a3fb5 } .cattlegrid { fill: #1a7f37 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .dim { fill: #9da7b3 } .grid { stroke: #30363d }
.unprotected { fill: #ff7b72 } .in-process { fill: #f0a93b } .token-lock { fill: #b79bff } .cattlegrid { fill: #3fb950 } }
</style>`

/** An SVG with a panel for each side, on the same scales: the queries in flight over the seconds after the expiry. */
export function drawPicture({ clients, stepMs, sides }: RecordedExpiry): string {
  const most = Math.ceil(Math.max(...sides.flatMap(({ inFlight }) => inFlight)) / 10) * 10
  const steps = Math.max(...sides.map(({ inFlight }) => inFlight.length))
  const title = `An entry expires while ${clients} clients ask for it: the queries that reach the database`
  const height = TOP + PLOT + 46
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, -apple-system, Segoe UI, sans-serif" font-size="12">`,
    `<title>${title}: ${sides.map(({ strategy, queries }) => `${NAMES[strategy]} ${queries}`).join(', ')}</title>`,
    STYLE,
    text(8, 18, title, 'font-weight="600"'),
    ...levels(most),
    ...sides.map((side, place) => drawPanel(side, place, { most, steps, stepMs })),
    text(
      8,
      height - 6,
      'queries in flight, over the seconds since the first query; each side runs alone, in two processes',
      'class="dim"',
    ),
    '</svg>',
  ].join('\n')}\n`
}

interface Scale {
  readonly most: number
  readonly steps: number
  readonly stepMs: number
}

function drawPanel(
  { strategy, queries, inFlight }: RecordedSide,
  place: number,
  { most, steps, stepMs }: Scale,
): string {
  const x = LEFT + place * (PANEL + GAP)
  const bottom = TOP + PLOT
  const at = (step: number): string => (x + (step / steps) * PANEL).toFixed(1)
  // Stairs: a value holds for its step.
  const line = inFlight.map((value, step) => {
    const y = (bottom - (value / most) * PLOT).toFixed(1)
    return `L${at(step)} ${y} L${at(step + 1)} ${y}`
  })
  const seconds = (steps * stepMs) / 1_000
  return [
    `<path class="${strategy}" d="M${x} ${bottom} ${line.join(' ')} L${at(inFlight.length)} ${bottom} Z"/>`,
    text(x + PANEL / 2, 40, NAMES[strategy], 'text-anchor="middle"'),
    text(
      x + PANEL / 2,
      57,
      queries === 1 ? '1 query' : `${queries} queries`,
      `text-anchor="middle" font-weight="700" class="${strategy}"`,
    ),
    text(x, bottom + 16, '0', 'text-anchor="middle" class="dim"'),
    text(x + PANEL, bottom + 16, `${seconds.toFixed(1)} s`, 'text-anchor="end" class="dim"'),
  ].join('\n')
}

function levels(most: number): string[] {
  return [0, most / 2, most].map((value) => {
    const y = TOP + PLOT - (value / most) * PLOT
    return `<path class="grid" d="M${LEFT} ${y} H${WIDTH - RIGHT}"/>${text(LEFT - 8, y + 4, String(value), 'text-anchor="end" class="dim"')}`
  })
}

function text(x: number, y: number, content: string, look: string): string {
  return `<text x="${x.toFixed(1)}" y="${y}" ${look}>${content}</text>`
}
