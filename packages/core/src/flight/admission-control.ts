import { throwIfReentrant, activeLoads, type ActiveLoad, noteWait } from './reentrancy.ts'
import type { AdmissionLimits } from '../options/settings.ts'

/** Gives a turn back; without effect when called again. */
export type ReleasePermit = () => void

/** Calls that count as one waiter, however many of them wait. */
export interface SharedWaiter {
  waiting: number
}

/** Decides who may wait and who may load in this process, and refuses a load that would wait for itself. */
export class AdmissionControl {
  readonly #limits: AdmissionLimits
  /** Who waits for a turn, in the order of coming. */
  readonly #queue = new Set<(tryAcquirePermit: ReleasePermit) => void>()
  #loads = 0
  #waiters = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  /** A key of this cache, as a load. */
  activeLoad(key: string): ActiveLoad {
    return { owner: this, key }
  }

  /** Whether one of the loads is this cache's. */
  isInsideLoad(around: readonly ActiveLoad[] = activeLoads()): boolean {
    return around.some(({ owner }) => owner === this)
  }

  /** @throws ReentrantLoadError when waiting for `key` would never end. */
  checkReentrancy(key: string): void {
    throwIfReentrant(this, key)
  }

  /**
   * Counts one more call that waits for `key`, unless this process, or the key with its `waiting` calls, has enough of them. Returns how to
   * stop counting it.
   */
  startWaiting(key: string, waiting: number, party?: SharedWaiter): (() => void) | undefined {
    const joins = party !== undefined && party.waiting > 0
    if ((!joins && this.#waiters >= this.#limits.maxWaiters) || waiting >= this.#limits.maxWaitersPerKey)
      return undefined
    if (!joins) this.#waiters += 1
    const forget = noteWait(this, key)
    // As a rule: a herd shares what ends its waiting.
    if (party === undefined && forget === undefined) return this.#stopWaiting
    if (party !== undefined) party.waiting += 1
    return () => {
      if (party !== undefined) party.waiting -= 1
      if (party === undefined || party.waiting === 0) this.#stopWaiting()
      forget?.()
    }
  }

  readonly #stopWaiting = (): void => {
    this.#waiters -= 1
  }

  /** Whether a load would get a turn at once. */
  get hasPermit(): boolean {
    return this.#loads < this.#limits.maxLoads
  }

  /** A turn to load, where one is free. A load inside a load of this cache always gets one: its outer load could not end without it. */
  turn(around: readonly ActiveLoad[] = activeLoads()): ReleasePermit | undefined {
    return this.isInsideLoad(around) || this.hasPermit ? this.#grantPermit() : undefined
  }

  /** Calls `onTurn` with the next free turn, after all who came before. Returns how to leave the queue. */
  queueForPermit(onTurn: (turn: ReleasePermit) => void): () => void {
    this.#queue.add(onTurn)
    return () => {
      this.#queue.delete(onTurn)
    }
  }

  #grantPermit(): ReleasePermit {
    this.#loads += 1
    let over = false
    return () => {
      if (over) return
      over = true
      this.#loads -= 1
      this.#grantNext()
    }
  }

  #grantNext(): void {
    const [first] = this.#queue
    if (first === undefined || this.#loads >= this.#limits.maxLoads) return
    this.#queue.delete(first)
    first(this.#grantPermit())
  }
}
