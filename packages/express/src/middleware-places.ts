import { processWide } from '@cattlegrid/core/extend'
import { type Layer, type MountedLayer, layersOf, type Route, routeName, type RoutingApp } from './layer.ts'

/** The parts of a request that show in which layer of its app a middleware runs. */
export interface PlacedRequest {
  readonly app: RoutingApp
  readonly route?: Route | undefined
  readonly baseUrl: string
}

/** The layers of one app that `use` the middleware. */
interface AppLayers {
  /** `#reads` when they were looked up: later layers may follow. */
  readonly reads: number
  readonly layers: readonly (MountedLayer & { readonly place: string })[]
}

const NAME = 'cached'
const OURS = new RegExp(`^${NAME} \\d+\\.\\d+$`)

/** True for a layer of a `cached()`, of whichever copy of this package. */
export function isCachedLayer({ name = '' }: Layer): boolean {
  return OURS.test(name)
}

/**
 * The number of middlewares that all copies of this package have made: the names that Express keeps
 * must differ.
 */
const middlewares = processWide('middlewares/1', () => ({ count: 0 }))

/**
 * The places of one middleware in Express apps. Express passes a middleware nothing that tells which layer
 * calls it, but reads the middleware's `name` when it makes a layer, and keeps that. So each reading returns
 * a new name, numbered by reading: the same in every process that runs the same code. If only one process
 * reads the name in its own code, its keys differ.
 */
export class MiddlewarePlaces {
  readonly #declaration: number
  readonly #prefix: string
  #reads = 0
  readonly #ofRoutes = new WeakMap<Route, string>()
  readonly #ofApps = new WeakMap<RoutingApp, AppLayers>()

  /**
   * `declaration`: distinguishes the middleware from others; a middleware that user code calls itself has
   * one place.
   */
  constructor(middleware: Function, declaration: number) {
    middlewares.count += 1
    this.#prefix = `${NAME} ${middlewares.count}.`
    this.#declaration = declaration
    Object.defineProperty(middleware, 'name', {
      configurable: true,
      get: () => this.#prefix + String((this.#reads += 1)),
    })
  }

  /**
   * True if the route declares the middleware. `req.route` does not tell: it stays when a route has
   * called `next()`.
   */
  declaredBy(route: Route): boolean {
    return this.#placeIn(route) !== undefined
  }

  /** Names the place of a request; undefined where several layers of its mount point use the middleware. */
  placeOf(req: PlacedRequest): string | undefined {
    const { route } = req
    if (route === undefined) return this.#placeInApp(req.app, req.baseUrl)
    const known = this.#ofRoutes.get(route)
    if (known !== undefined) return known
    const declared = this.#placeIn(route)
    const place = declared ?? this.#placeInApp(req.app, req.baseUrl)
    if (place === undefined) return undefined
    // A route may call the middleware in its function.
    const named = `${place} ${routeName(route, req.app)}`
    if (declared !== undefined) this.#ofRoutes.set(route, named)
    return named
  }

  #placeIn({ stack = [] }: Route): string | undefined {
    for (const { name = '' } of stack) if (name.startsWith(this.#prefix)) return this.#place(name)
    return undefined
  }

  #placeInApp(app: RoutingApp, baseUrl: string): string | undefined {
    let known = this.#ofApps.get(app)
    if (known?.reads !== this.#reads) {
      known = { reads: this.#reads, layers: this.#layersIn(app) }
      this.#ofApps.set(app, known)
    }
    const { layers } = known
    if (layers.length < 2) return layers[0]?.place ?? String(this.#declaration)
    const folded = baseUrl.toLowerCase()
    const here = layers.filter(({ mount }) => mount === undefined || mount.toLowerCase() === folded)
    return new Set(here.map(({ place }) => place)).size === 1 ? here[0]?.place : undefined
  }

  #layersIn(app: RoutingApp): AppLayers['layers'] {
    const layers = layersOf(app).filter(({ layer: { name = '' } }) => name.startsWith(this.#prefix))
    return layers.map((mounted) => ({ ...mounted, place: this.#place(mounted.layer.name ?? '') }))
  }

  #place(name: string): string {
    return `${this.#declaration}.${name.slice(this.#prefix.length)}`
  }
}
