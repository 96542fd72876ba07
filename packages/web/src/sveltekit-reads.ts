import { FetchReads } from './client-reads.ts'
import type { SvelteKitCookies, SvelteKitEvent } from './sveltekit-event.ts'
import { watchedFetch } from './sveltekit-fetch.ts'

/** Where guides of identity providers put what tells who the client is, and what it is as a personal read. */
const LOCALS = {
  currentUser: 'user',
  getSession: 'session',
  getUser: 'user',
  jwt: 'auth',
  pb: 'auth',
  safeGetSession: 'session',
  supabase: 'auth',
  token: 'auth',
  userId: 'user',
} as const

/** The parts of `event.platform` that all clients share. */
const SHARED_PLATFORM: readonly string[] = ['caches', 'ctx', 'env']

/** The parameters of the URL of a `__data.json`, which `event.url` does not have. */
export const DATA_PARAMETERS: readonly string[] = ['x-sveltekit-invalidated', 'x-sveltekit-trailing-slash']

/** Makes the event for what lies behind the cache: with the request, and the URL, that the key holds. */
export function shownEvent<E extends SvelteKitEvent>(event: E, request: Request, reads: FetchReads): E {
  const getClientAddress = (): string => {
    if (countsFields(reads)) reads.note('getClientAddress', 'event.getClientAddress()', getClientAddress)
    return event.getClientAddress()
  }
  const fetch = watchedFetch(event, reads)
  const platform = watchedPlatform(event.platform, reads)
  return { ...event, request, url: shownUrl(event, request), fetch, platform, getClientAddress }
}

/** A response that declares its freshness itself may depend on fields, and on where a request comes from. */
function countsFields({ fields }: FetchReads): boolean {
  return fields.length > 0
}

function shownUrl({ url: client, isDataRequest }: SvelteKitEvent, request: Request): URL {
  const shown = new URL(request.url)
  const url = new URL(client)
  url.protocol = shown.protocol
  url.host = shown.host
  if (client.search !== '') url.search = shown.search
  if (isDataRequest) for (const name of DATA_PARAMETERS) url.searchParams.delete(name)
  return url
}

/** Of Node it has the whole request of the client, of other hosts where and who the client is. */
function watchedPlatform(platform: unknown, reads: FetchReads): unknown {
  if (typeof platform !== 'object' || platform === null) return platform
  const get = (target: object, name: string | symbol): unknown => {
    const isPersonal = typeof name === 'string' && !SHARED_PLATFORM.includes(name)
    if (isPersonal && countsFields(reads)) reads.note('platform', `event.platform.${name}`, get)
    return Reflect.get(target, name)
  }
  return new Proxy(platform, { get })
}

/**
 * Notices reads of the cookies and the locals of an event. It watches SvelteKit's own objects, which the hook
 * `handleFetch` and the hooks outside of the cache have, too. Returns a function that ends the watch.
 */
export function watchEvent(event: SvelteKitEvent, reads: FetchReads): () => void {
  const ends = [watchCookies(event, reads)]
  watchFields(event, reads)
  for (const name of reads.properties) ends.push(watchLocal(event.locals, name, name, reads))
  for (const [name, readAs] of Object.entries(LOCALS))
    if (reads.properties.includes(readAs)) ends.push(watchLocal(event.locals, name, readAs, reads))
  return () => {
    for (const end of ends.toReversed()) end()
  }
}

function watchCookies({ cookies, request }: SvelteKitEvent, reads: FetchReads): () => void {
  const { get, getAll } = cookies
  const { cookie } = FetchReads.fieldsOf(request)
  const watchedGet: SvelteKitCookies['get'] = (name, options) => {
    if (reads.countsCookie(name)) reads.note('cookies', `event.cookies.get('${name}')`, watchedGet)
    return get(name, options)
  }
  const watchedGetAll: SvelteKitCookies['getAll'] = (options) => {
    if (!reads.isKeyed('cookie', cookie)) reads.note('cookies', 'event.cookies.getAll()', watchedGetAll)
    return getAll(options)
  }
  Object.assign(cookies, { get: watchedGet, getAll: watchedGetAll })
  return () => {
    if (cookies.get === watchedGet) cookies.get = get
    if (cookies.getAll === watchedGetAll) cookies.getAll = getAll
  }
}

/** A local that is set inside of the cache is no read: what it was made of was read inside, too. */
function watchLocal(locals: object, name: string, readAs: string, reads: FetchReads): () => void {
  const own = Object.getOwnPropertyDescriptor(locals, name)
  if (own === undefined && !Object.isExtensible(locals)) return () => undefined
  if (own?.configurable === false) {
    reads.note(readAs, `event.locals.${name}`, watchLocal)
    return () => undefined
  }
  const { enumerable = false } = own ?? {}
  const get = (): unknown => {
    reads.note(readAs, `event.locals.${name}`, get)
    return own?.get === undefined ? own?.value : own.get.call(locals)
  }
  const set = (value: unknown): void => {
    Object.defineProperty(locals, name, { configurable: true, enumerable: true, writable: true, value })
  }
  Object.defineProperty(locals, name, { configurable: true, enumerable, get, set })
  return () => {
    if (Object.getOwnPropertyDescriptor(locals, name)?.get !== get) return
    if (own === undefined) Reflect.deleteProperty(locals, name)
    else Object.defineProperty(locals, name, own)
  }
}

/** Of the client's own request: the hook `handleFetch` has it. */
function watchFields({ request: { headers } }: SvelteKitEvent, reads: FetchReads): void {
  // SvelteKit itself looks for credentials, to forward them.
  const counts = (name: string): boolean =>
    reads.fields.includes(name) && (name !== 'authorization' || Headers.prototype.has.call(headers, name))
  for (const method of ['get', 'has'] as const) {
    const outer = headers[method]
    const read = (name: string): unknown => {
      const field = name.toLowerCase()
      if (counts(field)) reads.note(field, `event.request.headers.${method}('${field}')`, read)
      return Reflect.apply(outer, headers, [name]) as unknown
    }
    Object.defineProperty(headers, method, { configurable: true, writable: true, value: read })
  }
  for (const method of ['keys', 'values', 'entries', 'forEach', Symbol.iterator] as const) {
    const outer = headers[method] as (...args: unknown[]) => unknown
    const list = (...args: unknown[]): unknown => {
      for (const name of reads.fields)
        if (Headers.prototype.has.call(headers, name)) reads.note(name, 'event.request.headers', list)
      return Reflect.apply(outer, headers, args)
    }
    Object.defineProperty(headers, method, { configurable: true, writable: true, value: list })
  }
}
