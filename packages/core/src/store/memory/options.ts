import type { ByteSize } from '../../option-rules/duration.ts'
import type { Runtime } from '../../runtime/runtime.ts'

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /**
   * The most keys with an entry or a mark, such as a cooldown; the least recently used go first. A running
   * load keeps its lease. Default: 10,000.
   */
  readonly maxEntries?: number | undefined
  /**
   * The most bytes of all entries together: by an estimate of what each holds in memory, with its key and
   * tags, or by `sizeOf`. Default: `'64mb'`.
   */
  readonly maxBytes?: ByteSize | undefined
  /** Returns the size of an entry by its value, in bytes; called at each write. Default: the estimate. */
  readonly sizeOf?: ((value: unknown) => number) | undefined
  /** Time and tokens: for tests. Default: the process's own. */
  readonly runtime?: Runtime | undefined
}
