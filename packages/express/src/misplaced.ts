import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { processWide } from '@cattlegrid/core/extend'
import { type Layer, layersOf, type Route, routePattern, type RoutingApp, stackOf } from './layer.ts'
import { isCachedLayer } from './middleware-places.ts'

/** What Node publishes when a server gets a request, before the app does. */
interface RequestStart {
  readonly request: IncomingMessage & { readonly route?: Route | undefined }
  readonly response: ServerResponse
  readonly server: { listeners(event: 'request'): readonly unknown[] }
}

const REQUESTS = 'http.server.request.start'

/** Told once, by whichever copy of this package. */
const told = processWide('misplaced/1', () => new WeakSet<object>())
/**
 * Routes whose last handler is a `cached()`, of any copy: nothing is wrong if the one before it passes the
 * request on.
 */
const suspects = processWide('suspects/1', () => new Map<Route, RoutingApp>())
/** The servers whose apps were looked at, at their first request. */
const servers = new WeakSet<object>()
let isWatching = false

/**
 * Looks at the layers of an app when its first request comes: a `cached()` that no request reaches could not
 * tell by itself.
 */
export function watchPlaces(): void {
  if (isWatching) return
  isWatching = true
  subscribe(REQUESTS, onRequest)
}

/** A `cached()` of the route was reached. */
export function noteReached(route: Route): void {
  suspects.delete(route)
}

/** Warns once of a `cached({ ttl })` on a route of writes, whose responses are never stored. */
export function warnOfMethod(route: Route, { method = '' }: IncomingMessage): void {
  const { methods = {} } = route
  if (['get', 'head', '_all'].some((name) => methods[name] === true)) return
  tell(
    route,
    'CATTLEGRID_UNCACHED_METHOD',
    `cached({ ttl }) stands on ${method} ${String(route.path)}, whose responses are never cached: only those to GET are. ` +
      'A write invalidates what it changes: call cache.invalidateTags() in its handler, or give it cached({ invalidateOnUnsafe: true }).',
  )
}

function onRequest(message: unknown): void {
  const { request, response, server } = message as RequestStart
  if (!servers.has(server)) {
    servers.add(server)
    if (server.listeners('request').filter(isApp).some(lookAt)) isWatching = false
  }
  if (suspects.size > 0) response.once('finish', () => judge(request, response))
  else if (!isWatching) unsubscribe(REQUESTS, onRequest)
}

function isApp(listener: unknown): listener is RoutingApp {
  return typeof listener === 'function' && 'mountpath' in listener
}

/** True if the app has a `cached()`. */
function lookAt(app: RoutingApp): boolean {
  const layers = layersOf(app).map(({ layer }) => layer)
  for (const { route } of layers) if (route !== undefined && endsWithCached(route)) suspects.set(route, app)
  const stack = stackOf(app)
  const behind = stack.findLast((layer) => !isErrorHandler(layer))
  if (behind !== undefined && isCachedLayer(behind) && stack.some(({ route }) => route !== undefined))
    tell(
      behind,
      'CATTLEGRID_BEHIND_HANDLER',
      'app.use(cached()) stands behind all routes of the app, so none of their responses is cached: put it before the routes.',
    )
  return layers.some((layer) => isCachedLayer(layer) || layer.route?.stack?.some(isCachedLayer) === true)
}

function endsWithCached({ stack = [] }: Route): boolean {
  const last = stack.at(-1)
  return last !== undefined && isCachedLayer(last) && !stack.every(isCachedLayer)
}

function isErrorHandler({ handle }: Layer): boolean {
  return typeof handle === 'function' && (handle as Function).length === 4
}

/** The handler before a `cached()` has answered: it passes nothing on. */
function judge({ method, route }: RequestStart['request'], { statusCode }: ServerResponse): void {
  const app = route && suspects.get(route)
  if (route === undefined || app === undefined || method !== 'GET' || statusCode < 200 || statusCode > 299) return
  suspects.delete(route)
  tell(
    route,
    'CATTLEGRID_BEHIND_HANDLER',
    `cached() of ${routePattern(route, app, '')} stands behind the handler that answers, so nothing is cached: put it before, app.get(path, cached({ ttl }), handler).`,
  )
}

/** Warns once of each misplaced object. */
export function tell(misplaced: object, code: string, message: string): void {
  if (told.has(misplaced)) return
  told.add(misplaced)
  process.emitWarning(message, { type: 'CattlegridWarning', code })
}
