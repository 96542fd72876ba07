/** What the module of a driver exports as `default`. */
export interface Driver {
  /** The name in the tables. */
  readonly name: string
  /** The npm packages that take part; their versions stand beside the results. */
  readonly packages: readonly string[]
  /** How the library is set up here, and the document of the library that advises this. */
  readonly setup: { readonly text: string; readonly source: string }
  /** What a library need not have. A check that needs more is "not offered", which is not "failed". */
  readonly offers: readonly Feature[]
  /** Called once in each process. Processes that open the same `prefix` share a cache, if the library can. */
  open(options: OpenOptions): Promise<Opened>
}

/**
 * - `fleet`: processes share what they store, through Redis.
 * - `stale`: a value can be served for some time after its ttl.
 * - `delete`, `tags`: `delete` and `invalidateTag` of `Opened`.
 * - `signal`: a caller can leave; `getOrSet` takes its signal.
 */
export type Feature = 'fleet' | 'stale' | 'delete' | 'tags' | 'signal'

export interface OpenOptions {
  readonly redisUrl: string
  /** For the keys in Redis. Each check has its own. */
  readonly prefix: string
  /** How long a value is fresh, ms: whole seconds. */
  readonly ttl: number
  /** How long after its ttl a value may be served while it is loaded again, ms: whole seconds, or 0. */
  readonly stale: number
}

export interface Opened {
  /** The value of the key, which `load` returns where the cache has none. `tags`: the tags of that value. */
  getOrSet(key: string, load: () => Promise<unknown>, options: CallOptions): Promise<unknown>
  delete?(key: string): Promise<unknown>
  invalidateTag?(tag: string): Promise<unknown>
}

export interface CallOptions {
  readonly tags: readonly string[]
  readonly signal: AbortSignal | undefined
}
