import type { CancelTimer, NewEntry } from '@cattlegrid/core/extend'
import { lifetimesOf } from '../entries/record.ts'
import type { NumberedTags, Scripts, StepParts } from '../lua/scripts.ts'
import { readTagSequence } from './tag-numbers.ts'

/** Lower than every tag number: a load that begins with this is refused when it names tags. */
const UNKNOWN = 0
/** The longest wait of an acquire for the tag sequence after the grant, ms. Usually both arrive together. */
const TIMEOUT = 100
/** After a time-out no acquire waits for the sequence for so long, ms, unless the server answers before. */
const PAUSE = 1000
/** The time by which a tag number outlives its entries, ms: it is written some time before the commit. */
const TAG_MARGIN = 60_000

/**
 * The number that every tag invalidation increments. An entry is valid while no number of its tags exceeds
 * the sequence read before its load.
 *
 * It may be on another server than the key, and that server may be silent: it must not block the loads, which
 * need the number only if they name tags.
 */
export class TagSequence {
  readonly #parts: Omit<StepParts, 'steps'>
  /** Until then its server counts as silent. */
  #silentUntil = -Infinity

  constructor(parts: Omit<StepParts, 'steps'>) {
    this.#parts = parts
  }

  /**
   * Asks for the current number at once, and creates the sequence if it is missing. The function that it
   * returns waits for the answer, and resolves to UNKNOWN when that does not come in time. Nothing rejects.
   */
  read(): () => Promise<number> {
    if (this.#parts.runtime.elapsed() < this.#silentUntil) return () => Promise.resolve(UNKNOWN)
    const reading = this.#readSequence()
    return () => this.#inTime(reading)
  }

  async #readSequence(): Promise<number> {
    const { link, redisKeys, scripts, denied } = this.#parts
    try {
      // Usually the sequence exists, and a script costs the server several times as much as a read.
      return (await readTagSequence(link, redisKeys)) ?? (await scripts.noteTags({ tags: [], keepFor: 1 })).sequence
    } catch (error) {
      denied.note(error)
      return UNKNOWN
    } finally {
      this.#silentUntil = -Infinity
    }
  }

  #inTime(reading: Promise<number>): Promise<number> {
    return new Promise((resolve) => {
      const half = (action: () => void): CancelTimer => this.#parts.runtime.schedule(action, TIMEOUT / 2)
      const giveUp = (): void => {
        this.#silentUntil = this.#parts.runtime.elapsed() + PAUSE
        resolve(UNKNOWN)
      }
      // Two timers: after a suspension, a process runs due timers before it reads a reply that has
      // already arrived.
      let cancel = half(() => {
        cancel = half(giveUp)
      })
      void reading.then((sequence) => {
        cancel()
        resolve(sequence)
      })
    })
  }

  /** Gives every tag of the entry a number that is kept longer than the entry. */
  noteTagsOf(entry: NewEntry): ReturnType<Scripts['noteTags']> {
    return this.#parts.scripts.noteTags(numberedTagsOf(entry))
  }
}

/** The tags of an entry; their numbers are kept longer than the entry. */
export function numberedTagsOf(entry: NewEntry): NumberedTags {
  return { tags: entry.tags, keepFor: lifetimesOf(entry).keepFor + TAG_MARGIN }
}
