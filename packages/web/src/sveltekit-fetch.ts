import type { FetchReads } from './client-reads.ts'
import type { SvelteKitEvent } from './sveltekit-event.ts'

/** A request that code behind the cache has sent by `event.fetch` to its own app. */
interface SentRequest {
  /** The reads of the response for which it was sent. */
  readonly reads: FetchReads
  /** Its own place notices its reads, for `reads`. */
  isWatched: boolean
}

const sent = new WeakMap<Request, SentRequest>()

/**
 * The `fetch` of an event. SvelteKit forwards cookies and credentials to the app, and to its subdomains.
 * A place that such a request comes to notices what its handler reads; any other response to it counts as
 * made of the cookies.
 */
export function watchedFetch(event: SvelteKitEvent, reads: FetchReads): typeof fetch {
  const noteForwarded = (callee: Function): void => reads.note('cookies', 'event.fetch', callee)
  const send = async (request: Request): Promise<Response> => {
    const { hostname, origin } = new URL(request.url)
    const forwards = request.credentials !== 'omit' && `.${hostname}`.endsWith(`.${event.url.hostname}`)
    if (origin !== event.url.origin) {
      if (forwards) noteForwarded(send)
      return await event.fetch(request)
    }
    const own = { reads, isWatched: false }
    sent.set(request, own)
    const response = await event.fetch(request)
    if (forwards && !own.isWatched) noteForwarded(send)
    return response
  }
  return (input, init) => {
    const request = async (): Promise<Request> =>
      input instanceof Request ? input : new Request(new URL(input, event.url), init)
    const response = request().then(send)
    // As of SvelteKit's own: a page may be streamed, and nobody waits yet.
    response.catch(() => undefined)
    return response
  }
}

/** Call it for a request that has come to a place: its reads are noticed from now on. */
export function watchSent(request: Request): FetchReads | undefined {
  const own = sent.get(request)
  if (own === undefined) return undefined
  own.isWatched = true
  own.reads.watch(request)
  return own.reads
}
