import type { FetchReads } from './client-reads.ts'

/**
 * Returns the fields of a handler's request. Reads of the `personal` ones are noticed: by name, or in a list
 * of those that are there. For code that looks behind its methods, such as `Headers.prototype.get` or an
 * inspection, it has only the other fields.
 */
export function watchedHeaders(
  all: Headers,
  {
    open,
    personal,
    reads,
  }: { readonly open: Headers; readonly personal: readonly string[]; readonly reads: FetchReads },
): Headers {
  const watched = new Headers(open)
  const note = (name: string, callee: Function): void => reads.note(name, `headers.${name}`, callee)
  for (const method of ['get', 'has'] as const) {
    const read = (given: unknown): unknown => {
      const field = String(given)
      const name = personal.find((one) => one === field.toLowerCase())
      if (name !== undefined) note(name, read)
      return all[method](field)
    }
    define(watched, method, read)
  }
  const listed = (callee: Function): Headers => {
    const isTold = (name: string): boolean => all.has(name) || (name === 'cookie' && reads.listsCookie)
    for (const name of personal) if (isTold(name)) note(name, callee)
    return all
  }
  for (const method of ['keys', 'values', 'entries', Symbol.iterator] as const) {
    const list = (): unknown => listed(list)[method]()
    define(watched, method, list)
  }
  const forEach = (callback: (value: string, name: string, of: Headers) => void, self?: unknown): void => {
    for (const [name, value] of listed(forEach)) Reflect.apply(callback, self, [value, name, watched])
  }
  define(watched, 'forEach', forEach)
  for (const method of ['set', 'append', 'delete'] as const) {
    define(watched, method, (...args: [string, string]) => {
      all[method](...args)
      Reflect.apply(Headers.prototype[method], watched, args)
    })
  }
  return watched
}

function define(headers: Headers, name: string | symbol, value: Function): void {
  Object.defineProperty(headers, name, { configurable: true, writable: true, value })
}
