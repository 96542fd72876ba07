import { element } from './element.js'

/** A button for each action, and the log. Returns a function that shows their state. */
export function createButtons(root, log) {
  const buttons = new Map()
  let lines = ''
  return ({ actions, log: said }) => {
    for (const action of actions) {
      const button = buttons.get(action.id) ?? addButton(root, action)
      buttons.set(action.id, button)
      button.show(action)
    }
    // The log is read aloud when it changes, so it must not be written again every second.
    if (JSON.stringify(said) === lines) return
    lines = JSON.stringify(said)
    log.replaceChildren(
      ...said.toReversed().map(({ at, text }) => element('li', {}, element('time', {}, `${at} s`), text)),
    )
  }
}

function addButton(root, { id, explanation, unavailable }) {
  const label = element('span', { class: 'label' })
  const about = element('span', { class: 'explanation' }, unavailable ?? explanation)
  const button = element('button', { type: 'button', 'data-action': id }, label, about)
  root.append(button)
  button.addEventListener('click', () => press(id))
  const show = (action) => {
    const active = action.state === 'active'
    label.textContent = active ? `${action.restoreLabel} (in ${action.restoresIn} s)` : action.label
    button.dataset.state = action.state
    // A disabled button would lose the focus, and could not say why.
    button.setAttribute('aria-disabled', String(action.state === 'running' || action.state === 'unavailable'))
    if (action.restoreLabel !== undefined) button.setAttribute('aria-pressed', String(active))
  }
  return { show }
}

async function press(id) {
  const token = document.querySelector('meta[name="demo-token"]').content
  await fetch(`/actions/${id}`, { method: 'POST', headers: { 'x-demo-token': token } })
}
