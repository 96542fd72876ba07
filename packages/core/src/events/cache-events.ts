import type { LeaseHolder } from './lease-holder.ts'
import type { Unreadable } from '../entry.ts'
import type { Outcome } from '../load.ts'

/**
 * The fields of each event of a cache, by the event's name; `CacheEvent` is the event itself. Times in ms.
 * `key` is the key in the store, as in errors: for a key of more than 1,024 characters its digest. `call` and
 * `flight` are numbers that identify a call and a flight in this process.
 */
export interface CacheEvents {
  /**
   * A call that may load, or `peek`, was answered at once from an entry. A call emits a `hit` or a `miss`,
   * and never both; neither when it fails during its read. `from`: which copy of the entry. `age` and
   * `freshFor` in ms; `freshFor` is negative for a stale one.
   */
  hit: {
    readonly key: string
    readonly status: 'fresh' | 'stale'
    readonly from: 'store' | 'near' | 'outage'
    readonly age: number
    readonly freshFor: number
    readonly size: number
  }
  /** A `hit` with the status `stale`, for a listener that needs no event of each fresh hit. */
  'stale-hit': {
    readonly key: string
    readonly from: 'store' | 'near' | 'outage'
    readonly age: number
    readonly freshFor: number
  }
  /**
   * A call found no entry that it may be served at once. One `answer` follows. `took`: ms since the
   * call began.
   */
  miss: { readonly key: string; readonly call: number; readonly took: number }
  /**
   * A call that had missed ended, or one failed before it had hit or missed: with a value, or with `error`
   * (`failed`). `from` and `role` as in the result of `lookup`; undefined for `failed`. `age` of the value
   * and `waited` in ms.
   */
  answer: {
    readonly key: string
    readonly call: number
    readonly status: 'fresh' | 'stale' | 'loaded' | 'failed'
    readonly from: 'store' | 'near' | 'outage' | 'load' | undefined
    readonly role: 'none' | 'follower' | 'leader' | undefined
    readonly age: number
    readonly waited: number
    readonly error: unknown
  }
  /** A call joined the key's running refresh in this process. */
  join: { readonly key: string; readonly call: number; readonly flight: number }
  /**
   * A flight was granted the lease and loads. `lease`: names the lease in the events of all processes.
   * `attempt`: 1, and one more for each load of the key that has failed in a row. `background`: no caller
   * waits for it. `takeover`: it had waited for another flight's lease, which ended without a value.
   */
  lead: {
    readonly key: string
    readonly flight: number
    readonly lease: string
    readonly attempt: number
    readonly background: boolean
    readonly takeover: boolean
  }
  /**
   * A flight found the lease held and waits; `remaining` is what is left of the lease, ms. `call`: the one
   * that began the flight. `holder`: the holder of the lease, where the store knows it.
   */
  follow: {
    readonly key: string
    readonly call: number
    readonly flight: number
    readonly remaining: number
    readonly holder: LeaseHolder | undefined
  }
  /** A waiting flight reads again, after a notice or when its timer fires. */
  wake: { readonly key: string; readonly call: number; readonly flight: number; readonly by: 'notice' | 'timer' }
  /**
   * A loader is called. `leased`: the load holds the lease, so its result can be stored. `call`: the one that
   * began the flight.
   */
  load: {
    readonly key: string
    readonly call: number
    readonly flight: number
    readonly background: boolean
    readonly leased: boolean
  }
  /** A load ended, stored or not; `took`: the time of its loader, ms. `leased` as in `load`. */
  outcome: {
    readonly key: string
    readonly flight: number
    readonly outcome: Outcome
    readonly took: number
    readonly leased: boolean
  }
  /**
   * A leader's value was stored, with `tags`; it is fresh for `ttl` ms. `lease` as in `lead`. `took`: the
   * time until the store's answer, ms.
   */
  commit: {
    readonly key: string
    readonly flight: number
    readonly lease: string
    readonly tags: readonly string[]
    readonly ttl: number
    readonly took: number
  }
  /**
   * A commit was refused: the lease was lost or voided while the load ran. `lease` as in `lead`. `took`: the
   * time until the store's answer, ms.
   */
  refused: {
    readonly key: string
    readonly flight: number
    readonly lease: string
    readonly why: string
    readonly took: number
  }
  /**
   * The store broke its contract: it stored the value of a lease after it had refused to renew that lease.
   * Nothing but a fault of the store causes it.
   */
  violation: { readonly key: string; readonly flight: number; readonly what: 'commit-after-loss' }
  /** A lease was renewed; `remaining` in ms. */
  renew: { readonly key: string; readonly remaining: number }
  /**
   * A lease was lost before its load ended: a renewal was refused, or `maxHold` has passed. The load goes on,
   * and the store refuses its commit. `lease` as in `lead`.
   */
  'lease-lost': { readonly key: string; readonly flight: number; readonly lease: string; readonly why: string }
  /**
   * A load under a lease ended with an error that `isFailure` accepts, such as `LoadTimeoutError`. The key
   * cools down for `cooldown` ms, but not once the lease was lost or voided.
   */
  'load-failed': { readonly key: string; readonly error: unknown; readonly cooldown: number }
  /** A flight began no load, because the key cools down; `remaining` is what is left of the cooldown, ms. */
  cooling: { readonly key: string; readonly remaining: number }
  /** A call reached the end of its `waitTimeout`; `waited` in ms. */
  'wait-timeout': { readonly key: string; readonly waited: number }
  /**
   * The store executed a `set` or an invalidation; `key` holds the tags of `invalidateTags` (`tags`) and
   * `expireTags` (`expire-tags`), which `tags` lists, and `*` for `clear`.
   */
  invalidate: {
    readonly key: string
    readonly tags: readonly string[]
    readonly how: 'set' | 'delete' | 'expire' | 'tags' | 'expire-tags' | 'clear'
  }
  /** The value could not be encoded: its callers get it, and it is not stored. */
  'encode-failed': { readonly key: string; readonly error: unknown }
  /**
   * The value is larger, encoded, than `maxEntryBytes` or the store's own limit: its callers get it, and it
   * is not stored.
   */
  'too-large': { readonly key: string; readonly error: unknown }
  /**
   * The bytes at the key are not an entry of this library (`foreign`), or one of another record format
   * (`other-format`) or codec (`other-codec`), or the codec failed (`undecodable`): the call goes on as for
   * a miss.
   */
  unreadable: { readonly key: string; readonly why: Unreadable['why']; readonly error: unknown }
  /**
   * The store did not answer a step, or had no turn for it in time. Steps that are not sent because the
   * breaker is open or the connection is lost emit none: `breaker` and `notices` tell of them.
   */
  away: { readonly key: string; readonly step: string; readonly error: unknown }
  /**
   * No step is sent (`open`), because the store did not answer in time or there is no connection: `error` is
   * the last one of the connection. Or the store answers again (`closed`). `node`: the address of the node
   * that it is about, where the store has several.
   */
  breaker: { readonly state: 'open' | 'closed'; readonly node: string | undefined; readonly error: unknown }
  /**
   * With `maxLoads: 'auto'`: the processes of the store run `limit` loads at once from the source until the
   * next of these events. `typical`: the time of a load while the source is not overloaded, ms. `processes`:
   * how many share the limit.
   */
  'load-limit': {
    readonly source: string
    readonly limit: number
    readonly typical: number
    readonly processes: number
  }
  /**
   * Notices of the store may be lost from now on (`disconnected`), or arrive again (`connected`). `node` as
   * of `breaker`; undefined: those of all nodes.
   */
  notices: { readonly state: 'disconnected' | 'connected'; readonly node: string | undefined }
  /** A problem for an operator; the message names the remedy. */
  warning: { readonly message: string }
  /** A listener of another event threw or rejected; no call failed because of it. */
  'observer-failed': { readonly event: string; readonly error: unknown }
  /** The cache was closed. `abandoned`: how many running loads were aborted. */
  close: { readonly abandoned: number }
}

