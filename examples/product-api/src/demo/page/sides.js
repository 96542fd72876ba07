/** The four strategies: how each is called, what it does, and the dash of its line. */
export const SIDES = [
  { id: 'unprotected', name: 'unprotected', how: 'A plain cache in Redis: whoever finds no entry loads.', dash: [] },
  { id: 'in-process', name: 'in-process only', how: 'A cache in the memory of each process.', dash: [8, 4] },
  {
    id: 'token-lock',
    name: 'naive token lock',
    how: 'SET NX PX with a token in Redis; the others poll.',
    dash: [2, 3],
  },
  {
    id: 'cattlegrid',
    name: 'cattlegrid',
    how: 'One load under a lease; the others get the stale copy, or wait for it.',
    dash: [],
  },
]

export function colourOf(id) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${id}`).trim()
}

export function widthOf(id) {
  return ['cattlegrid', 'limited'].includes(id) ? 3 : 1.75
}
