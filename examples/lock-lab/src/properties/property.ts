import type { Move } from '../move.ts'
import type { PropertyName } from '../property-name.ts'
import type { Scene } from '../scene.ts'

/** How a play ended: the property held, or it broke, or its question never came up. */
export interface Verdict {
  readonly verdict: 'kept' | 'broken' | 'moot'
  readonly why: string
}

/** What is played, and how to tell from what was seen whether the property held. */
export interface Interleaving {
  readonly moves: readonly Move[]
  judge(seen: Scene): Verdict
}

export interface Property {
  readonly name: PropertyName
  /** What a lock for a cache must promise. */
  readonly claim: string
  /** Where it is played: most need one server that nothing happens to. */
  readonly world: 'shared' | 'own' | 'pair'
  /** Broken if one of them breaks it. */
  readonly interleavings: readonly Interleaving[]
}

export function kept(why: string): Verdict {
  return { verdict: 'kept', why }
}

export function broken(why: string): Verdict {
  return { verdict: 'broken', why }
}

export function moot(why: string): Verdict {
  return { verdict: 'moot', why }
}
