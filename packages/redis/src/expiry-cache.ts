/** So many keys in each of the two halves. */
const MOST_KEYS = 5_000
/** For how long a life that Redis told is believed, ms. */
const BELIEVED = 1_000
/** Once one half is full: of the newcomers, every so many is let in. */
const LET_IN = 16

/** The moments of one version of an entry, on this process's monotonic clock. */
export interface Expiry {
  readonly committedAt: number
  readonly freshUntil: number
}

/** What is known of a key. */
export interface KnownExpiry<L> {
  life: L
  /** From here on it is not believed, and Redis is asked again. */
  until: number
}

/**
 * The lives that Redis told of late, so that a hit need not ask for the time left again: its bytes carry their version, and whoever knows
 * that version's life needs nothing else. This says nothing about what stands at a key now, only about one version, whose life begins with
 * its commit and never becomes longer. So there is nothing that an invalidation, a notice or a broken channel would make wrong:
 *
 * - deleted, or replaced: the next bytes are none, or have another version;
 * - expired by hand: all of these share the version of zeros; they are never fresh, and nothing that is not fresh is kept here;
 * - a life that was told before the key changed, and is noted afterwards: of a version that is there no more.
 *
 * It is believed for a moment only, because clocks are not alike (this process may have stood still together with its clock), and because
 * a person may shorten a life with EXPIRE.
 */
export class ExpiryCache<L extends Expiry = Expiry> {
  readonly #mostKeys: number
  /** An LRU in two halves: when the younger one is full, the older one goes. What is asked for moves to the younger. */
  #younger = new Map<string, KnownExpiry<L>>()
  #older = new Map<string, KnownExpiry<L>>()
  #newcomers = 0

  constructor(mostKeys: number = MOST_KEYS) {
    this.#mostKeys = mostKeys
  }

  /** How many lives are kept. */
  get size(): number {
    return this.#younger.size + this.#older.size
  }

  /** What is known of the key, believed or not. */
  of(key: string): KnownExpiry<L> | undefined {
    return this.#younger.get(key) ?? this.#fromOlder(key)
  }

  /**
   * What Redis told when it was asked at `askedAt`, and what was known of the key before. What is not fresh is not kept, however far behind
   * the clock of who asks may lie: it will soon be another, and may have a version that others have, too.
   *
   * As with the copies for an outage, few newcomers get in where there are many keys: a life that is gone before its key comes round again
   * would be paid for at every read, for nothing.
   */
  note(key: string, known: KnownExpiry<L> | undefined, life: L, askedAt: number): void {
    const until = Math.min(life.freshUntil, askedAt + BELIEVED)
    if (life.freshUntil <= askedAt) this.forget(key)
    else if (known !== undefined) {
      known.life = life
      known.until = until
    } else if (this.#letsIn()) this.#keep(key, { life, until })
  }

  /** Its life is known no more. Its place is kept: who changes is read again. */
  forget(key: string): void {
    const known = this.of(key)
    if (known !== undefined) known.until = 0
  }

  clear(): void {
    this.#younger.clear()
    this.#older.clear()
  }

  #letsIn(): boolean {
    if (this.#older.size === 0) return true
    this.#newcomers = (this.#newcomers + 1) % LET_IN
    return this.#newcomers === 0
  }

  #fromOlder(key: string): KnownExpiry<L> | undefined {
    const known = this.#older.get(key)
    if (known !== undefined) this.#keep(key, known)
    return known
  }

  #keep(key: string, known: KnownExpiry<L>): void {
    this.#older.delete(key)
    this.#younger.set(key, known)
    if (this.#younger.size < this.#mostKeys) return
    this.#older = this.#younger
    this.#younger = new Map()
  }
}
