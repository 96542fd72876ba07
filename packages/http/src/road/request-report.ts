import { channel, subscribe } from 'node:diagnostics_channel'
import { debuglog, inspect } from 'node:util'
import type { Exchange } from './exchange.ts'
import type { Verdict, VerdictKind } from '../response/cache-status.ts'
import type { Route } from '../route/route.ts'

/**
 * One request to a cached route and the end of its response, as published to `cattlegrid:http` of
 * `node:diagnostics_channel`. Subrequests are not published.
 */
export interface HttpEvent {
  readonly type: 'http'
  /** The `name` of the cache. */
  readonly cache: string
  /** The pattern of the route; undefined for a cache that stands before all routes. */
  readonly route: string | undefined
  readonly method: string
  /**
   * As in `Cache-Status`. `error`: the cache answered with an error of its own. `none`: the client left, or
   * the handler ran without the cache, before there was a verdict.
   */
  readonly verdict: VerdictKind | 'error' | 'none'
  /** `leader`: its own load brought the response. `follower`: another request's load did. `none`: neither. */
  readonly role: 'none' | 'leader' | 'follower'
  /**
   * The parameters of `Cache-Status` that say why the request was no hit, and why its response is not stored.
   */
  readonly fwd: Verdict['fwd']
  readonly detail: string | undefined
  /** The status of the response. */
  readonly status: number
  /** The time from the request to the end of its response, ms. */
  readonly took: number
  /** The request-target, where the route has `eventUrl`. */
  readonly url: string | undefined
}

/** A verdict, or what stands in its place. */
type Noted = Pick<HttpEvent, 'fwd' | 'detail'> & { readonly kind: HttpEvent['verdict'] }

const requests = channel('cattlegrid:http')
/** What is known so far of the requests that will be published. */
const verdicts = new WeakMap<Exchange, Noted>()

const NONE: Noted = { kind: 'none', fwd: undefined, detail: undefined }

const ROLES: { readonly [K in HttpEvent['verdict']]: HttpEvent['role'] } = {
  hit: 'none',
  stale: 'none',
  collapsed: 'follower',
  miss: 'leader',
  revalidated: 'leader',
  bypass: 'none',
  error: 'none',
  none: 'none',
}

const debug = debuglog('cattlegrid')
if (debug.enabled) subscribe('cattlegrid:http', (event) => debug('%s', lineOf(event as HttpEvent)))

/** A line as core prints its own events. */
function lineOf({ cache, type, took, ...others }: HttpEvent): string {
  const fields = Object.entries({ ...others, took: Math.round(took * 10) / 10 })
  const given = fields.filter(([, value]) => value !== undefined)
  return [cache, type, ...given.map(([name, value]) => `${name}=${inspect(value)}`)].join(' ')
}

/** Publishes the request when its response has ended, if anybody listens now. */
export function reportRequest(exchange: Exchange, route: Route): void {
  if (!requests.hasSubscribers) return
  const { method, target, pattern } = exchange
  const { cache, runtime, eventUrl } = route
  const began = runtime.now()
  verdicts.set(exchange, NONE)
  const publish = (): void => {
    const noted = verdicts.get(exchange)
    if (noted === undefined) return
    const { kind: verdict, fwd, detail } = noted
    const about = {
      type: 'http',
      cache: cache.name,
      route: pattern,
      method,
      url: eventUrl ? target : undefined,
    } as const
    const took = runtime.now() - began
    requests.publish({
      ...about,
      verdict,
      role: ROLES[verdict],
      fwd,
      detail,
      status: exchange.status,
      took,
    } satisfies HttpEvent)
  }
  exchange.onClose(publish)
}

/** True for a request that will be published: its verdict is wanted. */
export function isReported(exchange: Exchange): boolean {
  return requests.hasSubscribers && verdicts.has(exchange)
}

/** The last verdict counts. */
export function noteVerdict(exchange: Exchange, { kind, fwd, detail }: Verdict): void {
  if (isReported(exchange)) verdicts.set(exchange, { kind, fwd, detail })
}

/** The cache answers with an error of its own. */
export function noteError(exchange: Exchange, code: string): void {
  if (isReported(exchange)) verdicts.set(exchange, { kind: 'error', fwd: undefined, detail: code })
}

/** Another exchange of the same request will be published. */
export function forgetRequest(exchange: Exchange): void {
  verdicts.delete(exchange)
}
