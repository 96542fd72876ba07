import { AsyncLocalStorage } from 'node:async_hooks'
import { ReentrantLoadError } from './errors.ts'
import type { AdmissionLimits } from './settings.ts'

/** Gives a turn back; without effect when called again. */
export type EndTurn = () => void

/** The keys that are being loaded around the present code, from the outermost on. */
export interface Chain {
  readonly keys: readonly string[]
  /** The load is over: what it left running, a timer or a connection, is inside of nothing any more. */
  over: boolean
}

/** Decides who may wait and who may load in this process, and refuses a load that would wait for itself. */
export class Admission {
  readonly #limits: AdmissionLimits
  readonly #chain = new AsyncLocalStorage<Chain>()
  /** Who waits for a turn, in the order of coming. */
  readonly #queue = new Set<(turn: EndTurn) => void>()
  #loads = 0
  #waiters = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  /** The loads that the present code runs inside of, from the outermost on. */
  get inside(): readonly string[] {
    const chain = this.#chain.getStore()
    return chain === undefined || chain.over ? [] : chain.keys
  }

  /** @throws ReentrantLoadError when the caller is, directly or not, the loader of `key`. */
  check(key: string): void {
    const keys = this.inside
    if (keys.includes(key)) throw new ReentrantLoadError([...keys, key])
  }

  /** Runs a loader inside `chain`, whose maker ends it with the load. */
  enter<T>(chain: Chain, loader: () => T): T {
    return this.#chain.run(chain, loader)
  }

  /** Counts one more waiting call, unless this process, or the key with its `waiting` calls, has enough of them. */
  startWaiting(waiting: number): boolean {
    if (this.#waiters >= this.#limits.maxWaiters || waiting >= this.#limits.maxWaitersPerKey) return false
    this.#waiters += 1
    return true
  }

  stopWaiting(): void {
    this.#waiters -= 1
  }

  /** A turn to load, where one is free. A load inside a load always gets one: its outer load could not end without it. */
  turn(inside: readonly string[] = this.inside): EndTurn | undefined {
    return inside.length > 0 || this.#loads < this.#limits.maxLoads ? this.#begin() : undefined
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
