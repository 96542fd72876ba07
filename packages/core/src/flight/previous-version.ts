import { type Entry, EXPIRED_BY_HAND, type Version } from '../entry.ts'
import type { Read } from '../store/answers.ts'

/** The version that a forced refresh must replace: no entry of that version answers the call, however fresh it is. */
export class PreviousVersion {
  #known = false
  #version: Version | undefined

  /** Takes the version from the first read that the store itself answered. A copy served while the store is away may be older or newer. */
  note(read: Read): void {
    if (this.#known || read.kind === 'away' || read.away !== undefined) return
    this.#known = true
    this.#version = read.kind === 'found' ? read.entry.version : undefined
  }

  /** True unless the entry is known to be another version. `expire()` changes the version and not the value, so an entry that it expired may be the previous one. */
  mayBePrevious({ version }: Entry): boolean {
    return !this.#known || version === EXPIRED_BY_HAND || version === this.#version
  }
}
