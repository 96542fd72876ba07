import { element, svg } from './element.js'
import { SIDES } from './sides.js'

/** What the bar of a process shows, and how it is called below. */
const BAR = { fresh: 'fresh', stale: 'stale', waiting: 'wait', failed: 'fail' }
const KINDS = Object.keys(BAR)
const CLOCK_MS = 100
/** The herd is drawn up to this many loads, in rows of this many. */
const [MOST_DOTS, DOTS_A_ROW, DOT] = [100, 25, 8]

const FIGURES = [
  { figure: 'loads', label: 'loads in all' },
  { figure: 'expiries', label: 'expiries' },
  { figure: 'per-expiry', label: 'loads per expiry' },
  { figure: 'waited', label: 'waited for a load' },
  { figure: 'p99', label: 'p99 now' },
  { figure: 'outdated', label: 'outdated answers' },
  { figure: 'errors', label: 'errors' },
]

/** One card for each side: its figures, and a lane for each of its processes. Returns a function that shows a second. */
export function createCards(root) {
  const cards = SIDES.map((side) => createCard(side))
  root.append(...cards.map(({ card }) => card))
  setInterval(() => cards.forEach(({ showClocks }) => showClocks()), CLOCK_MS)
  return (samples) => samples.forEach((sample, place) => cards[place].show(sample))
}

function createCard({ id, name, how }) {
  const last = element('span', { id: `last-${id}` }, '–')
  const herd = svg('svg', {
    class: 'herd',
    viewBox: `0 0 ${DOTS_A_ROW * DOT} ${(MOST_DOTS / DOTS_A_ROW) * DOT}`,
    'aria-hidden': 'true',
  })
  const values = new Map(FIGURES.map(({ figure }) => [figure, element('dd', { 'data-figure': figure }, '–')]))
  const list = FIGURES.flatMap(({ figure, label }) => [element('dt', {}, label), values.get(figure)])
  const lanes = []
  const laneList = element('ul', { class: 'lanes', 'aria-label': `processes of ${name}` })
  const card = element(
    'article',
    { class: 'card', 'data-side': id },
    element('h3', {}, name),
    element('p', { class: 'how' }, how),
    element('p', { class: 'last' }, last, element('small', {}, ' loads')),
    herd,
    element('dl', {}, ...list),
    laneList,
  )
  card.style.setProperty('--side', `var(--${id})`)
  let drawn = 0
  const show = (sample) => {
    const { sum } = sample
    last.textContent = sum.lastExpiry
    if (sum.lastExpiry !== drawn) herd.replaceChildren(...dots(sum.lastExpiry))
    drawn = sum.lastExpiry
    showFigures(values, sample)
    while (lanes.length < sample.lanes.length) lanes.push(createLane())
    lanes.length = sample.lanes.length
    if (laneList.childElementCount !== lanes.length) laneList.replaceChildren(...lanes.map(({ lane }) => lane))
    sample.lanes.forEach((lane, place) => lanes[place].show(lane))
  }
  return { card, show, showClocks: () => lanes.forEach(({ showClock }) => showClock()) }
}

/** A dot for each load. */
function dots(count) {
  return Array.from({ length: Math.min(count, MOST_DOTS) }, (_, place) =>
    svg('circle', { cx: ((place % DOTS_A_ROW) + 0.5) * DOT, cy: (Math.floor(place / DOTS_A_ROW) + 0.5) * DOT, r: 3 }),
  )
}

function showFigures(values, { sum, p99 }) {
  const perExpiry = sum.expiries === 0 ? '–' : (sum.loads / sum.expiries).toFixed(2)
  const latency = p99 === null ? '–' : `${p99 < 10 ? p99.toFixed(1) : Math.round(p99)} ms`
  for (const [figure, value] of Object.entries({ ...sum, 'per-expiry': perExpiry, p99: latency })) {
    const place = values.get(figure)
    if (place === undefined) continue
    place.textContent = typeof value === 'number' ? value.toLocaleString('en') : value
    place.className = ['outdated', 'errors'].includes(figure) && value > 0 ? 'bad' : ''
  }
}

/** The same elements for as long as the lane is there, so that nothing jumps. */
function createLane() {
  const name = element('strong')
  const role = element('span', { class: 'role' })
  const counts = new Map(KINDS.map((kind) => [kind, element('b', {}, '0')]))
  const bar = element(
    'div',
    { class: 'bar', 'aria-hidden': 'true' },
    ...KINDS.map((kind) => element('i', { class: kind })),
  )
  const words = element(
    'div',
    { class: 'counts' },
    ...KINDS.map((kind) => element('span', {}, counts.get(kind), ` ${BAR[kind]}`)),
  )
  const lane = element('li', { class: 'lane' }, element('div', { class: 'who' }, name, role), words, bar)
  let stopped
  const showClock = () => {
    if (stopped === undefined) return
    const seconds = Math.max(0, (performance.now() - stopped.since) / 1000)
    role.textContent = `${stopped.state} ${seconds.toFixed(1)} s`
  }
  const show = (shown) => {
    name.textContent = `process ${shown.pid}`
    lane.dataset.state = shown.state
    const since = performance.now() - (shown.stoppedFor ?? 0) * 1000
    // The clock of the page goes on between two seconds, and does not jump back.
    stopped =
      shown.stoppedFor === undefined
        ? undefined
        : {
            state: shown.state,
            since: stopped?.pid === shown.pid ? Math.min(stopped.since, since) : since,
            pid: shown.pid,
          }
    role.className = `role ${shown.state === 'up' ? (shown.leads ? 'leads' : '') : 'stopped'}`
    role.textContent = shown.leads ? 'leads' : shown.running > 0 ? `loads ×${shown.running}` : ''
    showClock()
    KINDS.forEach((kind, place) => {
      counts.get(kind).textContent = shown[kind]
      bar.children[place].style.flexGrow = shown[kind]
    })
  }
  return { lane, show, showClock }
}
