import { createButtons } from './buttons.js'
import { createCards } from './cards.js'
import { createCharts } from './charts.js'
import { createFlush } from './flush.js'
import { showLockLab } from './lock-lab.js'
import { createLog } from './log.js'

const byId = (id) => document.getElementById(id)

const showCards = createCards(byId('cards'))
const charts = createCharts()
const showLog = createLog({ told: byId('told'), aftermath: byId('aftermath'), log: byId('log') })
const rootOf = (id) => byId(`button-${id}`) ?? byId('buttons')
const showButtons = createButtons(rootOf, (text) => (byId('told').textContent = text))
const showFlush = createFlush({ told: byId('flush-told'), drawn: byId('flush-drawn') })

const events = new EventSource('/events')
events.addEventListener('open', () => connect('connected to the demo'))
events.addEventListener('error', () => connect('the demo does not answer: has it ended?', 'trouble'))
events.addEventListener('history', ({ data }) => show(JSON.parse(data)))
events.addEventListener('tick', ({ data }) => show([JSON.parse(data)]))
events.addEventListener('flush', ({ data }) => showFlush(JSON.parse(data)))
events.addEventListener('actions', ({ data }) => {
  const { actions, log } = JSON.parse(data)
  showButtons(actions)
  showLog(log)
  charts.mark(log.map(({ at }) => at))
})

function connect(text, state = 'well') {
  const connection = byId('connection')
  // Read aloud only when it changes.
  if (connection.textContent === text) return
  connection.textContent = text
  connection.dataset.state = state
}

function show(ticks) {
  charts.add(ticks)
  const last = ticks.at(-1)
  if (last === undefined) return
  showCards(last.samples)
  if (last.trouble === undefined) connect('connected to the demo')
  else connect(last.trouble, 'trouble')
}

await showLockLab(byId('lab'))
