import type { Entry } from '../entry.ts'
import { takeValue } from '../flight/take-value.ts'
import type { Load } from '../load.ts'
import type { Settings } from '../options/settings.ts'

export type LoadMode = Pick<Load, 'background' | 'leased'>

/** Gets the reason of the abort. */
export type StopListener = (reason: unknown) => void

/** What a loader can do to its load. */
export interface LoadControls extends Pick<Load, 'keep' | 'uncacheable'> {
  signal(): AbortSignal
  onStop(listener: StopListener): void
}

/**
 * What a loader gets. A class, as `StaleValue` is: V8 makes a hidden class for each object literal with a
 * getter. Those live until a major garbage collection, and each keeps the getter and with it the whole load.
 */
export class LoaderArgument implements Load<never> {
  readonly key: string
  readonly stale: Load<never>['stale']
  readonly background: boolean
  readonly leased: boolean
  readonly keep: Load['keep']
  readonly uncacheable: Load['uncacheable']
  readonly #controls: LoadControls

  constructor(key: string, stale: Load<never>['stale'], { background, leased }: LoadMode, controls: LoadControls) {
    this.key = key
    this.stale = stale
    this.background = background
    this.leased = leased
    // Its own: a loader may take them out of it, or hand on a copy. Named first: V8 puts a literal that is
    // assigned to a property among the old objects.
    const keep: Load['keep'] = (options) => controls.keep(options)
    const uncacheable: Load['uncacheable'] = (options) => controls.uncacheable(options)
    this.keep = keep
    this.uncacheable = uncacheable
    this.#controls = controls
  }

  get signal(): AbortSignal {
    return this.#controls.signal()
  }

  /**
   * Calls `listener` when its signal is or would be aborted, at once if it was before. It makes no
   * AbortController, which costs more than many loads. A load of another copy of this module has the
   * signal only.
   */
  static onStop(load: Load, listener: StopListener): void {
    if (#controls in load) load.#controls.onStop(listener)
    else if (load.signal.aborted) listener(load.signal.reason)
    else load.signal.addEventListener('abort', () => listener(load.signal.reason), { once: true })
  }
}

/**
 * Calls `listener` when the signal of a load is aborted, or at once if it was. It makes no signal: making one
 * costs more than many loads.
 *
 * @example
 * import { onAbort } from '@cattlegrid/core/extend'
 *
 * await cache.getOrSet('report', async (load) => {
 *   onAbort(load, (reason) => console.log('stopped', reason))
 *   return { total: 3 }
 * })
 */
export function onAbort(load: Load, listener: StopListener): void {
  LoaderArgument.onStop(load, listener)
}

/**
 * The value that a load replaces, for its loader alone: taken when the loader first asks for it, since many
 * never do.
 */
export class StaleValue implements NonNullable<Load<never>['stale']> {
  readonly age: number
  readonly #entry: Entry
  readonly #settings: Settings
  #taken: { readonly value: unknown } | undefined

  constructor(entry: Entry, age: number, settings: Settings) {
    this.age = age
    this.#entry = entry
    this.#settings = settings
  }

  get value(): never {
    this.#taken ??= { value: takeValue(this.#entry, this.#settings) }
    return this.#taken.value as never
  }
}
