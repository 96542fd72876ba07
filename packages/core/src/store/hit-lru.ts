import { LRUCache } from 'lru-cache'

/** What is kept in a `HitLru`: a part of it is the LRU's. */
export interface Kept {
  /** The turn in which it was moved to the front last; 0 until it is set. */
  movedIn: number
}

export interface Bounds<V> {
  readonly maxEntries: number
  readonly maxBytes?: number | undefined
  /** In bytes; at least 1. */
  readonly sizeOf?: (kept: V, key: string) => number
}

/** A turn is over when so much has moved to the front in it, as a share of a full house. */
const TURN = 1 / 16

/**
 * An LRU for many hits and few sets. A hit looks into a plain Map. Which keys are used least matters only when one has to go, so a hit moves
 * its key to the front only when that was not done in this turn or the one before it. Two turns are an eighth of a full house: what goes is
 * what an LRU of seven eighths the size would not have kept either.
 */
export class HitLru<V extends Kept> {
  readonly #kept = new Map<string, V>()
  /** The order in which they go, and what they weigh. */
  readonly #order: LRUCache<string, V>
  readonly #shareOf: (kept: V, key: string) => number
  #turn = 0
  /** How much of a full house has moved in this turn. */
  #moved = 0
  /** What was moved in this turn or a later one stays where it is. */
  #lately = 0

  constructor({ maxEntries, maxBytes, sizeOf = () => 1 }: Bounds<V>) {
    this.#order = new LRUCache({
      max: maxEntries,
      ...(maxBytes === undefined ? {} : { maxSize: maxBytes, sizeCalculation: sizeOf }),
      dispose: (_, key, reason) => {
        if (reason !== 'set') this.#kept.delete(key)
      },
    })
    const oneOf = 1 / maxEntries
    this.#shareOf = maxBytes === undefined ? () => oneOf : (kept, key) => Math.max(oneOf, sizeOf(kept, key) / maxBytes)
  }

  /** What is kept of the key, which was asked for. */
  hit(key: string): V | undefined {
    const kept = this.#kept.get(key)
    return kept === undefined || kept.movedIn >= this.#lately ? kept : this.#toFront(key, kept)
  }

  /** What is kept of the key, by a look that does not count as use. */
  peek(key: string): V | undefined {
    return this.#kept.get(key)
  }

  /** Keeps it, at the front; what alone is more than there is room for is not kept. */
  set(key: string, kept: V): void {
    this.#order.set(key, kept)
    if (!this.#order.has(key)) return void this.#kept.delete(key)
    this.#kept.set(key, kept)
    this.#note(key, kept)
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
    this.#note(key, kept)
    return kept
  }

  /** It stands at the front. */
  #note(key: string, kept: V): void {
    this.#moved += this.#shareOf(kept, key)
    if (this.#moved >= TURN) {
      // What is large takes several turns at once.
      this.#turn += Math.floor(this.#moved / TURN)
      this.#lately = this.#turn - 1
      this.#moved %= TURN
    }
    kept.movedIn = this.#turn
  }
}
