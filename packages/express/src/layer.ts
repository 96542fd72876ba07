import type { IncomingMessage } from 'node:http'

/** The parts of Express' router that tell where a request is, the same in 4 and 5. */
interface Route {
  readonly path: unknown
}
interface Layer {
  readonly route?: Route | undefined
  readonly handle?: { readonly stack?: readonly Layer[] | undefined } | undefined
}
interface Located extends IncomingMessage {
  readonly route?: Route | undefined
  readonly app: object
}
interface Router {
  readonly stack?: readonly Layer[] | undefined
}

/**
 * How many of our layers a request has passed: the outer ones and the inner ones of one URL have entries of their own. Not on the request
 * itself: after what Express did to its prototype, a property costs more than a look into a map.
 */
const depths = new WeakMap<IncomingMessage, number>()

/** How many routes of the same path its app declares before a route, and what is made of that for each depth. */
const places = new WeakMap<Route, { readonly ordinal: number; readonly layers: string[] }>()

/**
 * Tells apart the places of one app that may answer one URL: layers inside each other; routes whose patterns differ; routes of one pattern,
 * of which one gives way to the next, as for who may not enter. The same in every process that declares the same routes.
 */
export function layerOf(req: IncomingMessage): string {
  const { route, app } = req as Located
  const depth = depths.get(req) ?? 0
  if (route === undefined) return depth === 0 ? '' : `${depth}  0`
  const { ordinal, layers } = places.get(route) ?? locate(route, app)
  return (layers[depth] ??= [depth, String(route.path), ordinal].join(' '))
}

/** The request goes on to what lies inside. */
export function passLayer(req: IncomingMessage): void {
  depths.set(req, (depths.get(req) ?? 0) + 1)
}

function locate(route: Route, app: object): { readonly ordinal: number; readonly layers: string[] } {
  const path = String(route.path)
  // Express 4 refuses to be asked for `router`.
  const router = (Reflect.get(app, '_router') ?? Reflect.get(app, 'router')) as Router | undefined
  const same = routesOf(router?.stack ?? []).filter((one) => String(one.path) === path)
  const place = { ordinal: Math.max(0, same.indexOf(route)), layers: [] }
  places.set(route, place)
  return place
}

/** In the order in which they are asked. */
function routesOf(stack: readonly Layer[]): readonly Route[] {
  return stack.flatMap(({ route, handle }) => (route === undefined ? routesOf(handle?.stack ?? []) : [route]))
}
