import { Queue } from '../maps/queue.ts'

/** Gives a permit back; further calls do nothing. */
export type ReleasePermit = () => void

/** Grants the permits of loads. */
export interface PermitSource {
  /** True if the next permit is granted without a wait. */
  readonly permitAvailable: boolean
  /** Grants a free permit, or undefined when none is free. `force`: grants one in any case. Default: false. */
  tryAcquirePermit(force?: boolean): ReleasePermit | undefined
  /** Calls `onPermit` with the next free permit, first come, first served. Call it only when none is free. The returned function leaves the queue; it has no effect after the grant. */
  queueForPermit(onPermit: (permit: ReleasePermit) => void): () => void
}

/** The permits of `max` loads at once. */
export class Permits implements PermitSource {
  readonly #max: number
  readonly #queue = new Queue<(permit: ReleasePermit) => void>()
  #granted = 0

  constructor(max: number) {
    this.#max = max
  }

  get permitAvailable(): boolean {
    return this.#granted < this.#max
  }

  tryAcquirePermit(force = false): ReleasePermit | undefined {
    return force || this.permitAvailable ? this.#grant() : undefined
  }

  queueForPermit(onPermit: (permit: ReleasePermit) => void): () => void {
    const place = this.#queue.push(onPermit)
    return () => this.#queue.delete(place)
  }

  #grant(): ReleasePermit {
    this.#granted += 1
    let released = false
    return () => {
      if (released) return
      released = true
      this.#granted -= 1
      this.#grantNext()
    }
  }

  #grantNext(): void {
    if (this.#queue.size > 0 && this.permitAvailable) this.#queue.shift()?.(this.#grant())
  }
}

/** The permits of a view with a limit of its own: each is one of the view's and one of the cache's. */
export class ViewPermits implements PermitSource {
  readonly #own: Permits
  readonly #outer: PermitSource

  constructor(max: number, outer: PermitSource) {
    this.#own = new Permits(max)
    this.#outer = outer
  }

  get permitAvailable(): boolean {
    return this.#own.permitAvailable && this.#outer.permitAvailable
  }

  tryAcquirePermit(force = false): ReleasePermit | undefined {
    if (!force && !this.permitAvailable) return undefined
    return both(this.#own.tryAcquirePermit(force), this.#outer.tryAcquirePermit(force))
  }

  /** Queues for the view's permit first: the loads of a full view take no place in the cache's queue. */
  queueForPermit(onPermit: (permit: ReleasePermit) => void): () => void {
    let leave = (): void => undefined
    const grant = (own: ReleasePermit, outer: ReleasePermit): void => {
      leave = () => undefined
      onPermit(both(own, outer))
    }
    const queueAtOuter = (own: ReleasePermit): void => {
      const outer = this.#outer.tryAcquirePermit()
      if (outer !== undefined) return grant(own, outer)
      const leaveOuter = this.#outer.queueForPermit((granted) => grant(own, granted))
      leave = both(leaveOuter, own)
    }
    const own = this.#own.tryAcquirePermit()
    if (own === undefined) leave = this.#own.queueForPermit(queueAtOuter)
    else queueAtOuter(own)
    return () => leave()
  }
}

function both(first: (() => void) | undefined, second: (() => void) | undefined): () => void {
  return () => {
    first?.()
    second?.()
  }
}
