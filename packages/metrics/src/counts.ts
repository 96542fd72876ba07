/** One line of a metric, without the label `cache`. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The values of one metric, by their labels. */
export class Counts {
  readonly #samples = new Map<string, { readonly labels: Sample['labels']; value: number }>()

  add(labels: Sample['labels'] = {}, amount = 1): void {
    const id = Object.values(labels).join('\n')
    const sample = this.#samples.get(id)
    if (sample === undefined) this.#samples.set(id, { labels, value: amount })
    else sample.value += amount
  }

  get samples(): readonly Sample[] {
    return [...this.#samples.values()]
  }

  get total(): number {
    return this.samples.reduce((sum, { value }) => sum + value, 0)
  }
}

/**
 * The values of a label that others name: after this number of different ones, every further one is `other`.
 */
export class BoundedLabel {
  readonly #known = new Set<string>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  of(value: string): string {
    if (this.#known.has(value)) return value
    if (this.#known.size >= this.#max) return 'other'
    this.#known.add(value)
    return value
  }
}
