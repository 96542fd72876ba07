/** Calls `draw` with the width of an element, now and whenever it changes. */
export function onWidth(shown, draw) {
  let width = 0
  const observer = new ResizeObserver(() => {
    if (shown.clientWidth === width || shown.clientWidth === 0) return
    width = shown.clientWidth
    draw(width)
  })
  observer.observe(shown)
}
