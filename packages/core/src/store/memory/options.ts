import type { ByteSize } from '../../duration.ts'
import type { Runtime } from '../../runtime.ts'

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** The most keys; the least recently used go first. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /** The most bytes of all values together, by `sizeOf`. Default: no limit. */
  readonly maxBytes?: ByteSize | undefined
  /** Returns the size of a value, in bytes; called at each write, only with `maxBytes`. Default: the length of the encoded value. */
  readonly sizeOf?: ((value: unknown) => number) | undefined
  /** Time and tokens: for tests. Default: the process's own. */
  readonly runtime?: Runtime | undefined
}
