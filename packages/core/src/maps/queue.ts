/** The place of an item in a queue. */
export interface Place<T> {
  readonly item: T
  before: Place<T> | undefined
  after: Place<T> | undefined
  queued: boolean
}

/**
 * First in, first out; an item may leave from any place. A linked list: a Set whose first item is taken again
 * and again visits the holes in front of it each time, and an array that is never empty grows.
 */
export class Queue<T> {
  #first: Place<T> | undefined
  #last: Place<T> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  push(item: T): Place<T> {
    const place: Place<T> = { item, before: this.#last, after: undefined, queued: true }
    if (this.#last === undefined) this.#first = place
    else this.#last.after = place
    this.#last = place
    this.#size += 1
    return place
  }

  shift(): T | undefined {
    const place = this.#first
    if (place !== undefined) this.delete(place)
    return place?.item
  }

  /** Does nothing when the item has left before. */
  delete(place: Place<T>): void {
    if (!place.queued) return
    place.queued = false
    this.#size -= 1
    if (place.before === undefined) this.#first = place.after
    else place.before.after = place.after
    if (place.after === undefined) this.#last = place.before
    else place.after.before = place.before
    // A place that its owner keeps must not keep the others.
    place.before = undefined
    place.after = undefined
  }
}
