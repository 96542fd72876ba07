import type { Inspection } from '../store/answers.ts'

/** The result of `inspect`. Times in ms. */
export interface Inspected {
  readonly state: 'fresh' | 'stale' | 'gone'
  readonly age: number | undefined
  readonly freshFor: number | undefined
  readonly lease: Inspection['lease'] | null
  readonly cooldown: Inspection['cooldown'] | null
  /** The tags of the entry; none without one. */
  readonly tags: readonly string[]
  /** There is no entry any more, because these tags of it were invalidated. */
  readonly invalidatedTags?: readonly string[] | undefined
  /** The number of calls of this process that wait for a load of the key. */
  readonly waitersHere: number
}
