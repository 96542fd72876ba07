import { element } from './element.js'
import { drawTimeline, legend } from './timeline.js'

const ASK_AGAIN_MS = 2000
const MOST_SENTENCES = 30

const byId = (id) => document.getElementById(id)
const connection = byId('connection')

byId('legend').append(...legend())

async function showExplanation() {
  const response = await fetch('/explanation')
  if (!response.ok) throw new Error('no process of cattlegrid answers now')
  const explanation = await response.json()
  const timeline = byId('timeline')
  timeline.replaceChildren(drawTimeline(explanation))
  // On a narrow screen: what is now is at the right.
  timeline.scrollLeft = timeline.scrollWidth
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
