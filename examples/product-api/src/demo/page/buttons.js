import { element } from './element.js'

/** A button for each action, in the root for its id. Returns a function that shows their state. */
export function createButtons(rootOf, onFailure) {
  const buttons = new Map()
  return (actions) => {
    for (const action of actions) {
      const button = buttons.get(action.id) ?? addButton(rootOf(action.id), action, onFailure)
      buttons.set(action.id, button)
      button.show(action)
    }
  }
}

function addButton(root, { id, explanation, unavailable }, onFailure) {
  const label = element('span', { class: 'label' })
  const about = element('span', { class: 'explanation' }, unavailable ?? explanation)
  const button = element(
    'button',
    { type: 'button', 'data-action': id, title: unavailable ?? explanation },
    label,
    about,
  )
  root.append(button)
  button.addEventListener('click', () =>
    press(id).catch((/** @type {unknown} */ error) => onFailure(`The button does not work: ${String(error)}`)),
  )
  const show = (action) => {
    const active = action.state === 'active'
    const left = action.restoresIn === undefined ? '' : ` (in ${action.restoresIn} s)`
    label.textContent = active ? `${action.restoreLabel}${left}` : action.label
    button.dataset.state = action.state
    // A disabled button would lose the focus, and could not say why.
    button.setAttribute('aria-disabled', String(action.state === 'running' || action.state === 'unavailable'))
    if (action.restoreLabel !== undefined) button.setAttribute('aria-pressed', String(active))
  }
  return { show }
}

async function press(id) {
  const token = document.querySelector('meta[name="demo-token"]').content
  const response = await fetch(`/actions/${id}`, { method: 'POST', headers: { 'x-demo-token': token } })
  if (response.status === 403) throw new Error('the demo was started again; reload the page')
}
