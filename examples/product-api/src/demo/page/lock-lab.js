import { element, svg } from './element.js'

const LANES = { A: 110, B: 320, C: 530 }
const WIDTH = 660
const [TOP, STEP] = [40, 30]

/** The failures of the folklore locks, each with a sequence diagram that is drawn when it is opened. */
export async function showLockLab(root) {
  const response = await fetch('/lock-lab')
  const failures = await response.json()
  root.append(...failures.map(entryOf))
  root.firstElementChild.open = true
}

function entryOf(failure) {
  const { lock, property, claim } = failure
  const summary = element('summary', {}, element('strong', {}, lock.name), ` breaks “${property}”: ${claim}`)
  const entry = element('details', { 'data-failure': failure.id }, summary)
  entry.addEventListener('toggle', () => {
    if (entry.open && entry.childElementCount === 1)
      entry.append(
        element(
          'div',
          { class: 'diagram', tabindex: '0', role: 'group', 'aria-label': 'sequence diagram' },
          diagramOf(failure),
        ),
      )
  })
  return entry
}

function diagramOf({ steps, breaksAt, why }) {
  const height = TOP + (steps.length + 1) * STEP + 14
  const label = `${steps.map(sentenceOf).join('. ')}. ${why}. Step ${breaksAt} breaks it.`
  return svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${height}`, role: 'img', 'aria-label': label },
    ...Object.entries(LANES).map(([caller, x]) => lifeOf(caller, x, height)),
    ...steps.map((step, place) => stepOf(step, place, place + 1 === breaksAt)),
    text({ x: WIDTH / 2, y: height - 10, 'text-anchor': 'middle', class: 'why' }, `✗ ${why}`),
  )
}

function sentenceOf({ who, command, reply }, place) {
  return `${place + 1}: ${who} ${command}${reply === '' ? '' : ` replies ${reply}`}`
}

function lifeOf(caller, x, height) {
  const name = text({ x, y: 20, 'text-anchor': 'middle', 'font-weight': 700 }, caller)
  return svg('g', {}, name, svg('line', { class: 'life', x1: x, y1: 28, x2: x, y2: height - 32 }))
}

/** A caller's command stands on its line of life; an event, which no caller causes, goes through all of them. */
function stepOf({ who, command, reply }, place, breaks) {
  const y = TOP + (place + 0.5) * STEP
  const number = text({ x: 12, y: y + 4, class: 'number' }, breaks ? `✗ ${place + 1}` : `${place + 1}`)
  const group = svg('g', { class: breaks ? 'breaks' : '', 'data-step': place + 1 }, number)
  const x = LANES[who]
  if (x === undefined) {
    const words = `${who}${command === '' ? '' : `: ${command} → ${reply}`}`
    group.append(
      svg('line', { x1: 40, y1: y + 8, x2: WIDTH - 20, y2: y + 8, 'stroke-dasharray': '3 4' }),
      text({ x: WIDTH / 2, y: y + 2, 'text-anchor': 'middle', class: 'event' }, words),
    )
    return group
  }
  const words = `${command}${reply === '' ? '' : ` → ${reply}`}`
  const left = x + 10 + words.length * 7 > WIDTH
  group.append(
    svg('path', { d: `M${x - 5} ${y} h10 m-5 -5 v10` }),
    text({ x: left ? x - 10 : x + 10, y: y + 4, 'text-anchor': left ? 'end' : 'start' }, words),
  )
  return group
}

function text(attributes, words) {
  return svg('text', attributes, words)
}
