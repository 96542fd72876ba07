/** Warns the user of the library. */
export function warn(code: string, text: string): void {
  process.emitWarning(text, { type: 'CattlegridWarning', code })
}

/** The warnings about one route or place: each is given once. */
export class Warnings {
  readonly #given = new Set<string>()

  /** Makes the text only for the first warning of its code. */
  giveOnce<Facts extends readonly unknown[]>(code: string, text: (...facts: Facts) => string, ...facts: Facts): void {
    if (this.#given.has(code)) return
    this.#given.add(code)
    warn(code, text(...facts))
  }
}

/** The path of a URL: what a query says is left out of a warning. */
export function pathOf(target: string): string {
  return target.split('?')[0] ?? target
}
