/** Recognised by `isCattlegridError` across package copies, as every error of the library. */
const BRAND = Symbol.for('cattlegrid.error')

/**
 * A route with `config.cache` was declared before the plugin was registered: Fastify shows a plugin only the
 * routes that come after it.
 */
export class RouteBeforePluginError extends Error {
  readonly code = 'CATTLEGRID_ROUTE_BEFORE_PLUGIN'

  constructor(routes: readonly string[]) {
    super(
      `Declared before @cattlegrid/fastify was registered, and so not cached: ${routes.join(', ')}. ` +
        'Await app.register(cattlegrid, …) before you declare them, or declare them in a plugin that you register after it. ' +
        'If you register it inside another plugin, wrap that one in fastify-plugin.',
    )
    this.name = 'RouteBeforePluginError'
    Object.defineProperty(this, BRAND, { value: true })
  }
}

/**
 * This version of Fastify does not give the cache a place before the `onSend` hooks of others: what these
 * make for one client would be stored for all.
 */
export class UnsupportedFastifyError extends Error {
  readonly code = 'CATTLEGRID_UNSUPPORTED_FASTIFY'

  constructor(missing: string) {
    super(
      `This version of Fastify has no ${missing}, without which @cattlegrid/fastify cannot tell the responses of handlers from what hooks make of them. ` +
        'Update @cattlegrid/fastify, or use the newest Fastify 5 that it names as tested.',
    )
    this.name = 'UnsupportedFastifyError'
    Object.defineProperty(this, BRAND, { value: true })
  }
}
