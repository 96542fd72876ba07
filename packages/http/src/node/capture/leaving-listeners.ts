import type { EventEmitter } from 'node:events'
import { processWide } from '@cattlegrid/core/extend'
import { ownListener } from './close-listeners.ts'

/** How a connection begins to end: somebody destroys it, or its peer has closed its side. */
type Listener = (how: 'destroy' | 'end') => void

/** An injected request may have a connection that lacks these. */
type Connection = Partial<Pick<EventEmitter, 'prependListener'>> & {
  readonly destroy?: (...args: never[]) => unknown
}

interface Listeners {
  /**
   * Copied at each change: a Set as old as the connection has dead tables, which would keep what each
   * request held.
   */
  list: readonly Listener[]
}

const listenersOf = processWide('leaving-listeners/1', () => new WeakMap<Connection, Listeners>())

/**
 * Calls `listener` before a connection ends: before each `destroy`, whoever calls it, and before other
 * listeners for its end. Returns a function that stops this: the connection may outlive its request.
 */
export function onLeaving(connection: Connection, listener: Listener): () => void {
  const listeners = listenersOf.get(connection) ?? listenTo(connection)
  listeners.list = [...listeners.list, listener]
  return () => {
    listeners.list = listeners.list.filter((other) => other !== listener)
  }
}

function listenTo(connection: Connection): Listeners {
  const listeners: Listeners = { list: [] }
  listenersOf.set(connection, listeners)
  const { destroy } = connection
  if (destroy !== undefined)
    Reflect.set(connection, 'destroy', (...args: never[]): unknown => {
      for (const listener of listeners.list) listener('destroy')
      return Reflect.apply(destroy, connection, args)
    })
  const onEnd = (): void => {
    for (const listener of listeners.list) listener('end')
  }
  connection.prependListener?.('end', ownListener(onEnd))
  return listeners
}
