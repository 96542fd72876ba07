import { EventEmitter } from 'node:events'

/** An emitter of events, as each client is one. */
export interface Emitter {
  on(event: string | symbol, listener: (...args: unknown[]) => void): unknown
  off(event: string | symbol, listener: (...args: unknown[]) => void): unknown
}

type Listener = (...args: unknown[]) => void

/** The listeners of one event of a client, and the one that calls them all. */
interface Shared {
  readonly listeners: EventEmitter
  readonly call: Listener
}

const EVENT = 'event'
const shared = new WeakMap<Emitter, Map<string | symbol, Shared>>()

/**
 * Adds a listener to an event of a client. All stores on one client share one listener of each event, because
 * Node takes the eleventh for a leak. Returns a function that removes the listener.
 */
export function listen(client: Emitter, event: string | symbol, listener: Listener): () => void {
  const events = shared.get(client) ?? new Map<string | symbol, Shared>()
  shared.set(client, events)
  const known = events.get(event)
  const listeners = known?.listeners ?? new EventEmitter().setMaxListeners(0)
  listeners.on(EVENT, listener)
  if (known === undefined) {
    const call: Listener = (...args) => void listeners.emit(EVENT, ...args)
    events.set(event, { listeners, call })
    client.on(event, call)
  }
  return () => unlisten(client, event, listener)
}

/** Removes a listener that `listen` has added. */
export function unlisten(client: Emitter, event: string | symbol, listener: Listener): void {
  const known = shared.get(client)?.get(event)
  if (known === undefined || known.listeners.off(EVENT, listener).listenerCount(EVENT) > 0) return
  shared.get(client)?.delete(event)
  client.off(event, known.call)
}

/** Calls `listener` at the first of these events. Returns a function that cancels this. */
export function onceAny(client: Emitter, events: readonly string[], listener: () => void): () => void {
  const call = (): void => {
    cancel()
    listener()
  }
  const removals = events.map((event) => listen(client, event, call))
  const cancel = (): void => removals.forEach((remove) => remove())
  return cancel
}
