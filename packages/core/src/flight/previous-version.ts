import type { Entry, Version } from '../entry.ts'
import type { Read } from '../store/store.ts'

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

  /** Whether the entry may be the previous one. An entry that was expired by `expire()` is: the expiry changed its version, not its value. */
  mayBePrevious({ version, expired }: Entry): boolean {
    return !this.#known || expired || version === this.#version
  }
}
