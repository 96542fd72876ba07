import { element } from './element.js'
import { SIDES } from './sides.js'

const BAR = ['fresh', 'stale', 'waiting', 'failed']

/** One card for each side: its figures, and a lane for each of its processes. Returns a function that shows a second. */
export function createCards(root) {
  const cards = SIDES.map((side) => createCard(side))
  root.append(...cards.map(({ card }) => card))
  return (samples) => samples.forEach((sample, place) => cards[place].show(sample))
}

function createCard({ id, name, how }) {
  const last = element('span', { id: `last-${id}` }, '–')
  const figures = element('dl')
  const lanes = element('ul', { class: 'lanes', 'aria-label': `processes of ${name}` })
  const card = element(
    'article',
    { class: 'card', 'data-side': id },
    element('h3', {}, name),
    element('p', { class: 'how' }, how),
    element('div', { class: 'last' }, last, element('small', {}, ' queries')),
    figures,
    lanes,
  )
  card.style.setProperty('--side', `var(--${id})`)
  const show = (sample) => {
    last.textContent = sample.sum.lastExpiry
    figures.replaceChildren(...rowsOf(sample))
    lanes.replaceChildren(...sample.lanes.map(laneOf))
  }
  return { card, show }
}

function rowsOf({ sum, p99 }) {
  return [
    row('queries in all', sum.queries, 'queries'),
    row('expiries', sum.expiries, 'expiries'),
    row('p99 now', p99 === null ? '–' : `${p99 < 10 ? p99.toFixed(1) : Math.round(p99)} ms`, 'p99'),
    row('outdated answers', sum.outdated, 'outdated', sum.outdated > 0),
    row('errors', sum.errors, 'errors', sum.errors > 0),
  ].flat()
}

function row(label, value, figure, bad = false) {
  const shown = typeof value === 'number' ? value.toLocaleString('en') : value
  return [element('dt', {}, label), element('dd', { 'data-figure': figure, class: bad ? 'bad' : '' }, shown)]
}

function laneOf(lane) {
  const { pid, state, leads, running, waiting, fresh, stale, failed } = lane
  const words = []
  if (waiting > 0) words.push(`${waiting} wait`)
  if (stale > 0) words.push(`${stale} stale/s`)
  if (fresh > 0) words.push(`${fresh} fresh/s`)
  if (failed > 0) words.push(`${failed} failed/s`)
  const role =
    state === 'up'
      ? leads
        ? [' ', element('span', { class: 'leads' }, 'leads')]
        : running > 0
          ? [` loads ×${running}`]
          : []
      : [' ', element('span', { class: 'bad' }, state)]
  const bar = element('div', { class: 'bar', 'aria-hidden': 'true' })
  for (const name of BAR) {
    const part = element('i', { class: name })
    part.style.flexGrow = lane[name]
    bar.append(part)
  }
  return element(
    'li',
    { class: 'lane', 'data-state': state },
    element('strong', {}, `process ${pid}`),
    ...role,
    element('div', {}, words.join(', ') || ' '),
    bar,
  )
}
