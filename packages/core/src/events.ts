import { type Channel, channel } from 'node:diagnostics_channel'
import { InvalidOptionError } from './errors.ts'
import type { Outcome } from './load.ts'

/** Every step of the protocol, by name. The same objects go to the `node:diagnostics_channel` named `cattlegrid:<event>`. */
export interface CacheEvents {
  /** A call was answered from an entry. `age` and `freshFor` in ms; `freshFor` is negative for a stale one. */
  hit: { readonly key: string; readonly status: 'fresh' | 'stale'; readonly age: number; readonly freshFor: number }
  /** A call found nothing that it may be served. */
  miss: { readonly key: string }
  /** A call joined the load flight that runs here. */
  join: { readonly key: string }
  /** A flight was granted the lease. */
  lead: { readonly key: string; readonly background: boolean }
  /** A flight found the lease held and waits; `remaining` is the lease's rest, ms. */
  follow: { readonly key: string; readonly remaining: number }
  /** A waiting flight looks again, after a notice or because its timer ran out. */
  wake: { readonly key: string; readonly by: 'notice' | 'timer' }
  /** A loader was called. */
  load: { readonly key: string; readonly background: boolean; readonly leased: boolean }
  /** A load was over, stored or not; `took` in ms. */
  outcome: { readonly key: string; readonly outcome: Outcome; readonly took: number }
  /** A value was committed or put. */
  commit: { readonly key: string; readonly ttl: number }
  /** A commit was turned away: the lease was lost or voided while the load ran. */
  refused: { readonly key: string; readonly why: string }
  /** A lease was lengthened; `remaining` in ms. */
  renew: { readonly key: string; readonly remaining: number }
  /** A renewal was refused, or `maxHold` is over: the load may end, but it will hardly be stored. */
  'lease-lost': { readonly key: string; readonly why: string }
  /** A loader threw, or ran into `loadTimeout`. */
  'load-failed': { readonly key: string; readonly error: unknown; readonly cooldown: number }
  /** A call met a key that is cooling down; `remaining` in ms. */
  cooling: { readonly key: string; readonly remaining: number }
  /** A waiting call gave up. */
  'wait-timeout': { readonly key: string; readonly waited: number }
  /** A `set` or an invalidation was executed; `key` holds the tags of `invalidateTags`, and `*` for `clear`. */
  invalidate: { readonly key: string; readonly how: 'set' | 'delete' | 'expire' | 'tags' | 'clear' }
  /** The value could not be encoded: given to its callers, not stored. */
  'encode-failed': { readonly key: string; readonly error: unknown }
  /** The value is larger, encoded, than `maxEntryBytes` or what the store keeps: given to its callers, not stored. */
  'too-large': { readonly key: string; readonly error: unknown }
  /** What stands at the key is no entry of ours, or its codec failed: a plain miss. */
  unreadable: { readonly key: string; readonly why: 'foreign' | 'undecodable'; readonly error: unknown }
  /** The store did not answer a step. */
  away: { readonly key: string; readonly step: string; readonly error: unknown }
  /** The store is not asked for a while, because it did not answer in time (`open`), or is asked again (`closed`). */
  breaker: { readonly state: 'open' | 'closed' }
  /** Notices may have been lost from here on, or arrive again. */
  notices: { readonly state: 'disconnected' | 'connected' }
  /** Something a person should know, with the cure. */
  warning: { readonly message: string }
  /** A listener of ours threw: its error ends here. */
  'observer-failed': { readonly event: string; readonly error: unknown }
  /** The cache was closed. */
  close: { readonly abandoned: number }
}

const names: { readonly [E in keyof CacheEvents]: true } = {
  hit: true,
  miss: true,
  join: true,
  lead: true,
  follow: true,
  wake: true,
  load: true,
  outcome: true,
  commit: true,
  refused: true,
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
  notices: true,
  warning: true,
  'observer-failed': true,
  close: true,
}

export type EventName = keyof CacheEvents
export type Listener<E extends EventName> = (event: CacheEvents[E]) => void

/** One event's listeners. */
export class EventChannel {
  readonly listeners: Set<(event: CacheEvents[EventName]) => unknown> = new Set()
  readonly channel: Channel

  constructor(name: EventName) {
    this.channel = channel(`cattlegrid:${name}`)
  }

  /** Whether building the event is worth it. */
  get hasListeners(): boolean {
    return this.listeners.size > 0 || this.channel.hasSubscribers
  }
}

/** Hands each step to whoever listens, and builds no event when nobody does. A failing listener never fails a call. */
export class Events {
  readonly #channels = new Map<EventName, EventChannel>()

  /** @throws InvalidOptionError for an event that there is not, or a listener that is no function. */
  on<E extends EventName>(name: E, listener: Listener<E>): () => void {
    if (!Object.hasOwn(names, name))
      throw new InvalidOptionError('on', name, `an event: ${Object.keys(names).join(', ')}`)
    if (typeof listener !== 'function')
      throw new InvalidOptionError(`on.${name}`, listener, 'a function (event) => void')
    const { listeners } = this.subject(name)
    const own = (event: CacheEvents[EventName]): unknown => listener(event as CacheEvents[E])
    listeners.add(own)
    return () => {
      listeners.delete(own)
    }
  }

  /** Whether building the event is worth it. */
  hasListeners(name: EventName): boolean {
    return this.subject(name).hasListeners
  }

  emit<E extends EventName>(name: E, event: CacheEvents[E]): void {
    const channelOf = this.subject(name)
    if (channelOf.channel.hasSubscribers) channelOf.channel.publish(event)
    for (const listener of channelOf.listeners) {
      try {
        this.#watch(name, listener(event))
      } catch (error) {
        this.#observerFailed(name, error)
      }
    }
  }

  /** A listener that is an async function fails later, and no less harmlessly. */
  #watch(name: EventName, answer: unknown): void {
    if (answer instanceof Promise) answer.catch((error: unknown) => this.#observerFailed(name, error))
  }

  #observerFailed(event: EventName, error: unknown): void {
    if (event === 'observer-failed') return
    this.emit('observer-failed', { event, error })
  }

  /** For who asks at every hit. */
  subject(name: EventName): EventChannel {
    let subject = this.#channels.get(name)
    if (subject === undefined) {
      subject = new EventChannel(name)
      this.#channels.set(name, subject)
    }
    return subject
  }
}
