import { type Entry, type EntryContent, type EntryState, expiredVersion, type Version } from '../../entry.ts'
import { LruNode } from '../hit-lru.ts'
import type { KeyMark } from './key-state.ts'

/** The entry and the mark of a key: both live and are evicted together, and count once among `maxEntries`. */
export class KeyRecord extends LruNode {
  state: KeyMark | undefined

  constructor(key: string, state: KeyMark | undefined) {
    super(key)
    this.state = state
  }

  get entry(): StoredEntry | undefined {
    return undefined
  }
}

/**
 * The entry of a key, which is its record, too: an object of its own would add a sixth to what a small entry
 * costs. It keeps nothing that it can compute: a text for the version alone would add a fifteenth.
 */
export class StoredEntry extends KeyRecord implements Entry {
  readonly value: unknown
  staleWhileRevalidate: number
  staleIfError: number
  readonly tags: readonly string[]
  readonly committedAt: number
  freshUntil: number
  expired: boolean
  readonly loadTime: number
  /**
   * Raised to the current sequence whenever the entry's tags are checked: until the sequence moves on, a hit
   * does not check them again.
   */
  tagSeq: number
  readonly size: number
  /** The number of its write; negative once it was expired by hand. */
  readonly #write: number
  promised: Promise<unknown> | undefined = undefined

  constructor(key: string, content: EntryContent, write: number, state: Omit<EntryState, 'version'>) {
    super(key, undefined)
    this.value = content.value
    this.staleWhileRevalidate = content.staleWhileRevalidate
    this.staleIfError = content.staleIfError
    this.tags = content.tags
    this.#write = write
    this.committedAt = state.committedAt
    this.freshUntil = state.freshUntil
    this.expired = state.expired
    this.loadTime = state.loadTime
    this.tagSeq = state.tagSeq
    this.size = state.size
  }

  get version(): Version {
    const version = String(Math.abs(this.#write))
    return this.#write < 0 ? expiredVersion(version) : version
  }

  get from(): 'store' {
    return 'store'
  }

  override get entry(): StoredEntry {
    return this
  }

  /** Another entry of the key, which is stale from `freshUntil` on: callers may still hold this one. */
  expiredByHand(freshUntil: number): StoredEntry {
    const { committedAt, loadTime, tagSeq, size } = this
    const state = { committedAt, freshUntil, expired: true, loadTime, tagSeq, size }
    return new StoredEntry(this.key, this, -Math.abs(this.#write), state)
  }
}
