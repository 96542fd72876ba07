import { Queue } from '../maps/queue.ts'

/**
 * Gives a permit back; further calls do nothing. `took`: the time of the load that ran with it, ms, if that
 * tells how fast its source is. `lingering`: the loader runs on although its load has ended.
 */
export type ReleasePermit = (took?: number, lingering?: Promise<unknown>) => void

/** A load that waits for a permit. */
export interface QueuedLoad {
  /** The number of calls that wait for it. */
  readonly callers: number
  /** The longest time that it may wait, ms. */
  readonly patience: number
  onPermit(permit: ReleasePermit): void
  /** It would wait for longer, `wait` ms from now. It has left the queue. */
  refuse(wait: number): void
}

/** Grants the permits of loads. */
export interface PermitSource {
  /** True if the next permit is granted without a wait. */
  readonly permitAvailable: boolean
  /**
   * Grants a free permit, or undefined when none is free. `force`: grants one in any case. Default: false.
   */
  tryAcquirePermit(force?: boolean): ReleasePermit | undefined
  /**
   * Gives the load a permit when it is its turn. Call it only when none is free. The returned function leaves
   * the queue; it has no effect after the grant.
   */
  queueForPermit(load: QueuedLoad): () => void
}

/** The permits of `max` loads at once: first come, first served. */
export class Permits implements PermitSource {
  readonly #max: number
  readonly #queue = new Queue<QueuedLoad>()
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

  queueForPermit(load: QueuedLoad): () => void {
    const place = this.#queue.push(load)
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
    if (this.#queue.size > 0 && this.permitAvailable) this.#queue.shift()?.onPermit(this.#grant())
  }
}

/** The permits of a view with another limit: each is one of the view's and one of the cache's. */
export class ViewPermits implements PermitSource {
  readonly #own: PermitSource
  readonly #outer: PermitSource

  constructor(own: PermitSource, outer: PermitSource) {
    this.#own = own
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
  queueForPermit(load: QueuedLoad): () => void {
    let leave = (): void => undefined
    const grant = (own: ReleasePermit, outer: ReleasePermit): void => {
      leave = () => undefined
      load.onPermit(both(own, outer))
    }
    const queueAtOuter = (own: ReleasePermit): void => {
      const outer = this.#outer.tryAcquirePermit()
      if (outer !== undefined) return grant(own, outer)
      const leaveOuter = this.#outer.queueForPermit(queued(load, (granted) => grant(own, granted), own))
      leave = () => {
        leaveOuter()
        own()
      }
    }
    const own = this.#own.tryAcquirePermit()
    if (own === undefined) leave = this.#own.queueForPermit(queued(load, queueAtOuter))
    else queueAtOuter(own)
    return () => leave()
  }
}

/**
 * The load in another queue. `held`: a permit that it has already, which goes back if this queue refuses it.
 */
function queued(load: QueuedLoad, onPermit: QueuedLoad['onPermit'], held?: ReleasePermit): QueuedLoad {
  return {
    get callers() {
      return load.callers
    },
    get patience() {
      return load.patience
    },
    onPermit,
    refuse: (wait) => {
      held?.()
      load.refuse(wait)
    },
  }
}

function both(first: ReleasePermit | undefined, second: ReleasePermit | undefined): ReleasePermit {
  return (took, lingering) => {
    first?.(took, lingering)
    second?.(took, lingering)
  }
}
