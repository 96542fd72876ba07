// Scripts for `page.evaluate`: what a reader could not read.

/** The levels of all headings, as H1, H2 … */
export const HEADINGS = `Array.from(document.querySelectorAll('h1, h2, h3, h4, h5, h6'), ({ tagName }) => tagName)`

/** The elements, and the drawings in them, that reach over the right edge. Those of the strip of buttons are pushed to the side. */
export const WIDER_THAN_THE_SCREEN = `
  Array.from(document.querySelectorAll('body :not(#buttons *, .skip)'))
    .filter((shown) => shown.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
    .map((shown) => shown.outerHTML.slice(0, 120))`

/**
 * The texts whose contrast is below WCAG AA: 4.5, or 3 for 24 px, and for 18.66 px if bold. The background is that of the nearest ancestor
 * that has one; all of them are opaque.
 */
export const FAINT_TEXTS = `(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number)
  const light = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)
  const luminance = ([red, green, blue]) => 0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue)
  const backOf = (shown) => {
    if (shown === null) return [255, 255, 255]
    const [red, green, blue, alpha = 1] = channels(getComputedStyle(shown).backgroundColor)
    return alpha === 0 ? backOf(shown.parentElement) : [red, green, blue]
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const faint = []
  while (texts.nextNode()) {
    const { textContent, parentElement } = texts.currentNode
    if (textContent.trim() === '' || !parentElement.checkVisibility() || parentElement.closest('noscript, title')) continue
    const style = getComputedStyle(parentElement)
    const colour = parentElement instanceof SVGElement ? style.fill : style.color
    const pair = [luminance(channels(colour)), luminance(backOf(parentElement))].toSorted((one, other) => other - one)
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05)
    const size = Number.parseFloat(style.fontSize)
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
    if (ratio < (large ? 3 : 4.5)) faint.push(textContent.trim().slice(0, 40) + ': ' + ratio.toFixed(2))
  }
  return faint
})()`

/** Each heading, at most one level below the one before it, and the first of them alone on its level. */
export function inOrder(levels: readonly string[]): string[] {
  const allowed = (level: string, place: number): boolean =>
    place === 0 ? level === 'H1' : level !== 'H1' && Number(level[1]) <= Number(levels[place - 1]?.[1]) + 1
  return levels.filter(allowed)
}
