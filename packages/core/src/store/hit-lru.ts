/**
 * The base of what a `HitLru` keeps: its place in the order of use is part of it, so a kept key costs one
 * object and one place in a Map.
 */
export class LruNode {
  readonly key: string
  /** Its part of `maxBytes`. */
  weight = 1
  /** The period in which it was moved to the front last. */
  movedIn = 0
  older: LruNode | undefined = undefined
  newer: LruNode | undefined = undefined

  constructor(key: string) {
    this.key = key
  }
}

export interface LruLimits<N> {
  readonly maxEntries: number
  /** Default: no limit. */
  readonly maxBytes?: number | undefined
  /** In bytes; at least 1. Default: 1. */
  readonly sizeOf?: (node: N) => number
  /**
   * Called with each node that is replaced, deleted, evicted, cleared or not kept. Default: nothing is done.
   */
  readonly onRemove?: (node: N) => void
}

/** A period ends when this share of a full cache has moved to the front in it. */
const PERIOD = 1 / 16

/**
 * An LRU for many hits and few sets. Which keys are used least matters only when one must go, so a hit moves
 * its key to the front only when that was not done in this period or the one before it. Two periods are an
 * eighth of a full cache: this LRU keeps whatever an exact LRU of seven eighths of its size keeps.
 */
export class HitLru<N extends LruNode> {
  readonly #nodes = new Map<string, N>()
  readonly #maxEntries: number
  readonly #maxBytes: number
  readonly #sizeOf: (node: N) => number
  readonly #onRemove: ((node: N) => void) | undefined
  #oldest: LruNode | undefined
  #newest: LruNode | undefined
  #weight = 0
  #period = 0
  /** The part of a full cache that has moved to the front in this period. */
  #moved = 0
  /** A node that was moved in this period or a later one stays where it is. */
  #recentFrom = 0

  constructor({ maxEntries, maxBytes = Infinity, sizeOf = () => 1, onRemove }: LruLimits<N>) {
    this.#maxEntries = maxEntries
    this.#maxBytes = maxBytes
    this.#sizeOf = sizeOf
    this.#onRemove = onRemove
  }

  /** The node of the key; counts as a use. */
  hit(key: string): N | undefined {
    const node = this.#nodes.get(key)
    return node === undefined || node.movedIn >= this.#recentFrom ? node : this.#use(node)
  }

  /** The node of the key; does not count as a use. */
  peek(key: string): N | undefined {
    return this.#nodes.get(key)
  }

  /**
   * Puts the node in the place of its key's old one, at the front. One that alone exceeds `maxBytes` is not
   * kept, nor the old one.
   */
  set(node: N): void {
    const { key } = node
    const weight = this.#sizeOf(node)
    const previous = this.#nodes.get(key)
    if (previous !== undefined) this.#drop(previous)
    if (weight > this.#maxBytes) {
      this.#nodes.delete(key)
      this.#onRemove?.(node)
      return
    }
    // A Map that keeps a place for the key stays as it is: no new place, no hole.
    while (this.#weight + weight > this.#maxBytes || this.#isFull(previous)) this.#evictOldest()
    node.weight = weight
    this.#nodes.set(key, node)
    this.#append(node)
    this.#countMove(node)
  }

  delete(key: string): void {
    const node = this.#nodes.get(key)
    if (node === undefined) return
    this.#nodes.delete(key)
    this.#drop(node)
  }

  clear(): void {
    if (this.#onRemove !== undefined) for (const node of this.#nodes.values()) this.#onRemove(node)
    this.#nodes.clear()
    this.#oldest = undefined
    this.#newest = undefined
    this.#weight = 0
  }

  values(): IterableIterator<N> {
    return this.#nodes.values()
  }

  /** True when one more node, of the average weight, would evict nothing. */
  hasRoom(): boolean {
    const { size } = this.#nodes
    return size < this.#maxEntries && this.#weight + this.#weight / Math.max(1, size) <= this.#maxBytes
  }

  #isFull(previous: N | undefined): boolean {
    return previous === undefined && this.#nodes.size >= this.#maxEntries
  }

  #evictOldest(): void {
    if (this.#oldest !== undefined) this.delete(this.#oldest.key)
  }

  #drop(node: N): void {
    this.#unlink(node)
    this.#onRemove?.(node)
  }

  #use(node: N): N {
    this.#unlink(node)
    this.#append(node)
    this.#countMove(node)
    return node
  }

  #append(node: LruNode): void {
    node.older = this.#newest
    if (this.#newest === undefined) this.#oldest = node
    else this.#newest.newer = node
    this.#newest = node
    this.#weight += node.weight
  }

  /**
   * Leaves the node without neighbours: an evicted one that somebody still holds must not keep others alive.
   */
  #unlink(node: LruNode): void {
    const { older, newer } = node
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    node.older = undefined
    node.newer = undefined
    this.#weight -= node.weight
  }

  #countMove(node: LruNode): void {
    this.#moved += Math.max(1 / this.#maxEntries, node.weight / this.#maxBytes)
    if (this.#moved >= PERIOD) {
      // A large node ends several periods at once.
      this.#period += Math.floor(this.#moved / PERIOD)
      this.#recentFrom = this.#period - 1
      this.#moved %= PERIOD
    }
    node.movedIn = this.#period
  }
}
