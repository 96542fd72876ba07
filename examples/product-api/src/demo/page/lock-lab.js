import { element, svg } from './element.js'
import { onWidth } from './on-width.js'

const CALLERS = ['A', 'B', 'C']
/** The first lane begins behind the numbers of the steps. */
const [LEFT, TOP] = [36, 36]
/** Below this width, a step has a line for its words and a line for its sign. */
const NARROW = 560
const LETTER = 6.6

/** The failures of the folklore locks, each with a sequence diagram that is drawn when it is opened. */
export async function showLockLab(root) {
  const response = await fetch('/lock-lab')
  const failures = await response.json()
  root.append(...failures.map(entryOf))
  root.firstElementChild.open = true
}

function entryOf(failure) {
  const { lock, property, claim, why } = failure
  const summary = element('summary', {}, element('strong', {}, lock.name), ` breaks “${property}”: ${claim}`)
  const entry = element('details', { 'data-failure': failure.id }, summary)
  entry.addEventListener('toggle', () => {
    if (!entry.open || entry.childElementCount > 1) return
    const diagram = element('div', { class: 'diagram' })
    entry.append(diagram, element('p', { class: 'why' }, `✗ ${why}`))
    onWidth(diagram, (width) => diagram.replaceChildren(diagramOf(failure, Math.min(width, 800))))
  })
  return entry
}

/** In pixels of the screen, so that its letters have their size at any width. */
function diagramOf({ steps, breaksAt, why }, width) {
  const narrow = width < NARROW
  const step = narrow ? 46 : 30
  const height = TOP + steps.length * step + 10
  const lane = (width - LEFT) / CALLERS.length
  const lanes = new Map(CALLERS.map((caller, place) => [caller, LEFT + (place + (narrow ? 0.5 : 0.25)) * lane]))
  const label = `${steps.map(sentenceOf).join('. ')}. ${why}. Step ${breaksAt} breaks it.`
  return svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label },
    ...[...lanes].map(([caller, x]) => lifeOf(caller, x, height)),
    ...steps.map((one, place) => {
      const marked = place + 1 === breaksAt
      const number = text({ x: 2, y: 0, class: 'number' }, marked ? `✗ ${place + 1}` : `${place + 1}`)
      const y = TOP + (place + 0.5) * step
      const drawn = narrow ? narrowStep(one, lanes, width) : wideStep(one, lanes, width)
      const group = svg('g', { class: marked ? 'breaks' : '', 'data-step': place + 1 }, number, ...drawn)
      group.setAttribute('transform', `translate(0 ${y})`)
      return group
    }),
  )
}

function sentenceOf({ who, command, reply }, place) {
  return `${place + 1}: ${who} ${command}${reply === '' ? '' : ` replies ${reply}`}`
}

function lifeOf(caller, x, height) {
  const name = text({ x, y: 16, 'text-anchor': 'middle', 'font-weight': 700 }, caller)
  return svg('g', {}, name, svg('line', { class: 'life', x1: x, y1: 24, x2: x, y2: height - 4 }))
}

/** A caller's command stands on its line of life; an event, which no caller causes, goes through all of them. */
function wideStep({ who, command, reply }, lanes, width) {
  const x = lanes.get(who)
  if (x === undefined) return event(who, command, reply, width, 'middle')
  const words = wordsOf(command, reply)
  const left = x + 10 + words.length * LETTER > width
  return [signAt(x, 0), text({ x: left ? x - 10 : x + 10, y: 4, 'text-anchor': left ? 'end' : 'start' }, words)]
}

/** The words have the whole width, and the sign stands below them. */
function narrowStep({ who, command, reply }, lanes, width) {
  const x = lanes.get(who)
  if (x === undefined) return event(who, command, reply, width, 'start')
  const words = wordsOf(command, reply)
  const fits = LEFT + words.length * LETTER <= width
  const lines = fits ? [words] : [command, `→ ${reply}`]
  return [...lines.map((line, place) => text({ x: LEFT, y: place * 15 }, line)), signAt(x, fits ? 12 : 24)]
}

function event(who, command, reply, width, anchor) {
  const words = `${who}${command === '' ? '' : `: ${wordsOf(command, reply)}`}`
  return [
    svg('line', { x1: LEFT, y1: 8, x2: width - 4, y2: 8, 'stroke-dasharray': '3 4' }),
    text({ x: anchor === 'start' ? LEFT : width / 2, y: 2, 'text-anchor': anchor, class: 'event' }, words),
  ]
}

function signAt(x, y) {
  return svg('path', { d: `M${x - 5} ${y} h10 m-5 -5 v10` })
}

function wordsOf(command, reply) {
  return `${command}${reply === '' ? '' : ` → ${reply}`}`
}

function text(attributes, words) {
  return svg('text', attributes, words)
}
