import { type Channel, channel } from 'node:diagnostics_channel'
import { types } from 'node:util'
import { InvalidOptionError } from '../errors.ts'
import { nameHint } from '../option-rules/likely-meant.ts'
import { type CacheEvent, type CacheEvents, type EventName, eventNames, type Listener } from './cache-events.ts'

/** One event's listeners and subscribers. */
export class EventChannel {
  readonly #listeners = new Set<(event: CacheEvent) => unknown>()
  /**
   * Those that an emission calls, which were there when it began. Undefined after a change, until the
   * next emission.
   */
  #called: readonly ((event: CacheEvent) => unknown)[] | undefined
  readonly #diagnostics: Channel
  readonly #onFailure: (error: unknown) => void

  /** `onFailure` gets the error of each listener that fails. */
  constructor(name: EventName, onFailure: (error: unknown) => void) {
    this.#diagnostics = channel(`cattlegrid:${name}`)
    this.#onFailure = onFailure
  }

  /** False when no listener or subscriber would receive the event: it need not be built. */
  get hasListeners(): boolean {
    return this.#listeners.size > 0 || this.#diagnostics.hasSubscribers
  }

  add(listener: (event: CacheEvent) => unknown): void {
    this.#listeners.add(listener)
    this.#called = undefined
  }

  delete(listener: (event: CacheEvent) => unknown): void {
    this.#listeners.delete(listener)
    this.#called = undefined
  }

  /** `event`: a whole event of this channel, which nothing changes afterwards. */
  emit(event: CacheEvent): void {
    if (this.#diagnostics.hasSubscribers) this.#diagnostics.publish(event)
    this.#called ??= [...this.#listeners]
    for (const listener of this.#called) {
      try {
        this.#catchRejection(listener(event))
      } catch (error) {
        this.#onFailure(error)
      }
    }
  }

  /**
   * An async listener fails by a rejection, which must not stay unhandled. A promise of another realm is no
   * instance of this one's class.
   */
  #catchRejection(returned: unknown): void {
    if (types.isPromise(returned)) returned.then(undefined, this.#onFailure)
  }
}

/**
 * Emits the events of one cache to its listeners and to `node:diagnostics_channel`. A failing listener never
 * fails a call.
 */
export class Events {
  readonly #channels = new Map<EventName, EventChannel>()
  readonly #warned = new Set<string>()
  /** The `name` of the cache. */
  readonly cacheName: string

  constructor(cacheName = 'default') {
    this.cacheName = cacheName
  }

  /** @throws InvalidOptionError for an unknown event, or a listener that is not a function. */
  on<E extends EventName>(name: E, listener: Listener<E>): () => void {
    if (!eventNames.includes(name)) throw unknownEvent(name)
    if (typeof listener !== 'function')
      throw new InvalidOptionError(`on.${name}`, listener, 'a function (event) => void')
    const found = this.channelOf(name)
    // A function for each registration: a listener that is added twice is called twice, and removed one at
    // a time.
    const registered = (event: CacheEvent): unknown => listener(event as unknown as CacheEvent<E>)
    found.add(registered)
    return () => found.delete(registered)
  }

  /** False when no listener or subscriber would receive the event: it need not be built. */
  hasListeners(name: EventName): boolean {
    return this.channelOf(name).hasListeners
  }

  /** Emits a warning; one that nobody listens for goes to the process. */
  warn(message: string, code?: string): void {
    if (this.hasListeners('warning')) this.emit('warning', { message })
    else process.emitWarning(message, { type: 'CattlegridWarning', ...(code === undefined ? {} : { code }) })
  }

  /** As `warn`, once for each code. */
  warnOnce(message: string, code: string): void {
    if (this.#warned.has(code)) return
    this.#warned.add(code)
    this.warn(message, code)
  }

  /** `fields`: an object of this event alone, which becomes the event. */
  emit<E extends EventName>(name: E, fields: CacheEvents[E]): void {
    const found = this.channelOf(name)
    if (found.hasListeners) found.emit(completed(fields, name, this.cacheName))
  }

  #observerFailed(event: EventName, error: unknown): void {
    if (event === 'observer-failed') return
    this.emit('observer-failed', { event, error })
  }

  /** The channel of an event: the hit path keeps its own, which saves a look-up at every hit. */
  channelOf(name: EventName): EventChannel {
    let found = this.#channels.get(name)
    if (found === undefined) {
      found = new EventChannel(name, (error) => this.#observerFailed(name, error))
      this.#channels.set(name, found)
    }
    return found
  }
}

function unknownEvent(name: unknown): InvalidOptionError {
  const hint = typeof name === 'string' ? nameHint('on', name, eventNames) : ''
  return new InvalidOptionError('on', name, `an event: ${eventNames.join(', ')}`, { hint })
}

/**
 * Adds what all events have. Not to a copy: V8 copies objects of many shapes slowly, which made a hit with a
 * listener take many times as long.
 */
function completed<E extends EventName>(fields: CacheEvents[E], type: E, cache: string): CacheEvent {
  const event = fields as CacheEvents[E] & { type: E; cache: string }
  event.type = type
  event.cache = cache
  return event as unknown as CacheEvent
}
