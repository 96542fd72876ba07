interface Destroyable {
  readonly destroy: (...args: never[]) => unknown
}

const listenersOf = new WeakMap<Destroyable, Set<() => void>>()

/** Calls `listener` before each `destroy` of a connection, whoever calls it. Returns a function that ends this: the connection may outlive its request. */
export function onDestroy(connection: Destroyable, listener: () => void): () => void {
  const listeners = listenersOf.get(connection) ?? listenTo(connection)
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function listenTo(connection: Destroyable): Set<() => void> {
  const listeners = new Set<() => void>()
  listenersOf.set(connection, listeners)
  const destroy = connection.destroy as (...args: unknown[]) => unknown
  Reflect.set(connection, 'destroy', (...args: unknown[]): unknown => {
    for (const listener of listeners) listener()
    return Reflect.apply(destroy, connection, args)
  })
  return listeners
}
