import { checkReentry, inside, type Loading, noteWait } from './reentrancy.ts'
import type { AdmissionLimits } from '../options/settings.ts'

/** Gives a turn back; without effect when called again. */
export type EndTurn = () => void

/** Calls that count as one waiter, however many of them wait. */
export interface Party {
  waiting: number
}

/** Decides who may wait and who may load in this process, and refuses a load that would wait for itself. */
export class Admission {
  readonly #limits: AdmissionLimits
  /** Who waits for a turn, in the order of coming. */
  readonly #queue = new Set<(turn: EndTurn) => void>()
  #loads = 0
  #waiters = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  /** A key of this cache, as a load. */
  loading(key: string): Loading {
    return { owner: this, key }
  }

  /** Whether one of the loads is this cache's. */
  isInside(around: readonly Loading[] = inside()): boolean {
    return around.some(({ owner }) => owner === this)
  }

  /** @throws ReentrantLoadError when waiting for `key` would never end. */
  check(key: string): void {
    checkReentry(this, key)
  }

  /**
   * Counts one more call that waits for `key`, unless this process, or the key with its `waiting` calls, has enough of them. Returns how to
   * stop counting it.
   */
  startWaiting(key: string, waiting: number, party?: Party): (() => void) | undefined {
    const joins = party !== undefined && party.waiting > 0
    if ((!joins && this.#waiters >= this.#limits.maxWaiters) || waiting >= this.#limits.maxWaitersPerKey)
      return undefined
    if (!joins) this.#waiters += 1
    const forget = noteWait(this, key)
    // As a rule: a herd shares what ends its waiting.
    if (party === undefined && forget === undefined) return this.#oneLess
    if (party !== undefined) party.waiting += 1
    return () => {
      if (party !== undefined) party.waiting -= 1
      if (party === undefined || party.waiting === 0) this.#oneLess()
      forget?.()
    }
  }

  readonly #oneLess = (): void => {
    this.#waiters -= 1
  }

  /** Whether a load would get a turn at once. */
  get hasTurn(): boolean {
    return this.#loads < this.#limits.maxLoads
  }

  /** A turn to load, where one is free. A load inside a load of this cache always gets one: its outer load could not end without it. */
  turn(around: readonly Loading[] = inside()): EndTurn | undefined {
    return this.isInside(around) || this.hasTurn ? this.#begin() : undefined
  }

  /** Calls `onTurn` with the next free turn, after all who came before. Returns how to leave the queue. */
  queue(onTurn: (turn: EndTurn) => void): () => void {
    this.#queue.add(onTurn)
    return () => {
      this.#queue.delete(onTurn)
    }
  }

  #begin(): EndTurn {
    this.#loads += 1
    let over = false
    return () => {
      if (over) return
      over = true
      this.#loads -= 1
      this.#next()
    }
  }

  #next(): void {
    const [first] = this.#queue
    if (first === undefined || this.#loads >= this.#limits.maxLoads) return
    this.#queue.delete(first)
    first(this.#begin())
  }
}
