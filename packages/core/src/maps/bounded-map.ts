/**
 * A Map that keeps the `capacity` keys used last, and never more than twice as many. It has two generations:
 * once the younger one is full, the older one is forgotten and the younger takes its place. A key that is
 * used moves to the younger.
 *
 * @example
 * import { BoundedMap } from '@cattlegrid/core/extend'
 *
 * const lastSeen = new BoundedMap<string, number>(1000)
 * lastSeen.set('product:7', 42)
 */
export class BoundedMap<K, V extends object | string | number> {
  readonly #capacity: number
  readonly #onForget: ((values: Iterable<V>) => void) | undefined
  #younger = new Map<K, V>()
  #older = new Map<K, V>()

  /**
   * `onForget` is called with the values of a generation that is forgotten; `delete` and `clear` do not
   * call it.
   */
  constructor(capacity: number, onForget?: (values: Iterable<V>) => void) {
    this.#capacity = capacity
    this.#onForget = onForget
  }

  get size(): number {
    return this.#younger.size + this.#older.size
  }

  get(key: K): V | undefined {
    return this.#younger.get(key) ?? this.#fromOlder(key)
  }

  set(key: K, value: V): void {
    this.#older.delete(key)
    this.#younger.set(key, value)
    if (this.#younger.size < this.#capacity) return
    const forgotten = this.#older
    this.#older = this.#younger
    this.#younger = new Map()
    this.#onForget?.(forgotten.values())
  }

  /** Not a use of the keys. */
  *values(): IterableIterator<V> {
    yield* this.#younger.values()
    yield* this.#older.values()
  }

  delete(key: K): void {
    this.#younger.delete(key)
    this.#older.delete(key)
  }

  clear(): void {
    this.#younger.clear()
    this.#older.clear()
  }

  #fromOlder(key: K): V | undefined {
    const value = this.#older.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }
}
