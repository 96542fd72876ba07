import type { KeepOptions, UncacheableOptions } from '../load.ts'

/** Passed to the loader of many keys, which decides through it about each result. */
export interface ManyLoad {
  /** Aborts when every load of the loader call must stop. */
  readonly signal: AbortSignal
  /** As `Load.keep`, for one key. */
  keep(key: string, options: KeepOptions): void
  /** As `Load.uncacheable`, for one key. */
  uncacheable(key: string, options?: UncacheableOptions): void
}

/** Loads the values of the keys that are missing. A key that the returned Map leaves out is not stored. */
export type ManyLoader<V> = (
  missing: readonly string[],
  load: ManyLoad,
) => ReadonlyMap<string, V> | Promise<ReadonlyMap<string, V>>
