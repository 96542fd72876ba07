import type { QueuedLoad } from './permits.ts'

/** A queue stands once a load of it has waited for so long, ms. Until then it may be a burst. */
const STANDS = 1000

/**
 * The loads that wait for a permit. Those with the most callers go first; of equal ones the oldest, or the
 * newest once the queue stands: its callers are the most likely to wait still.
 */
export class LoadQueue {
  /** The moment at which each load began to wait, in that order. */
  readonly #since = new Map<QueuedLoad, number>()
  /** As of the last `rank`, the next one last. Some of them may have left since. */
  #ranked: QueuedLoad[] = []
  /** Those that came since, the newest last. */
  #fresh: QueuedLoad[] = []

  get size(): number {
    return this.#since.size
  }

  stands(now: number): boolean {
    const [oldest = now] = this.#since.values()
    return now - oldest >= STANDS
  }

  add(load: QueuedLoad, now: number): void {
    this.#since.set(load, now)
    this.#fresh.push(load)
  }

  delete(load: QueuedLoad): void {
    this.#since.delete(load)
  }

  /**
   * Takes the next load out of the queue. Callers that came since the last `rank` count only for a load that
   * is compared with another.
   */
  take(now: number): QueuedLoad | undefined {
    const newestFirst = this.stands(now)
    const ranked = this.#waiting(this.#ranked, -1)
    const fresh = this.#waiting(this.#fresh, newestFirst ? -1 : 0)
    const lead = (fresh?.callers ?? -Infinity) - (ranked?.callers ?? -Infinity)
    const next = lead > 0 || (lead === 0 && newestFirst) ? fresh : ranked
    if (next !== undefined) this.#since.delete(next)
    return next
  }

  /**
   * Puts the queue in the order of now, and returns each load with the moment at which it began to wait, the
   * next one first.
   */
  rank(now: number): readonly (readonly [load: QueuedLoad, since: number])[] {
    const byCallers = new Map<number, QueuedLoad[]>()
    for (const load of this.#since.keys()) {
      const equal = byCallers.get(load.callers)
      if (equal === undefined) byCallers.set(load.callers, [load])
      else equal.push(load)
    }
    const counts = [...byCallers.keys()].toSorted((one, other) => one - other)
    const newestFirst = this.stands(now)
    this.#ranked = counts.flatMap((count) => {
      const equal = byCallers.get(count) ?? []
      return newestFirst ? equal : equal.toReversed()
    })
    this.#fresh = []
    return this.#ranked.toReversed().map((load) => [load, this.#since.get(load) ?? 0] as const)
  }

  /** The load at one end of a list that still waits; those beyond it that have left are dropped. */
  #waiting(loads: QueuedLoad[], end: 0 | -1): QueuedLoad | undefined {
    let load = loads.at(end)
    while (load !== undefined && !this.#since.has(load)) {
      if (end === 0) loads.shift()
      else loads.pop()
      load = loads.at(end)
    }
    return load
  }
}
