import type { QueuedLoad } from './permits.ts'

/**
 * The loads that wait for a permit. Those with the most callers go first; of equal ones the newest, whose
 * callers are the most likely to wait still.
 */
export class LoadQueue {
  /** The moment at which each load began to wait, in that order. */
  readonly #since = new Map<QueuedLoad, number>()
  /** As of the last `rank`, the next one last. Some of them may have left since. */
  #ranked: QueuedLoad[] = []
  /** Those that came since, the newest last. */
  #fresh: QueuedLoad[] = []
  #stoodSince = 0

  get size(): number {
    return this.#since.size
  }

  /** The moment since which some load has waited at any time. */
  get stoodSince(): number {
    return this.#stoodSince
  }

  add(load: QueuedLoad, now: number): void {
    if (this.#since.size === 0) this.#stoodSince = now
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
  take(): QueuedLoad | undefined {
    const [ranked, fresh] = [this.#last(this.#ranked), this.#last(this.#fresh)]
    const isFresh = fresh !== undefined && (ranked === undefined || fresh.callers >= ranked.callers)
    const next = isFresh ? this.#fresh.pop() : this.#ranked.pop()
    if (next !== undefined) this.#since.delete(next)
    return next
  }

  /**
   * Puts the queue in the order of now, and returns each load with the moment at which it began to wait, the
   * next one first.
   */
  rank(): readonly (readonly [load: QueuedLoad, since: number])[] {
    const byCallers = new Map<number, QueuedLoad[]>()
    for (const load of this.#since.keys()) {
      const equal = byCallers.get(load.callers)
      if (equal === undefined) byCallers.set(load.callers, [load])
      else equal.push(load)
    }
    const counts = [...byCallers.keys()].toSorted((one, other) => one - other)
    this.#ranked = counts.flatMap((count) => byCallers.get(count) ?? [])
    this.#fresh = []
    return this.#ranked.toReversed().map((load) => [load, this.#since.get(load) ?? 0] as const)
  }

  /** The last one that has not left. */
  #last(loads: QueuedLoad[]): QueuedLoad | undefined {
    let last = loads.at(-1)
    while (last !== undefined && !this.#since.has(last)) {
      loads.pop()
      last = loads.at(-1)
    }
    return last
  }
}
