import { type Entry, expiredVersion, type Version } from '../entry.ts'
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

  /** True unless the entry is known to be another one. The previous one may have been expired since: `expire()` marks the version and keeps the value. */
  mayBePrevious({ version }: Entry): boolean {
    const previous = this.#version
    return !this.#known || (previous !== undefined && (version === previous || version === expiredVersion(previous)))
  }
}
