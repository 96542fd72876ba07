import { InvalidOptionError } from '@cattlegrid/core'
import type { RouteOptions } from '@cattlegrid/http'
import type { SendSubrequest, Subrequest, SubrequestMarker, SubrequestResponse } from '@cattlegrid/http/binding'

/** The markers of requests of the cache's own, by request. A client cannot forge one. */
const markers = new WeakMap<Request, SubrequestMarker>()

/** Makes a request of the kind that the handler expects. */
export type MakeRequest = (url: string, init: RequestInit) => Request

/** What handlers get of such requests. */
const shownRequests = new WeakSet<Request>()

export function markShown(request: Request): void {
  shownRequests.add(request)
}

export function markerOf(request: Request): SubrequestMarker | undefined {
  return markers.get(request)
}

/**
 * True if cattlegrid itself has made this request: to refresh an entry, to fill it for a `HEAD`, or to audit
 * a response. Use it in loggers and rate limiters, outside of a cached handler and inside.
 *
 * @example
 * import { isRefresh } from '@cattlegrid/web'
 *
 * const log = (request: Request): void => {
 *   if (!isRefresh(request)) console.log(request.method, request.url)
 * }
 */
export function isRefresh(request: Request): boolean {
  return markers.has(request) || shownRequests.has(request)
}

/**
 * Returns what sends requests of the cache's own by `send`: to the handler of the place, or through the whole
 * app. `waitUntil` keeps the host awake until such a request has its response.
 */
export function subrequestsBy(
  send: (request: Request) => Promise<Response>,
  waitUntil: ((work: Promise<unknown>) => void) | undefined,
  make: MakeRequest = (url, init) => new Request(url, init),
): SendSubrequest {
  return (subrequest) => {
    const responded = new Promise<SubrequestResponse>((resolve, reject) => {
      subrequest.scope.runInAsyncScope(() => {
        dispatch(subrequest, make, send, resolve).catch(reject)
      })
    })
    waitUntil?.(responded)
    return responded
  }
}

/** For a place where the cache has no way to make requests of its own. */
export const noSubrequests: SendSubrequest = async () => ({ result: { kind: 'unreached' }, status: undefined })

/**
 * Returns the options of such a place: what a request of the cache's own would do, the client's does.
 *
 * @param cure what to give instead.
 * @throws InvalidOptionError for an option that needs such a request.
 */
export function withoutSubrequests<O extends object>(
  owner: string,
  options: O,
  cure: string,
): O & { readonly audit: false; readonly refresh: 'inline' } {
  const { audit = false, refresh = 'inline' } = options as Pick<RouteOptions, 'audit' | 'refresh'>
  if (audit !== false) throw new InvalidOptionError(`${owner}: audit`, audit, cure)
  if (refresh !== 'inline') throw new InvalidOptionError(`${owner}: refresh`, refresh, cure)
  return { ...options, audit, refresh }
}

async function dispatch(
  { place, key, facts, scheme, host, target, headers, signal }: Subrequest,
  make: MakeRequest,
  send: (request: Request) => Promise<Response>,
  resolve: (response: SubrequestResponse) => void,
): Promise<void> {
  const request = make(`${scheme}://${host}${target}`, { headers: { ...headers, host } })
  let isReached = false
  markers.set(request, {
    place,
    key,
    facts,
    onReached(recorder) {
      isReached = true
      signal.addEventListener('abort', () => recorder.abort('failure'), { once: true })
      void recorder.done.then((result) => resolve({ result, status: recorder.status }))
    },
    onRefused: (kind) => resolve({ result: { kind }, status: undefined }),
  })
  const unreached = (status?: number): void => {
    if (!isReached) resolve({ result: { kind: 'unreached' }, status })
  }
  signal.addEventListener('abort', () => unreached(), { once: true })
  if (signal.aborted) return unreached()
  const response = await send(request)
  // What records the response reads a branch of its own.
  await response.body?.cancel()
  unreached(response.status)
}
