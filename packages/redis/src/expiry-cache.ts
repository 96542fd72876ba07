/** The maximum number of keys in each of the two halves. */
const MAX_KEYS = 5_000
/** The time for which an expiry is trusted after the read that returned it, ms. */
const TRUSTED_FOR = 1_000
/** Once one half is full, one of this many new keys is admitted. */
const ADMIT_ONE_IN = 16

/** When one version of an entry was committed and until when it is fresh, on this process's monotonic clock. */
export interface Expiry {
  readonly committedAt: number
  readonly freshUntil: number
}

/** The remembered expiry of a key. */
export interface KnownExpiry<E> {
  expiry: E
  /** From here on, a read asks Redis for the time to live again. */
  trustedUntil: number
}

/**
 * Remembers the expiry of recently read versions, so that a hit sends GET without PTTL: the bytes carry their version, and the expiry of that
 * version is known. An expiry describes one version, not what is stored at the key now, and no step of this library extends it. So an
 * invalidation, a lost notice or a broken channel cannot make it wrong:
 *
 * - the entry was deleted or replaced: the next GET returns nothing, or another version;
 * - the entry was expired by hand: every such entry has the version of zeros, is never fresh, and is therefore never remembered here;
 * - the key changed between the read and the remembering: the remembered version is no longer stored.
 *
 * An expiry is trusted only briefly: the process may have been suspended together with its clock, and an operator may shorten a time to live with
 * EXPIRE.
 */
export class ExpiryCache<E extends Expiry = Expiry> {
  readonly #maxKeys: number
  /** An LRU in two halves: when the younger half is full, the older one is dropped. A key that is read moves to the younger half. */
  #younger = new Map<string, KnownExpiry<E>>()
  #older = new Map<string, KnownExpiry<E>>()
  #candidates = 0

  constructor(maxKeys: number = MAX_KEYS) {
    this.#maxKeys = maxKeys
  }

  /** The number of remembered keys. */
  get size(): number {
    return this.#younger.size + this.#older.size
  }

  /** The remembered expiry of the key, trusted or not. */
  get(key: string): KnownExpiry<E> | undefined {
    return this.#younger.get(key) ?? this.#fromOlder(key)
  }

  /**
   * Remembers what Redis answered to a read sent at `askedAt`. `known` is what `get` returned before. An entry that is not fresh is not
   * remembered: it will soon be replaced, and other entries may have its version (zeros). The check uses `askedAt`, because the reader's coarse clock may lag.
   *
   * Where there are many keys, few new ones are admitted: with more keys than places, each would be dropped before its next read.
   */
  remember(key: string, known: KnownExpiry<E> | undefined, expiry: E, askedAt: number): void {
    const until = Math.min(expiry.freshUntil, askedAt + TRUSTED_FOR)
    if (expiry.freshUntil <= askedAt) this.forget(key)
    else if (known !== undefined) {
      known.expiry = expiry
      known.trustedUntil = until
    } else if (this.#admits()) this.#keep(key, { expiry, trustedUntil: until })
  }

  /** Stops trusting the expiry. The key keeps its place, because a key that changes is usually read again. */
  forget(key: string): void {
    const known = this.get(key)
    if (known !== undefined) known.trustedUntil = 0
  }

  clear(): void {
    this.#younger.clear()
    this.#older.clear()
  }

  #admits(): boolean {
    if (this.#older.size === 0) return true
    this.#candidates = (this.#candidates + 1) % ADMIT_ONE_IN
    return this.#candidates === 0
  }

  #fromOlder(key: string): KnownExpiry<E> | undefined {
    const known = this.#older.get(key)
    if (known !== undefined) this.#keep(key, known)
    return known
  }

  #keep(key: string, known: KnownExpiry<E>): void {
    this.#older.delete(key)
    this.#younger.set(key, known)
    if (this.#younger.size < this.#maxKeys) return
    this.#older = this.#younger
    this.#younger = new Map()
  }
}
