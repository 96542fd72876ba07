/** The parts of Express' router that identify a route; they are the same in Express 4 and 5. */
export interface Route {
  readonly path: unknown
  readonly stack?: readonly Layer[] | undefined
}
interface Router {
  readonly stack?: readonly Layer[] | undefined
}
interface Layer {
  readonly route?: Route | undefined
  readonly handle?: Router | undefined
}

/** Whether a route declares this middleware. `req.route` does not tell: it stays when a route has called `next()`. */
export function declares({ stack = [] }: Route, middleware: unknown): boolean {
  for (const { handle } of stack) if (handle === middleware) return true
  return false
}

/** By route: how many routes of the same path its app declares before it, and the layer names made of that, one for each depth. */
const places = new WeakMap<Route, { readonly ordinal: number; readonly layers: string[] }>()

/**
 * Names the layer of a route, for a request that has passed `depth` layers before. Three kinds of places of one app may answer one URL: nested layers, routes
 * whose patterns differ, and routes of one pattern that call `next()`. The name is the same in every process that declares the same routes.
 */
export function layerOf(route: Route, app: object, depth: number): string {
  const { ordinal, layers } = places.get(route) ?? locate(route, app)
  return (layers[depth] ??= [depth, String(route.path), ordinal].join(' '))
}

function locate(route: Route, app: object): { readonly ordinal: number; readonly layers: string[] } {
  const path = String(route.path)
  // Express 4 throws when `router` is read.
  const router = (Reflect.get(app, '_router') ?? Reflect.get(app, 'router')) as Router | undefined
  const same = routesOf(router).filter((one) => String(one.path) === path)
  const place = { ordinal: Math.max(0, same.indexOf(route)), layers: [] }
  places.set(route, place)
  return place
}

/** The routes in the order in which Express matches them. */
function routesOf({ stack = [] }: Router = {}): readonly Route[] {
  return stack.flatMap(({ route, handle }) => (route === undefined ? routesOf(handle) : [route]))
}
