/**
 * Returns a proxy of the parsed cookies; `note` is called for each read of an unkeyed cookie, and for each
 * listing of their names.
 */
export function watchCookies(cookies: object, keyed: readonly string[], note: (callee: Function) => void): object {
  const noteUnkeyed = (name: string | symbol, callee: Function): void => {
    if (typeof name === 'string' && !keyed.includes(name)) note(callee)
  }
  const get = (target: object, name: string | symbol): unknown => {
    noteUnkeyed(name, get)
    return Reflect.get(target, name)
  }
  const has = (target: object, name: string | symbol): boolean => {
    noteUnkeyed(name, has)
    return name in target
  }
  const getOwnPropertyDescriptor = (target: object, name: string | symbol): PropertyDescriptor | undefined => {
    noteUnkeyed(name, getOwnPropertyDescriptor)
    return Reflect.getOwnPropertyDescriptor(target, name)
  }
  const ownKeys = (target: object): (string | symbol)[] => {
    note(ownKeys)
    return Reflect.ownKeys(target)
  }
  return new Proxy(cookies, { get, has, getOwnPropertyDescriptor, ownKeys })
}
