import type { Entry, Version } from '../entry.ts'
import type { Read } from '../store/store.ts'

/** What stood at a key when its value was to be refreshed: no answer to that, however fresh it is. */
export class PreviousVersion {
  #known = false
  #version: Version | undefined

  /** Takes the first word of the store for what stood there. One that is away says nothing: it may have the old entry or a new one. */
  note(read: Read): void {
    if (this.#known || read.kind === 'away' || read.away !== undefined) return
    this.#known = true
    this.#version = read.kind === 'found' ? read.entry.version : undefined
  }

  /** Whether the entry is no newer, as far as is known. One that was expired by hand is the old one with another version. */
  isNoNewer({ version, expired }: Entry): boolean {
    return !this.#known || expired || version === this.#version
  }
}
