import { processWide } from '@cattlegrid/core/internal'

type Listener = () => void

interface Destroyable {
  readonly destroy: (...args: never[]) => unknown
}

interface Listeners {
  /** Copied at each change: a Set as old as the connection has dead tables, which would keep what each request held. */
  list: readonly Listener[]
}

const listenersOf = processWide('destroy-listeners/1', () => new WeakMap<Destroyable, Listeners>())

/** Calls `listener` before each `destroy` of a connection, whoever calls it. Returns a function that ends this: the connection may outlive its request. */
export function onDestroy(connection: Destroyable, listener: Listener): () => void {
  const listeners = listenersOf.get(connection) ?? listenTo(connection)
  listeners.list = [...listeners.list, listener]
  return () => {
    listeners.list = listeners.list.filter((other) => other !== listener)
  }
}

function listenTo(connection: Destroyable): Listeners {
  const listeners: Listeners = { list: [] }
  listenersOf.set(connection, listeners)
  const destroy = connection.destroy as (...args: unknown[]) => unknown
  Reflect.set(connection, 'destroy', (...args: unknown[]): unknown => {
    for (const listener of listeners.list) listener()
    return Reflect.apply(destroy, connection, args)
  })
  return listeners
}
