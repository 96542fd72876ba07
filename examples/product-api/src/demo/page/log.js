import { element } from './element.js'
import { SIDES } from './sides.js'

const FIGURES = ['loads', 'longest wait', 'errors', 'outdated']

/** What the presses did: the last sentence, its figures for each side, and the lines so far. Returns a function that shows them. */
export function createLog({ told, aftermath, log }) {
  const rows = new Map(SIDES.map(({ id }) => [id, FIGURES.map(() => element('td', {}, '–'))]))
  aftermath.append(tableOf(rows))
  let lines = ''
  return (said) => {
    for (const side of said.findLast(({ figures }) => figures !== undefined)?.figures ?? [])
      showSide(rows.get(side.strategy), side)
    // The sentence is read aloud when it changes, so it must not be written again every second.
    const texts = said.map(({ number, at, text }) => ({ number, at, text }))
    if (said.length === 0 || JSON.stringify(texts) === lines) return
    lines = JSON.stringify(texts)
    // Its sentence stays when what it did is undone without one.
    told.textContent = (said.findLast(({ figures, failed }) => figures !== undefined || failed) ?? said.at(-1)).text
    log.replaceChildren(
      ...texts
        .toReversed()
        .map(({ number, at, text }) =>
          element('li', { 'data-line': number }, element('time', {}, `${at} s`), element('span', {}, text)),
        ),
    )
  }
}

function tableOf(rows) {
  const heads = ['', ...FIGURES].map((name) => (name === '' ? element('td') : element('th', { scope: 'col' }, name)))
  const body = SIDES.map(({ id, name }) => {
    const head = element('th', { scope: 'row' }, name)
    head.style.color = `var(--${id})`
    return element('tr', { 'data-aftermath': id }, head, ...rows.get(id))
  })
  return element('table', {}, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...body))
}

function showSide(cells, { loads, longestWait, errors, outdated }) {
  const texts = [
    loads.toLocaleString('en'),
    `${(longestWait / 1000).toFixed(2)} s`,
    errors.toLocaleString('en'),
    outdated.toLocaleString('en'),
  ]
  texts.forEach((text, place) => (cells[place].textContent = text))
  cells[2].className = errors > 0 ? 'bad' : ''
  cells[3].className = outdated > 0 ? 'bad' : ''
}
