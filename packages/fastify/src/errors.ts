/** A route with `config.cache` was declared before the plugin was registered: Fastify shows a plugin only the routes that come after it. */
export class RouteBeforePluginError extends Error {
  readonly code = 'CATTLEGRID_ROUTE_BEFORE_PLUGIN'

  constructor(routes: readonly string[]) {
    super(
      `Declared before @cattlegrid/fastify was registered, and so not cached: ${routes.join(', ')}. ` +
        'Await app.register(cattlegrid, …) before you declare them, or declare them in a plugin that you register after it.',
    )
    this.name = 'RouteBeforePluginError'
    // As every error of the library: `isCattlegridError` knows it by this, in whichever copy of it.
    Object.defineProperty(this, Symbol.for('cattlegrid.error'), { value: true })
  }
}
