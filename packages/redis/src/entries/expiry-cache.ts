import { BoundedMap } from '@cattlegrid/core/extend'

/** Number of keys read last that are remembered. */
const MAX_KEYS = 5_000
/** The time for which an expiry is trusted after the read that returned it, ms. */
const TRUSTED_FOR = 1_000
/** Once that many are remembered, one of this many new keys is admitted. */
const ADMIT_ONE_IN = 16

/**
 * When one version of an entry was committed and until when it is fresh, on this process's monotonic clock.
 */
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
 * Remembers the expiry of recently read versions, so that a hit sends GET without PTTL: the bytes carry their
 * version, and the expiry of that version is known. An expiry describes one version, not what is stored at
 * the key now, and no step of this library extends it. So an invalidation, a lost notice or a broken channel
 * cannot make it wrong:
 *
 * - the entry was deleted or replaced: the next GET returns nothing, or another version;
 * - the entry was explicitly expired: its version has a mark, and is not the remembered one;
 * - the key changed between the read and the remembering: the remembered version is no longer stored.
 *
 * An expiry is trusted only briefly: the process may have been suspended together with its clock, and an
 * operator may shorten a time to live with EXPIRE.
 */
export class ExpiryCache<E extends Expiry = Expiry> {
  readonly #maxKeys: number
  readonly #known: BoundedMap<string, KnownExpiry<E>>
  #candidates = 0

  constructor(maxKeys: number = MAX_KEYS) {
    this.#maxKeys = maxKeys
    this.#known = new BoundedMap(maxKeys)
  }

  /** The number of remembered keys. */
  get size(): number {
    return this.#known.size
  }

  /** The remembered expiry of the key, trusted or not. */
  get(key: string): KnownExpiry<E> | undefined {
    return this.#known.get(key)
  }

  /**
   * Remembers what Redis answered to a read sent at `askedAt`. `known` is what `get` returned before. An
   * entry that is not fresh is not remembered: it will soon be replaced. The check uses `askedAt`, because
   * the reader's coarse clock may lag.
   *
   * Where there are many keys, few new ones are admitted: with more keys than places, each would be dropped
   * before its next read.
   */
  remember(key: string, known: KnownExpiry<E> | undefined, expiry: E, askedAt: number): void {
    const until = Math.min(expiry.freshUntil, askedAt + TRUSTED_FOR)
    if (expiry.freshUntil <= askedAt) this.forget(key)
    else if (known !== undefined) {
      known.expiry = expiry
      known.trustedUntil = until
    } else if (this.#admits()) this.#known.set(key, { expiry, trustedUntil: until })
  }

  /** Stops trusting the expiry. The key keeps its place, because a key that changes is usually read again. */
  forget(key: string): void {
    const known = this.get(key)
    if (known !== undefined) known.trustedUntil = 0
  }

  clear(): void {
    this.#known.clear()
  }

  #admits(): boolean {
    if (this.#known.size < this.#maxKeys) return true
    this.#candidates = (this.#candidates + 1) % ADMIT_ONE_IN
    return this.#candidates === 0
  }
}
