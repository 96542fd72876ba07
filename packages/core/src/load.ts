import type { Duration } from './duration.ts'

/** What a loader is told about its load, and how it decides about the result. */
export interface Load<S = unknown> {
  /** The key, as its caller named it. */
  readonly key: string
  /** Aborts, with a reason, on a time-out, on close, and when the lease is lost while no caller waits. */
  readonly signal: AbortSignal
  /** The value that is being replaced, where one may still be served; `age` in ms. */
  readonly stale: { readonly value: S; readonly age: number } | undefined
  /** True when nobody waits for this load: it runs behind a stale value. */
  readonly background: boolean
  /** Whether the load holds the lease: only then can its result be stored. */
  readonly leased: boolean
  /** Decides for this result alone; what is not named stays as the call or the cache says. The last call wins. */
  keep(options: KeepOptions): void
  /** Nothing of this load is stored, and the key is remembered as uncacheable. The last call wins. */
  uncacheable(options?: UncacheableOptions): void
}

export interface KeepOptions {
  /** Fresh for. Default: the call's. */
  readonly ttl?: Duration | undefined
  /** After `ttl`, served at once while one leader refreshes. Default: the call's. */
  readonly staleWhileRevalidate?: Duration | undefined
  /** After `ttl`, served when a load fails or is slow. Default: the call's. */
  readonly staleIfError?: Duration | undefined
  /** What `invalidateTags` finds the entry by; named here as safely as before the load. Default: the call's. */
  readonly tags?: readonly string[] | undefined
}

export interface UncacheableOptions {
  /** How long every caller loads alone, without waiting for anyone. Default: `'10s'`. */
  readonly for?: Duration | undefined
  /** Whether callers that joined may have the result; false keeps it from everybody but the caller whose loader ran. Default: true. */
  readonly share?: boolean | undefined
}

/** Produces the value of a key: the expensive thing that is to run once. */
export type Loader<V, S = V> = (load: Load<S>) => V | Promise<V>

/** How a load ended. */
export type Outcome =
  | { readonly kind: 'committed' }
  /** The key cools down for `cooldown` ms; 0 when the error was no failure. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly cooldown: number }
  | { readonly kind: 'uncacheable'; readonly for: number; readonly share: boolean }
  /** The lease was gone when the value came: nothing was written. */
  | { readonly kind: 'refused'; readonly why: 'expired' | 'voided' | 'taken' | 'tag-voided' }
  /** No load was offered to the store: why it was not, or that its answer to the commit never came. */
  | { readonly kind: 'abandoned'; readonly why: Abandoned }

/**
 * `held`: another flight leads. `cooling`: the last load failed. `changed`: somebody else's value was there first. `unleased`: the load ran
 * without a lease. `away`: the store did not answer. `deserted`: every caller left before the load began. `closed`: the cache was closed. `busy`: a refresh
 * behind a stale value found `maxLoads` loads running. `absent`: a batch did not bring this key.
 */
export type Abandoned = 'held' | 'cooling' | 'changed' | 'unleased' | 'away' | 'deserted' | 'closed' | 'busy' | 'absent'
/** What the loader of one key of a batch returns when the batch brought nothing for it. */
export const ABSENT: unique symbol = Symbol('absent')
/**
 * By what a caller leaves: an `AbortSignal`, or anything else with these members of one, which keeps to what one does. It is aborted at most
 * once, then at once and for good; has one reason from then on; and calls nobody back from within `addEventListener`.
 */
export interface CallerSignal {
  readonly aborted: boolean
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', onAbort: () => void): void
  removeEventListener(type: 'abort', onAbort: () => void): void
}
