import { type Channel, channel } from 'node:diagnostics_channel'
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
  /** The value could not be encoded or is too large: given to its callers, not stored. */
  'encode-failed': { readonly key: string; readonly error: unknown }
  /** What stands at the key is no entry of ours, or its codec failed: a plain miss. */
  unreadable: { readonly key: string; readonly why: 'foreign' | 'undecodable'; readonly error: unknown }
  /** The store did not answer a step. */
  away: { readonly key: string; readonly step: string; readonly error: unknown }
  /** Notices may have been lost from here on, or arrive again. */
  notices: { readonly state: 'deaf' | 'hearing' }
  /** Something a person should know, with the cure. */
  warning: { readonly message: string }
  /** A listener of ours threw: its error ends here. */
  'observer-failed': { readonly event: string; readonly error: unknown }
  /** The cache was closed. */
  close: { readonly abandoned: number }
}

export type EventName = keyof CacheEvents
export type Listener<E extends EventName> = (event: CacheEvents[E]) => void

interface Subject {
  readonly listeners: Set<(event: CacheEvents[EventName]) => unknown>
  readonly channel: Channel
}

/** Hands each step to whoever listens, and builds no event when nobody does. A failing listener never fails a call. */
export class Events {
  readonly #subjects = new Map<EventName, Subject>()

  on<E extends EventName>(name: E, listener: Listener<E>): () => void {
    const { listeners } = this.#subject(name)
    const own = (event: CacheEvents[EventName]): unknown => listener(event as CacheEvents[E])
    listeners.add(own)
    return () => {
      listeners.delete(own)
    }
  }

  /** Whether building the event is worth it. */
  heard(name: EventName): boolean {
    const subject = this.#subject(name)
    return subject.listeners.size > 0 || subject.channel.hasSubscribers
  }

  emit<E extends EventName>(name: E, event: CacheEvents[E]): void {
    const subject = this.#subject(name)
    if (subject.channel.hasSubscribers) subject.channel.publish(event)
    for (const listener of subject.listeners) {
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

  #subject(name: EventName): Subject {
    let subject = this.#subjects.get(name)
    if (subject === undefined) {
      subject = { listeners: new Set(), channel: channel(`cattlegrid:${name}`) }
      this.#subjects.set(name, subject)
    }
    return subject
  }
}
