import { type CancelTimer, type Runtime, runDetached } from '../runtime/runtime.ts'
import type { HitLru, LruNode } from './hit-lru.ts'

/** The least time between two steps, ms. */
const PAUSE = 1000
/** The most records that a step visits. */
const NODES_PER_STEP = 1000

/**
 * Removes expired nodes from an LRU in the background: nobody may ask for their keys again. Its timer is set
 * for the earliest expiry that it knows, and keeps neither the process nor the LRU alive.
 */
export class Sweeper<N extends LruNode> {
  readonly #lru: HitLru<N>
  readonly #runtime: Runtime
  readonly #expiryOf: (node: N) => number
  /** The nodes that this sweep has still to visit. */
  #nodes: Iterator<N> | undefined
  /** The earliest expiry of the nodes that stay after this sweep. */
  #earliest = Infinity
  #due = Infinity
  #cancel: CancelTimer | undefined

  constructor(lru: HitLru<N>, runtime: Runtime, expiryOf: (node: N) => number) {
    this.#lru = lru
    this.#runtime = runtime
    this.#expiryOf = expiryOf
  }

  /** Call it with the expiry of each node that is set. */
  note(expiry: number): void {
    if (expiry < this.#earliest) this.#earliest = expiry
    if (expiry + PAUSE < this.#due) this.#wakeAt(expiry + PAUSE)
  }

  /** Ends the sweeps until the next node is set. */
  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#due = Infinity
    this.#earliest = Infinity
    this.#nodes = undefined
  }

  #wakeAt(moment: number): void {
    this.#cancel?.()
    this.#due = moment
    const delay = Math.max(0, moment - this.#runtime.now())
    const step = stepOf(new WeakRef(this))
    this.#cancel = runDetached(() => this.#runtime.schedule(step, delay))
  }

  /** Visits the next nodes. */
  step(): void {
    const now = this.#runtime.now()
    this.#due = Infinity
    const ended = this.#visit(now)
    const next = ended ? Math.max(this.#earliest, now) : now
    if (ended) this.#nodes = undefined
    if (next < Infinity) this.#wakeAt(next + PAUSE)
  }

  /** Returns true at the end of the sweep. */
  #visit(now: number): boolean {
    if (this.#nodes === undefined) this.#earliest = Infinity
    this.#nodes ??= this.#lru.values()
    for (let visited = 0; visited < NODES_PER_STEP; visited += 1) {
      const next = this.#nodes.next()
      if (next.done === true) return true
      const expiry = this.#expiryOf(next.value)
      if (expiry <= now) this.#lru.delete(next.value.key)
      else if (expiry < this.#earliest) this.#earliest = expiry
    }
    return false
  }
}

/** A function of its own, because a closure of a method would keep the sweeper. */
function stepOf<N extends LruNode>(sweeper: WeakRef<Sweeper<N>>): () => void {
  return () => sweeper.deref()?.step()
}
