import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Matched, Reshape } from '@cattlegrid/http'

/** The parts of an Express app that the adapter reads; they are the same in Express 4 and 5. */
interface App {
  (req: IncomingMessage, res: ServerResponse): void
  get(setting: 'trust proxy fn'): (address: string | undefined, hops: number) => boolean
  enabled(setting: 'case sensitive routing' | 'strict routing'): boolean
  /** The app that this one is mounted in. */
  readonly parent?: App | undefined
}

/** Node's request with what Express adds by its prototype. */
export interface ExpressRequest extends IncomingMessage {
  readonly app: App
  readonly protocol: string
  readonly baseUrl: string
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly route?: { readonly path: unknown } | undefined
  originalUrl: string
  query: unknown
}

/** The host as `req.host` of Express 5 has it; Express 4 drops the port. */
export function hostOf({ app, headers, socket }: ExpressRequest): string {
  const forwarded = headers['x-forwarded-host']
  const trusted = forwarded !== undefined && app.get('trust proxy fn')(socket.remoteAddress, 0)
  return (trusted ? String(forwarded).split(',')[0]?.trim() : headers.host) ?? ''
}

/** The whole URL as the handler sees it. */
export function routedOf({ baseUrl, originalUrl, url = '' }: ExpressRequest): string {
  const whole = baseUrl + url
  if (whole === originalUrl) return whole
  // Express adds a slash to a mount point that is requested without one; that is no rewriting.
  return withoutSlash(whole) === withoutSlash(originalUrl) ? originalUrl : whole
}

export function matchedBy({ app, route, baseUrl, params }: ExpressRequest): Matched | undefined {
  if (route === undefined || typeof route.path !== 'string') return undefined
  if (app.enabled('case sensitive routing') || app.enabled('strict routing')) return undefined
  return { pattern: route.path, base: baseUrl, params: params ?? {} }
}

/** Rewrites the URL wherever Express shows it. Returns a function that restores it, or undefined if the URL cannot be rewritten. */
export function reshaped(req: ExpressRequest, { url, keeps }: Reshape): (() => void) | undefined {
  const { url: seen = '', originalUrl } = req
  // Inside a mount point Express has cut its path off an absolute target: no whole URL is left to rewrite.
  if (!originalUrl.startsWith('/') && req.baseUrl !== '') return undefined
  req.url = url(seen)
  req.originalUrl = url(originalUrl)
  const query = Object.getOwnPropertyDescriptor(req, 'query')?.value as object | undefined
  if (query !== undefined && keeps !== undefined)
    req.query = Object.fromEntries(Object.entries(query).filter(([name]) => keeps(name)))
  return () => {
    // A request that has left its mount point meanwhile has another URL.
    if (req.url === url(seen)) req.url = seen
    req.originalUrl = originalUrl
    if (query !== undefined) req.query = query
  }
}

/** The outermost app, which receives the requests from the network. */
export function rootOf({ app }: ExpressRequest): App {
  let root = app
  while (root.parent !== undefined) root = root.parent
  return root
}

function withoutSlash(url: string): string {
  return url.replace(/\/(?=\?|$)/, '')
}
