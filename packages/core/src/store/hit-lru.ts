import { LRUCache } from 'lru-cache'

/** What is kept in a `HitLru`: a part of it is the LRU's. */
export interface Kept {
  /** How many moves to the front there had been when it was moved there last; 0 until it is set. */
  movedAt: number
}

export interface Bounds<V> {
  readonly maxEntries: number
  readonly maxBytes?: number | undefined
  /** In bytes; at least 1. */
  readonly sizeOf?: (kept: V, key: string) => number
}

/** A hit moves its key to the front when so many others, as a share of those that there is room for, have been moved before it. */
const SHARE = 1 / 8

/**
 * An LRU for many hits and few sets. A hit looks into a plain Map. Which keys are used least matters only when one has to go, so a hit moves
 * its key to the front only when an eighth of a full house may stand before it: what goes is what an LRU of seven eighths the size would
 * not have kept either.
 */
export class HitLru<V extends Kept> {
  readonly #kept = new Map<string, V>()
  /** The order in which they go, and what they weigh. */
  readonly #order: LRUCache<string, V>
  #moves = 0
  /** How many others may stand before a key that stays where it is. */
  #patience = 0
  /** Which move is not too long ago for that. */
  #lately = 0

  constructor({ maxEntries, maxBytes, sizeOf = () => 1 }: Bounds<V>) {
    this.#order = new LRUCache({
      max: maxEntries,
      ...(maxBytes === undefined ? {} : { maxSize: maxBytes, sizeCalculation: sizeOf }),
      dispose: (_, key, reason) => {
        if (reason !== 'set') this.#kept.delete(key)
      },
    })
  }

  /** What is kept of the key, which was asked for. */
  hit(key: string): V | undefined {
    const kept = this.#kept.get(key)
    return kept === undefined || kept.movedAt >= this.#lately ? kept : this.#toFront(key, kept)
  }

  /** What is kept of the key, wherever it stands. */
  get(key: string): V | undefined {
    return this.#kept.get(key)
  }

  /** Keeps it, at the front; what alone is more than there is room for is not kept. */
  set(key: string, kept: V): void {
    this.#order.set(key, kept)
    if (!this.#order.has(key)) return void this.#kept.delete(key)
    this.#kept.set(key, kept)
    const { size, max, calculatedSize, maxSize } = this.#order
    this.#patience = SHARE * (maxSize === 0 ? max : Math.min(max, (size * maxSize) / calculatedSize))
    this.#moved(kept)
  }

  delete(key: string): void {
    this.#order.delete(key)
  }

  clear(): void {
    this.#order.clear()
  }

  values(): IterableIterator<V> {
    return this.#kept.values()
  }

  /** Whether one more that weighs so many bytes would push nothing out. */
  hasRoom(bytes: number): boolean {
    const { size, max, calculatedSize, maxSize } = this.#order
    return size < max && (maxSize === 0 || calculatedSize + bytes <= maxSize)
  }

  #toFront(key: string, kept: V): V {
    this.#order.get(key)
    this.#moved(kept)
    return kept
  }

  #moved(kept: V): void {
    this.#moves += 1
    kept.movedAt = this.#moves
    this.#lately = this.#moves - this.#patience
  }
}