const names: { readonly [E in keyof CacheEvents]: true } = {
  hit: true,
  'stale-hit': true,
  miss: true,
  answer: true,
  join: true,
  lead: true,
  follow: true,
  wake: true,
  load: true,
  outcome: true,
  commit: true,
  refused: true,
  violation: true,
  renew: true,
  'lease-lost': true,
  'load-failed': true,
  cooling: true,
  'wait-timeout': true,
  invalidate: true,
  'encode-failed': true,
  'too-large': true,
  unreadable: true,
  away: true,
  breaker: true,
  'load-limit': true,
  notices: true,
  warning: true,
  'observer-failed': true,
  close: true,
}

/** The name of an event. */
export type EventName = keyof CacheEvents
export const eventNames = Object.keys(names) as readonly EventName[]
/**
 * An event: its fields, its name as `type`, and the `name` of its cache as `cache`. The union of all events;
 * `CacheEvent<'commit'>` is one of them. The same object goes to the listeners and to the
 * `node:diagnostics_channel` named `cattlegrid:<type>`.
 */
export type CacheEvent<E extends EventName = EventName> = {
  [N in E]: CacheEvents[N] & { readonly type: N; readonly cache: string }
}[E]
/** Receives the events of one name, in the middle of the step that emits them. */
export type Listener<E extends EventName> = (event: CacheEvent<E>) => void
