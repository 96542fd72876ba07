/** An emitter of events, as each client is one. */
export interface Emitter {
  on(event: string | symbol, listener: (...args: unknown[]) => void): unknown
  off(event: string | symbol, listener: (...args: unknown[]) => void): unknown
}

type Listener = (...args: unknown[]) => void

interface SharedListener {
  readonly listeners: Set<Listener>
  readonly call: Listener
}

const shared = new WeakMap<Emitter, Map<string | symbol, SharedListener>>()

/**
 * Adds a listener to an event of a client. All stores on one client share one listener of each event, because Node takes the eleventh for a leak. Returns a
 * function that removes the listener.
 */
export function listen(emitter: Emitter, event: string | symbol, listener: Listener): () => void {
  const events = eventsOf(emitter)
  const { listeners } = events.get(event) ?? begin(emitter, event, events)
  listeners.add(listener)
  return () => unlisten(emitter, event, listener)
}

/** Removes a listener that `listen` has added. */
export function unlisten(emitter: Emitter, event: string | symbol, listener: Listener): void {
  const known = shared.get(emitter)?.get(event)
  if (known?.listeners.delete(listener) !== true || known.listeners.size > 0) return
  shared.get(emitter)?.delete(event)
  emitter.off(event, known.call)
}

/** Calls `listener` at the first of these events. Returns a function that cancels this. */
export function onceAny(emitter: Emitter, events: readonly string[], listener: () => void): () => void {
  const cancel = (): void => {
    for (const event of events) unlisten(emitter, event, call)
  }
  const call = (): void => {
    cancel()
    listener()
  }
  for (const event of events) listen(emitter, event, call)
  return cancel
}

function eventsOf(emitter: Emitter): Map<string | symbol, SharedListener> {
  const known = shared.get(emitter) ?? new Map<string | symbol, SharedListener>()
  shared.set(emitter, known)
  return known
}

function begin(emitter: Emitter, event: string | symbol, events: Map<string | symbol, SharedListener>): SharedListener {
  const listeners = new Set<Listener>()
  const call: Listener = (...args) => {
    // A copy: a listener that another one adds waits for the next event.
    const current = [...listeners]
    for (const listener of current) listener(...args)
  }
  const one = { listeners, call }
  events.set(event, one)
  emitter.on(event, call)
  return one
}
