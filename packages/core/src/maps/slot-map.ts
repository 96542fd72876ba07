/** Empty slots are kept up to this count. */
const CLEAN_UP_ABOVE = 128

/** A class: see docs/decisions/0013. */
class Slot<V> {
  value: V | undefined

  constructor(value: V) {
    this.value = value
  }
}

/**
 * A Map for keys that come and go: the slot of a key stays when its value is deleted. A change of a Map is
 * costly: V8 allocates a new table after a number of insertions and deletions, the old table links to the new
 * one, and once an old table is in the old generation, the garbage collector keeps all later tables and their
 * contents alive.
 */
export class SlotMap<V> {
  #slots = new Map<string, Slot<V>>()
  #size = 0
  /** The deletions since a quarter of the slots had values. */
  #deletions = 0

  /** The number of values. */
  get size(): number {
    return this.#size
  }

  /** The number of slots, empty ones included. */
  get slots(): number {
    return this.#slots.size
  }

  get(key: string): V | undefined {
    return this.#slots.get(key)?.value
  }

  set(key: string, value: V): void {
    const slot = this.#slots.get(key)
    if (slot?.value === undefined) this.#size += 1
    if (slot === undefined) this.#slots.set(key, new Slot(value))
    else slot.value = value
  }

  delete(key: string): void {
    const slot = this.#slots.get(key)
    if (slot?.value === undefined) return
    slot.value = undefined
    this.#size -= 1
    this.#deletions = 4 * this.#size < this.#slots.size ? this.#deletions + 1 : 0
    // Not at once: the keys of a burst that has ended may come again.
    if (this.#slots.size > CLEAN_UP_ABOVE && 2 * this.#deletions > this.#slots.size) this.#dropEmptySlots()
  }

  clear(): void {
    this.#slots.clear()
    this.#size = 0
    this.#deletions = 0
  }

  *entries(): IterableIterator<[string, V]> {
    for (const [key, { value }] of this.#slots) if (value !== undefined) yield [key, value]
  }

  /** Moves the others to a new Map, to which no old table links. */
  #dropEmptySlots(): void {
    const kept = new Map<string, Slot<V>>()
    // No iterator: it allocates a pair for each slot.
    this.#slots.forEach((slot, key) => {
      if (slot.value !== undefined) kept.set(key, slot)
    })
    this.#slots = kept
    this.#deletions = 0
  }
}
