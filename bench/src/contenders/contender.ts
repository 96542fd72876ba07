/** How a cache is opened in the process that measures it. */
export interface Setting {
  readonly load: (key: string) => Promise<unknown>
  /** ms */
  readonly ttl: number
  /** How long after that a value may be served while it is refreshed, ms; 0: not at all. */
  readonly stale: number
  /** Undefined: in the memory of this process. Given: in Redis, with nothing kept in the process. */
  readonly redis: string | undefined
  /** What its keys in Redis begin with. */
  readonly namespace: string
}

/** A cache at work: `get` loads what it does not have. */
export interface Opened {
  readonly get: (key: string) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

export type Open = (setting: Setting) => Promise<Opened>
