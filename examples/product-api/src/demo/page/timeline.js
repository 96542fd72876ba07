import { element, svg } from './element.js'

/** What a mark stands for, by the kind of the event; other events are told in words only. */
const KINDS = {
  calls: { types: ['miss', 'join', 'answer'], label: 'calls that miss, join and are answered' },
  waits: { types: ['follow', 'wake', 'cooling', 'wait-timeout'], label: 'waits for another process, is woken' },
  leads: { types: ['lead'], label: 'is granted the lease' },
  load: { types: [], label: 'a load' },
  commits: { types: ['commit'], label: 'commits' },
  ends: {
    types: ['refused', 'lease-lost', 'load-failed', 'invalidate', 'away', 'breaker', 'notices', 'violation'],
    label: 'invalidated, refused, lost or away',
  },
}

const [LEFT, LANE, TOP] = [120, 46, 14]
/** Below this width, the name of a process stands above its lane. */
const NARROW = 560
const SHOWN_MS = 12_000
const GRID_MS = 2_000
const RADIUS = 5

const kindOf = (type) => Object.keys(KINDS).find((kind) => KINDS[kind].types.includes(type))

/** A sign and its meaning, for each kind. */
export function legend() {
  return Object.entries(KINDS).map(([kind, { label }]) =>
    element('span', {}, svg('svg', { viewBox: '0 0 14 14', 'aria-hidden': 'true' }, signOf(kind, 7, 7, 7)), label),
  )
}

/** A lane for each process, the last seconds from left to right, in pixels of the screen. */
export function drawTimeline({ at, events, processes }, width) {
  const pids = [...new Set([...processes.map(({ pid }) => pid), ...events.map(({ process }) => process.pid)])]
  const narrow = width < NARROW
  const height = TOP + pids.length * LANE + 24
  const left = narrow ? 14 : LEFT
  const x = (time) => left + ((time - at + SHOWN_MS) / SHOWN_MS) * (width - left - 20)
  const shown = events.filter((event) => event.until >= at - SHOWN_MS)
  return svg(
    'svg',
    {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: 'img',
      'aria-label': `${shown.length} events in ${pids.length} processes`,
    },
    ...gridOf(at, x, height, narrow ? 2 * GRID_MS : GRID_MS),
    ...pids.map((pid, lane) =>
      svg('text', { x: 0, y: laneY(lane) + (narrow ? -14 : 4), 'data-process': pid }, `process ${pid}`),
    ),
    ...loadsIn(shown, at, pids, x),
    ...shown.flatMap((event) => marksOf(event, laneY(pids.indexOf(event.process.pid)), x)),
  )
}

const laneY = (lane) => TOP + (lane + 0.5) * LANE

function gridOf(at, x, height, every) {
  const lines = Array.from({ length: SHOWN_MS / every + 1 }, (_, place) => at - place * every)
  return lines.flatMap((time) => [
    svg('line', { x1: x(time), y1: TOP, x2: x(time), y2: height - 20 }),
    svg(
      'text',
      { x: x(time), y: height - 5, 'text-anchor': 'middle', class: 'axis' },
      time === at ? 'now' : `${(time - at) / 1000} s`,
    ),
  ])
}

/** Each load as a bar from its beginning to its outcome; one without an outcome goes on. */
function loadsIn(events, at, pids, x) {
  return events
    .filter(({ type }) => type === 'load')
    .map((load) => {
      const { process, fields } = load
      const isItsEnd = ({ type, ...end }) =>
        type === 'outcome' && end.process.pid === process.pid && end.fields.flight === fields.flight
      const end = events.find(isItsEnd)?.at ?? at
      const y = laneY(pids.indexOf(process.pid)) - 7
      return svg(
        'rect',
        { class: 'load', x: x(load.at), y, width: Math.max(2, x(end) - x(load.at)), height: 14, rx: 3 },
        svg('title', {}, `load, ${Math.round(end - load.at)} ms`),
      )
    })
}

function marksOf({ type, at, count, fields }, y, x) {
  const kind = kindOf(type)
  if (kind === undefined) return []
  const lease = fields.lease === undefined ? '' : `, lease ${fields.lease}`
  const mark = signOf(kind, x(at), y + (kind === 'calls' ? 14 : 0), RADIUS)
  mark.setAttribute('data-event', type)
  mark.append(svg('title', {}, `${type}${count > 1 ? ` × ${count}` : ''}${lease}`))
  return [mark]
}

/** A shape for each kind, so that colour is not all that tells them apart. */
function signOf(kind, x, y, size) {
  const points = (...pairs) => pairs.map(([dx, dy]) => `${x + dx * size},${y + dy * size}`).join(' ')
  if (kind === 'load') return svg('rect', { class: kind, x: x - size, y: y - size / 2, width: 2 * size, height: size })
  if (kind === 'leads') return svg('polygon', { class: kind, points: points([-0.8, -1], [1, 0], [-0.8, 1]) })
  if (kind === 'commits') return svg('polygon', { class: kind, points: points([0, -1], [1, 0], [0, 1], [-1, 0]) })
  if (kind === 'ends')
    return svg('rect', { class: kind, x: x - size * 0.8, y: y - size * 0.8, width: size * 1.6, height: size * 1.6 })
  if (kind === 'waits') return svg('polygon', { class: kind, points: points([-1, -0.8], [1, -0.8], [0, 1]) })
  return svg('circle', { class: kind, cx: x, cy: y, r: size * 0.7 })
}
