/** The parts of Express' router that identify a route; they are the same in Express 4 and 5. */
export interface Route {
  readonly path: unknown
  /** The methods of the route, in lower case; `_all` for every one. */
  readonly methods?: Readonly<Record<string, boolean>> | undefined
  readonly stack?: readonly Layer[] | undefined
}
interface Router {
  readonly stack?: readonly Layer[] | undefined
  readonly caseSensitive?: boolean | undefined
}
export interface Layer {
  readonly route?: Route | undefined
  readonly handle?: Router | undefined
  /** The name of the middleware when the layer was declared. */
  readonly name?: string | undefined
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

/**
 * A layer of an app, and the mount point at which it runs; undefined where that is no plain text. A route's
 * mount point is that of its router.
 */
export interface MountedLayer {
  readonly layer: Layer
  readonly mount: string | undefined
  /** True if the case of the mount point counts. */
  readonly caseSensitive: boolean
}

interface RoutePosition {
  /** `2 /path`: the number of earlier routes with this path, then the path. */
  readonly name: string
  /** The declared mount points of its routers, where they are plain text and their case does not count. */
  readonly mounts: readonly string[]
}

const positions = new WeakMap<Route, RoutePosition>()

/** A path without patterns: only the case of such mount points can be compared. */
const PLAIN_MOUNT = /^(?:\/[\w.~-]+)*$/
/** The form of a mount point in Express 4. */
const MOUNT_REGEXP = /^\^(.*)\\\/\?\(\?=\\\/\|\$\)$/

/**
 * Distinguishes the routes of one app. The name is the same in every process that declares the same routes.
 */
export function routeName(route: Route, app: RoutingApp): string {
  return positionOf(route, app).name
}

/**
 * The mount point of a request as the app declares it, where Express ignores its case; otherwise as
 * requested, because a parameter in it may count.
 */
export function declaredMount(route: Route, app: RoutingApp, requested: string): string {
  if (requested === '') return ''
  const { mounts } = positionOf(route, app)
  if (mounts.includes(requested)) return requested
  const folded = requested.toLowerCase()
  return mounts.find((mount) => mount.toLowerCase() === folded) ?? requested
}

/**
 * The path of a route after its mount point, as the app declares them; a mount point that is no plain text,
 * or whose case counts, is `/*`: requests set no bound to it.
 */
export function routePattern(route: Route, app: RoutingApp, requested: string): string {
  const { mounts } = positionOf(route, app)
  const mount = declaredMount(route, app, requested)
  return (mount === '' || mounts.includes(mount) ? mount : '/*') + String(route.path)
}

/**
 * The layers of an app and of its routers in the order in which Express matches them, without those of the
 * apps that are mounted in it.
 */
export function layersOf(app: RoutingApp): readonly MountedLayer[] {
  return layersOfRouter(routerOf(app), mountOfApp(app), false)
}

/** The layers that the app itself has, without those of its routers. */
export function stackOf(app: RoutingApp): readonly Layer[] {
  return routerOf(app)?.stack ?? []
}

function routerOf(app: RoutingApp): Router | undefined {
  // Express 4 throws when `router` is read.
  return (Reflect.get(app, '_router') ?? Reflect.get(app, 'router')) as Router | undefined
}

function positionOf(route: Route, app: RoutingApp): RoutePosition {
  const known = positions.get(route)
  if (known !== undefined) return known
  const path = String(route.path)
  const routes = layersOf(app).filter(({ layer }) => layer.route !== undefined)
  const ofPath = routes.filter(({ layer }) => String(layer.route?.path) === path)
  const ordinal = Math.max(
    0,
    ofPath.findIndex(({ layer }) => layer.route === route),
  )
  const mounts = routes.flatMap(({ layer, mount, caseSensitive }) =>
    layer.route === route && mount !== undefined && !caseSensitive ? [mount] : [],
  )
  const position = { name: `${ordinal} ${path}`, mounts }
  positions.set(route, position)
  return position
}

function layersOfRouter(
  { stack = [], caseSensitive = false }: Router = {},
  mount: string | undefined,
  outerCaseSensitive: boolean,
): readonly MountedLayer[] {
  return stack.flatMap((layer) => {
    if (layer.route !== undefined) return [{ layer, mount, caseSensitive: outerCaseSensitive }]
    const own = { mount: joined(mount, declaredPath(layer)), caseSensitive: outerCaseSensitive || caseSensitive }
    return [{ layer, ...own }, ...layersOfRouter(layer.handle, own.mount, own.caseSensitive)]
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
