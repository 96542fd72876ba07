import { element } from './element.js'
import { onWidth } from './on-width.js'
import { drawTimeline, legend } from './timeline.js'

const ASK_AGAIN_MS = 2000
const MOST_SENTENCES = 30

const byId = (id) => document.getElementById(id)
const connection = byId('connection')

byId('legend').append(...legend())

const timeline = byId('timeline')
let explanation
onWidth(timeline, draw)

function draw() {
  if (explanation !== undefined) timeline.replaceChildren(drawTimeline(explanation, timeline.clientWidth))
}

async function showExplanation() {
  const response = await fetch('/explanation')
  if (!response.ok) throw new Error('no process of cattlegrid answers now')
  explanation = await response.json()
  draw()
  const latest = explanation.sentences.slice(-MOST_SENTENCES).toReversed()
  byId('story').replaceChildren(...latest.map((sentence) => element('li', {}, sentence)))
  const { processes, unanswered } = explanation
  const silent = unanswered > 0 ? `, ${unanswered} did not` : ''
  connection.textContent = `${processes.length} processes answered${silent}`
}

for (;;) {
  if (byId('follow').checked)
    await showExplanation().catch((/** @type {unknown} */ error) => {
      connection.textContent = String(error)
    })
  await new Promise((resolve) => {
    setTimeout(resolve, ASK_AGAIN_MS)
  })
}
