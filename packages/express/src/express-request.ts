import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Matched, Reshape } from '@cattlegrid/http'

/** The part of an Express app that is asked, the same in 4 and 5. */
interface App {
  (req: IncomingMessage, res: ServerResponse): void
  get(setting: 'trust proxy fn'): (address: string | undefined, hops: number) => boolean
  enabled(setting: 'case sensitive routing' | 'strict routing'): boolean
  /** The app that this one is mounted in. */
  readonly parent?: App | undefined
}

/** What Express adds to Node's request, by the prototype that it gives every one. */
export interface ExpressRequest extends IncomingMessage {
  readonly app: App
  readonly protocol: string
  readonly baseUrl: string
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly route?: { readonly path: unknown } | undefined
  originalUrl: string
  query: unknown
}

/** As `req.host` of Express 5; that of Express 4 has lost the port. */
export function hostOf({ app, headers, socket }: ExpressRequest): string {
  const forwarded = headers['x-forwarded-host']
  const trusted = forwarded !== undefined && app.get('trust proxy fn')(socket.remoteAddress, 0)
  return (trusted ? String(forwarded).split(',')[0]?.trim() : headers.host) ?? ''
}

/** The whole URL as the handler sees it. */
export function routedOf({ baseUrl, originalUrl, url = '' }: ExpressRequest): string {
  const whole = baseUrl + url
  if (whole === originalUrl) return whole
  // A mount point that is asked for without a slash at its end gets one, which is no rewriting.
  return withoutSlash(whole) === withoutSlash(originalUrl) ? originalUrl : whole
}

export function matchedBy({ app, route, baseUrl, params }: ExpressRequest): Matched | undefined {
  if (route === undefined || typeof route.path !== 'string') return undefined
  if (app.enabled('case sensitive routing') || app.enabled('strict routing')) return undefined
  return { pattern: route.path, base: baseUrl, params: params ?? {} }
}

/** Gives the URL this shape in all that Express shows of it. Returns what undoes that; undefined where it cannot be done. */
export function reshaped(req: ExpressRequest, { url, keeps }: Reshape): (() => void) | undefined {
  const { url: seen = '', originalUrl } = req
  // Inside a mount point Express cut its path off the target: there is no whole URL to give a shape.
  if (!originalUrl.startsWith('/') && req.baseUrl !== '') return undefined
  req.url = url(seen)
  req.originalUrl = url(originalUrl)
  const query = Object.getOwnPropertyDescriptor(req, 'query')?.value as object | undefined
  if (query !== undefined && keeps !== undefined)
    req.query = Object.fromEntries(Object.entries(query).filter(([name]) => keeps(name)))
  return () => {
    // Where the request left its mount point meanwhile, it has another one.
    if (req.url === url(seen)) req.url = seen
    req.originalUrl = originalUrl
    if (query !== undefined) req.query = query
  }
}

/** The app that a request from the network would enter. */
export function rootOf({ app }: ExpressRequest): App {
  let root = app
  while (root.parent !== undefined) root = root.parent
  return root
}

function withoutSlash(url: string): string {
  return url.replace(/\/(?=\?|$)/, '')
}
