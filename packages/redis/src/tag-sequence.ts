import type { CancelTimer, NewEntry, Runtime } from '@cattlegrid/core'
import type { Link } from './link/link.ts'
import { livesOf } from './record.ts'
import type { RedisKeys } from './redis-keys.ts'
import type { Scripts } from './scripts.ts'
import { readTagSequence } from './tag-numbers.ts'

/** Lower than every tag number: a load that knows no more may name no tags. */
const UNKNOWN = 0
/** How long after the grant of a lease the tag sequence may arrive, ms. As a rule both arrive together. */
const TIMEOUT = 100
/** A tag's number outlives the entries that carry the tag by this, ms: the time between noting it and the commit is part of that. */
const TAG_MARGIN = 60_000

/** The number that every invalidation of a tag raises: an entry is valid while its tags' numbers are at most the one read before its load. */
export class TagSequence {
  readonly #link: Link
  readonly #redisKeys: RedisKeys
  readonly #scripts: Scripts

  constructor(link: Link, redisKeys: RedisKeys, scripts: Scripts) {
    this.#link = link
    this.#redisKeys = redisKeys
    this.#scripts = scripts
  }

  /** The present number; the sequence is made where there is none. Never rejects. */
  async read(): Promise<number> {
    try {
      // As a rule the sequence exists, and a script costs the server several times as much as a read.
      return (await readTagSequence(this.#link, this.#redisKeys)) ?? (await this.#scripts.noteTags([], 1)).sequence
    } catch {
      return UNKNOWN
    }
  }

  /** Gives every tag of the entry a number that outlives it. */
  noteOf(entry: NewEntry): ReturnType<Scripts['noteTags']> {
    return this.#scripts.noteTags(entry.tags, livesOf(entry).keepFor + TAG_MARGIN)
  }
}

/**
 * The number must be known before the load begins. It may live on another server than the key, and that server may be silent: no load may
 * hang on it, and a load that names no tag need not suffer from it.
 */
export function withTimeout(reading: Promise<number>, runtime: Runtime): Promise<number> {
  return new Promise((resolve) => {
    const half = (action: () => void): CancelTimer => runtime.schedule(action, TIMEOUT / 2)
    // Two timers: a process that stood still runs its timers before it reads an answer that has already arrived.
    let cancel = half(() => {
      cancel = half(() => resolve(UNKNOWN))
    })
    void reading.then((sequence) => {
      cancel()
      resolve(sequence)
    })
  })
}
