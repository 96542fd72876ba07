/** The parts of Express' router that identify a route; they are the same in Express 4 and 5. */
export interface Route {
  readonly path: unknown
  readonly stack?: readonly Layer[] | undefined
}
interface Router {
  readonly stack?: readonly Layer[] | undefined
  readonly caseSensitive?: boolean | undefined
}
interface Layer {
  readonly route?: Route | undefined
  readonly handle?: Router | undefined
  /** The declared path, in Express 5 since router 2.3. */
  readonly rawPath?: unknown
  /** The declared path, in Express 4. */
  readonly regexp?: RegExp | undefined
}

/** The parts of an app that lead to its routes. */
export interface RoutingApp {
  readonly mountpath: unknown
  /** The app that this one is mounted in. */
  readonly parent?: RoutingApp | undefined
}

/** True if a route declares this middleware. `req.route` does not tell: it stays when a route has called `next()`. */
export function declares({ stack = [] }: Route, middleware: unknown): boolean {
  for (const { handle } of stack) if (handle === middleware) return true
  return false
}

interface RoutePosition {
  /** The number of earlier routes of the same path. */
  readonly ordinal: number
  /** The names of its layers, one for each depth. */
  readonly layers: string[]
  /** The declared mount points of its routers, where they are plain text. */
  readonly mounts: readonly string[]
}

const positions = new WeakMap<Route, RoutePosition>()

/** A path without patterns: only the case of such mount points can be compared. */
const PLAIN_MOUNT = /^(?:\/[\w.~-]+)*$/
/** The form of a mount point in Express 4. */
const MOUNT_REGEXP = /^\^(.*)\\\/\?\(\?=\\\/\|\$\)$/

/**
 * Names the layer of a route, for a request that has passed `depth` layers before. Three kinds of places of one app may answer one URL: nested layers, routes
 * whose patterns differ, and routes of one pattern that call `next()`. The name is the same in every process that declares the same routes.
 */
export function layerOf(route: Route, app: RoutingApp, depth: number): string {
  const { ordinal, layers } = positions.get(route) ?? locate(route, app)
  return (layers[depth] ??= [depth, String(route.path), ordinal].join(' '))
}

/** The mount point of a request as the app declares it, where Express ignores its case; otherwise as requested, because a parameter in it may count. */
export function declaredMount(route: Route, app: RoutingApp, requested: string): string {
  if (requested === '') return ''
  const { mounts } = positions.get(route) ?? locate(route, app)
  if (mounts.includes(requested)) return requested
  const folded = requested.toLowerCase()
  return mounts.find((mount) => mount.toLowerCase() === folded) ?? requested
}

function locate(route: Route, app: RoutingApp): RoutePosition {
  const path = String(route.path)
  // Express 4 throws when `router` is read.
  const router = (Reflect.get(app, '_router') ?? Reflect.get(app, 'router')) as Router | undefined
  const routes = routesOf(router, mountOfApp(app))
  const routesOfPath = routes.map((mounted) => mounted.route).filter((other) => String(other.path) === path)
  const mounts = routes.flatMap(({ route: one, mount }) => (one === route && mount !== undefined ? [mount] : []))
  const position = { ordinal: Math.max(0, routesOfPath.indexOf(route)), layers: [], mounts }
  positions.set(route, position)
  return position
}

/** A route, and the mount point of its router; undefined where that is no plain text, or its case counts. */
interface MountedRoute {
  readonly route: Route
  readonly mount: string | undefined
}

/** The routes in the order in which Express matches them. */
function routesOf({ stack = [], caseSensitive }: Router = {}, mount: string | undefined): readonly MountedRoute[] {
  return stack.flatMap((layer) => {
    const { route, handle } = layer
    if (route !== undefined) return [{ route, mount }]
    return routesOf(handle, caseSensitive === true ? undefined : joined(mount, declaredPath(layer)))
  })
}

function mountOfApp({ parent, mountpath }: RoutingApp): string | undefined {
  return parent === undefined ? '' : joined(mountOfApp(parent), mountpath)
}

function joined(mount: string | undefined, path: unknown): string | undefined {
  if (mount === undefined || typeof path !== 'string') return undefined
  const plain = path.replace(/\/$/, '')
  return PLAIN_MOUNT.test(plain) ? mount + plain : undefined
}

function declaredPath({ rawPath, regexp }: Layer): unknown {
  return rawPath ?? (regexp && MOUNT_REGEXP.exec(regexp.source)?.[1]?.replaceAll(/\\(.)/g, '$1'))
}
