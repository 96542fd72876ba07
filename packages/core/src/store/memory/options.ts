import type { ByteSize } from '../../duration.ts'
import type { Runtime } from '../../runtime.ts'

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** How many keys are kept; the least recently used go first. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /** How much their values may weigh together, by `sizeOf`. Default: no limit. */
  readonly maxBytes?: ByteSize | undefined
  /** What a value weighs, in bytes. Default: its length once encoded, taken at each write; asked only with `maxBytes`. */
  readonly sizeOf?: ((value: unknown) => number) | undefined
  /** Time and tokens: for tests. Default: the process's own. */
  readonly runtime?: Runtime | undefined
}
