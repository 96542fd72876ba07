import type { FetchReads } from './client-reads.ts'
import { requestLike } from './request-like.ts'
import { watchedHeaders } from './watched-headers.ts'

/** What the handler sees of its request. */
interface Shown {
  readonly url: string
  /** Without those that tell who the client is. */
  readonly headers: Headers
  readonly signal: AbortSignal
}

/**
 * Makes the request that a handler gets: with the URL and the fields of its key. Fields that tell who the
 * client is are only in its `headers`, where a read is noticed: a copy, as `new Request(request)` or
 * `fetch(request)` make it, has none of them. It has the class and the properties of the client's.
 */
export function shownRequest<Req extends Request>(
  client: Req,
  { url, headers, signal }: Shown,
  reads: FetchReads,
): Req {
  const personal = reads.fields.filter((name) => !isShown(name, headers, reads))
  const open = new Headers(headers)
  for (const name of personal) open.delete(name)
  const shown = requestLike(client, url, { method: client.method, headers: open, signal })
  const watched = personal.length === 0 ? headers : watchedHeaders(headers, { open, personal, reads })
  define(shown, 'headers', () => watched)
  const clone = (): Req => shownRequest(client, { url, headers, signal }, reads)
  Object.defineProperty(shown, 'clone', { configurable: true, value: clone })
  for (const name of propertiesOf(client))
    // By convention a class's own affair, such as the URL of the client.
    if (
      !name.startsWith('_') &&
      !(name in Request.prototype) &&
      (Object.hasOwn(client, name) || !(name in shown) || isPersonal(name, reads))
    )
      carry(shown, client, name, reads)
  return shown
}

function isShown(name: string, headers: Headers, reads: FetchReads): boolean {
  const value = headers.get(name)
  return value !== null && reads.isKeyed(name, value)
}

function isPersonal(name: string, { properties }: FetchReads): boolean {
  return properties.includes(name)
}

/** The names of what frameworks, runtimes and layers outside have given the client's request. */
function propertiesOf(client: Request): ReadonlySet<string> {
  const names = new Set<string>()
  for (let kind: object = client; kind !== Request.prototype && kind !== Object.prototype;) {
    for (const name of Object.getOwnPropertyNames(kind)) names.add(name)
    kind = (Object.getPrototypeOf(kind) as object | null) ?? Object.prototype
  }
  names.delete('constructor')
  return names
}

function carry(shown: Request, client: Request, name: string, reads: FetchReads): void {
  const read = (): unknown => {
    if (isPersonal(name, reads)) reads.note(name, `request.${name}`, read)
    const value: unknown = Reflect.get(client, name, client)
    return typeof value === 'function' ? (value.bind(client) as unknown) : value
  }
  define(shown, name, read)
}

function define(shown: Request, name: string, get: () => unknown): void {
  const set = (value: unknown): void => {
    Object.defineProperty(shown, name, { configurable: true, writable: true, value })
  }
  Object.defineProperty(shown, name, { configurable: true, get, set })
}
