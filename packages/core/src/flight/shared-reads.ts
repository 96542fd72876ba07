import type { Codec } from '../codec.ts'
import type { Read } from '../store/store.ts'

/** So many slots may stay, in use or not; or four times as many as are in use. */
const SLOTS = 2048

export interface SharedRead {
  codec: Codec
  /** Undefined when none is under way. */
  read: Promise<Read> | undefined
}

/**
 * One joinable read a key. A slot stays when its read is over: each key that comes and goes would be a change of the Map, which makes a new
 * table after so many of them. Once one of its tables has become old, the garbage collector keeps all that follow it, and all that stood in
 * them, which was a good part of what a hit cost.
 */
export class SharedReads {
  #slots = new Map<string, SharedRead>()
  /** How many reads are under way, in a slot that can be found or in one that was replaced. */
  #underWay = 0

  /** How many there are, in use or not. */
  get size(): number {
    return this.#slots.size
  }

  of(key: string): SharedRead | undefined {
    return this.#slots.get(key)
  }

  /** Puts a read that was just sent into the key's slot, `known`; where another is in it, with another codec, into a new one in its place. */
  take(key: string, known: SharedRead | undefined, codec: Codec, read: Promise<Read>): SharedRead {
    this.#underWay += 1
    if (known !== undefined && known.read === undefined) {
      known.codec = codec
      known.read = read
      return known
    }
    const slot: SharedRead = { codec, read }
    this.#slots.set(key, slot)
    return slot
  }

  /** The read in the slot is over. */
  end(slot: SharedRead): void {
    slot.read = undefined
    this.#underWay -= 1
    if (this.#slots.size > SLOTS && this.#slots.size > 4 * this.#underWay) this.#clearOut()
  }

  /** No later call joins the read of the key that is under way. */
  forget(key: string): void {
    this.#slots.delete(key)
  }

  forgetAll(): void {
    this.#slots.clear()
  }

  /** Only what is in use stays, in a Map to which no old table leads. */
  #clearOut(): void {
    this.#slots = new Map([...this.#slots].filter(([, { read }]) => read !== undefined))
  }
}
