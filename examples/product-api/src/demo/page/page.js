import { createButtons } from './buttons.js'
import { createCards } from './cards.js'
import { createCharts } from './charts.js'
import { showLockLab } from './lock-lab.js'

const byId = (id) => document.getElementById(id)

const showCards = createCards(byId('cards'))
const addTicks = createCharts()
const showButtons = createButtons(byId('buttons'), byId('log'))
const connection = byId('connection')

const events = new EventSource('/events')
events.addEventListener('open', () => (connection.textContent = 'connected to the demo'))
events.addEventListener('error', () => (connection.textContent = 'the demo does not answer: has it ended?'))
events.addEventListener('history', ({ data }) => show(JSON.parse(data)))
events.addEventListener('tick', ({ data }) => show([JSON.parse(data)]))
events.addEventListener('actions', ({ data }) => showButtons(JSON.parse(data)))

function show(ticks) {
  addTicks(ticks)
  const last = ticks.at(-1)
  if (last !== undefined) showCards(last.samples)
}

await showLockLab(byId('lab'))
